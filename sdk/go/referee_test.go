package rummyarena

import (
	"log/slog"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	v1 "rummyarena/v1"
)

const token = "secret"

// hears, in a transcript, has the referee wait for the bot's next message.
var hears *v1.PlayResponse

// transcript is what the referee says on one stream, and with what error it ends the stream.
type transcript struct {
	lines []*v1.PlayResponse
	end   error
}

// referee is a fake: a real gRPC server on loopback that speaks one transcript a stream and notes what it hears.
type referee struct {
	v1.UnimplementedPlayServiceServer
	mutex       sync.Mutex
	transcripts []transcript
	heard       []*v1.PlayRequest
	streams     int
}

func (r *referee) Play(stream grpc.BidiStreamingServer[v1.PlayRequest, v1.PlayResponse]) error {
	script := r.nextTranscript()
	got, _ := metadata.FromIncomingContext(stream.Context())
	if values := got.Get("authorization"); len(values) != 1 || values[0] != "Bearer "+token {
		return status.Error(codes.Unauthenticated, "no such token")
	}
	for _, line := range script.lines {
		if line != hears {
			if err := stream.Send(line); err != nil {
				return err
			}
			continue
		}
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		r.note(request)
	}
	return script.end
}

func (r *referee) nextTranscript() transcript {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.streams++
	return r.transcripts[min(r.streams, len(r.transcripts))-1]
}

func (r *referee) note(request *v1.PlayRequest) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.heard = append(r.heard, request)
}

// listen takes a free port of loopback.
func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// serve serves until the end of the test; without a referee the server offers nothing.
func serve(t *testing.T, listener net.Listener, referee *referee) {
	t.Helper()
	server := grpc.NewServer()
	if referee != nil {
		v1.RegisterPlayServiceServer(server, referee)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
}

// settingsFor returns settings without patience.
func settingsFor(listener net.Listener) *Settings {
	settings := NewSettings()
	settings.Address = listener.Addr().String()
	settings.Token = token
	settings.Patience = 0
	settings.Logger = slog.New(slog.DiscardHandler)
	return settings
}

var welcome = &v1.PlayResponse{
	Welcome: &v1.Welcome{SessionId: "s", ServerVersion: "9.9.9", MaxConcurrentGames: 1},
}

var draw = &v1.Move{Kind: &v1.Move_Draw{Draw: &v1.Draw{}}}

func discard(card v1.Card) *v1.Move {
	return &v1.Move{Kind: &v1.Move_Discard{Discard: &v1.Discard{Card: card}}}
}

// asks is an update in which a seat is asked, with draw as the only candidate.
func asks(gameID, decisionID string) *v1.GameUpdate {
	return &v1.GameUpdate{
		GameId: gameID,
		View:   &v1.View{PublicPart: &v1.Public{Deal: 1}},
		Decision: &v1.Decision{
			DecisionId: decisionID, Candidates: []*v1.Move{draw}, Complete: true, RandomSeed: 7,
		},
	}
}

func begins(update *v1.GameUpdate) *v1.GameUpdate {
	update.Setup = &v1.GameSetup{Ruleset: "thai", RulesVersion: 1, Seats: 2, Seat: 1}
	return update
}

func ends(gameID string) *v1.GameUpdate {
	return &v1.GameUpdate{GameId: gameID, Over: &v1.GameOver{Ranks: []uint32{1, 2}}}
}

func refuses(gameID, decisionID string, index, attemptsLeft uint32, reason v1.ErrorReason) *v1.MoveRejected {
	return &v1.MoveRejected{
		GameId: gameID, DecisionId: decisionID, Index: index, AttemptsLeft: attemptsLeft,
		Rejection: &v1.Rejection{Reason: reason, Message: "because"},
	}
}

func news(updates ...*v1.GameUpdate) *v1.PlayResponse { return &v1.PlayResponse{Updates: updates} }

func refusal(rejections ...*v1.MoveRejected) *v1.PlayResponse {
	return &v1.PlayResponse{Rejections: rejections}
}
