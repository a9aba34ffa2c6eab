package rummyarena

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	v1 "rummyarena/v1"
)

var firstCandidate = BotFunc(func(decision *Decision) ([]*v1.Move, error) { return decision.Candidates()[:1], nil })

var oneQuestion = []*v1.PlayResponse{hears, welcome, news(asks("a", "1"), asks("b", "1")), hears, news(ends("a"))}

func TestABotSaysHelloAndAnswersInOneMessage(t *testing.T) {
	listener, referee := listen(t), &referee{transcripts: []transcript{{lines: oneQuestion}}}
	serve(t, listener, referee)
	settings := settingsFor(listener)
	settings.BotVersion, settings.MaxConcurrentGames, settings.CandidateLimit = "3", 2, 5

	if err := Run(t.Context(), settings, firstCandidate); err != nil {
		t.Fatal(err)
	}

	wanted := []*v1.PlayRequest{
		{Hello: &v1.Hello{
			SdkName: "go", SdkVersion: Version, BotVersion: "3", MaxConcurrentGames: 2, CandidateLimit: 5,
			Wants: v1.Wants_WANTS_VIEW,
		}},
		{Answers: []*v1.Answer{
			{GameId: "a", DecisionId: "1", Moves: []*v1.Move{draw}},
			{GameId: "b", DecisionId: "1", Moves: []*v1.Move{draw}},
		}},
	}
	if len(referee.heard) != len(wanted) {
		t.Fatalf("the referee heard %v", referee.heard)
	}
	for at, request := range wanted {
		if !proto.Equal(referee.heard[at], request) {
			t.Errorf("message %d is %v, not %v", at, referee.heard[at], request)
		}
	}
}

func TestTheErrorOfABotIsPassedOnWhateverItIs(t *testing.T) {
	for _, failure := range []error{errors.New("lost"), io.EOF, status.Error(codes.Unavailable, "of the bot itself")} {
		listener, referee := listen(t), &referee{transcripts: []transcript{{lines: oneQuestion}}}
		serve(t, listener, referee)
		settings := settingsFor(listener)
		settings.Patience = time.Hour

		err := Run(t.Context(), settings, BotFunc(func(*Decision) ([]*v1.Move, error) { return nil, failure }))

		if !errors.Is(err, failure) || !strings.Contains(err.Error(), "the bot failed in game a: ") {
			t.Errorf("Run returned %v", err)
		}
	}
}

func TestABotThatDrainsPlaysItsGamesToTheEnd(t *testing.T) {
	listener, referee := listen(t), &referee{transcripts: []transcript{{lines: []*v1.PlayResponse{
		hears, welcome, news(asks("a", "1")), hears, hears, news(asks("a", "2")), hears, news(ends("a")),
	}}}}
	serve(t, listener, referee)
	settings, drain := settingsFor(listener), make(chan struct{})
	settings.Drain = drain

	err := Run(t.Context(), settings, BotFunc(func(decision *Decision) ([]*v1.Move, error) {
		if decision.Message.GetDecisionId() == "1" {
			close(drain)
		}
		return decision.Candidates(), nil
	}))

	drains := 0
	for _, request := range referee.heard {
		if request.GetDrain() != nil {
			drains++
		}
	}
	if err != nil || drains != 1 || len(referee.heard) != 4 {
		t.Errorf("Run returned %v; the referee heard %v", err, referee.heard)
	}
}

func TestABotThatDrainsAndHasNoGamesWaitsForNoServer(t *testing.T) {
	listener := listen(t)
	listener.Close()
	settings, drain := settingsFor(listener), make(chan struct{})
	settings.Patience, settings.Drain = time.Hour, drain
	close(drain)
	if err := Run(t.Context(), settings, firstCandidate); err != nil {
		t.Errorf("Run returned %v", err)
	}
}

// --- retrying

// afterWarnings returns a logger that sends to a channel for every warning.
func afterWarnings(warned chan<- struct{}) *slog.Logger {
	return slog.New(slog.NewTextHandler(notifier(warned), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type notifier chan<- struct{}

func (n notifier) Write(line []byte) (int, error) {
	select {
	case n <- struct{}{}:
	default: // nobody counts them
	}
	return len(line), nil
}

func TestAServerThatComesUpLateIsWaitedFor(t *testing.T) {
	listener, referee := listen(t), &referee{transcripts: []transcript{{lines: oneQuestion}}}
	listener.Close() // the port is free again
	warned := make(chan struct{}, 1)
	settings := settingsFor(listener)
	settings.Patience, settings.Logger = time.Hour, afterWarnings(warned)
	played := make(chan error, 1)
	go func() { played <- Run(t.Context(), settings, firstCandidate) }()

	<-warned
	again, err := net.Listen("tcp", settings.Address)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, again, referee)

	if err := <-played; err != nil || len(referee.heard) != 2 {
		t.Errorf("Run returned %v; the referee heard %v", err, referee.heard)
	}
}

func TestAfterALostStreamTheGamesGoOn(t *testing.T) {
	first := begins(asks("a", "1"))
	first.Events = []*v1.Event{turnStarted(4)}
	again := asks("a", "1")
	again.Events = []*v1.Event{turnStarted(5)}
	welcomeBack := &v1.PlayResponse{Welcome: &v1.Welcome{GoneGameIds: []string{"b"}}}
	lost := transcript{
		[]*v1.PlayResponse{hears, welcome, news(first, begins(asks("b", "1"))), hears},
		status.Error(codes.Unavailable, "stopping"),
	}
	found := transcript{lines: []*v1.PlayResponse{hears, welcomeBack, news(again), hears, news(ends("a"))}}
	listener, referee := listen(t), &referee{transcripts: []transcript{lost, found}}
	serve(t, listener, referee)
	settings := settingsFor(listener)
	settings.Patience = time.Hour
	bot := &diary{}

	if err := Run(t.Context(), settings, bot); err != nil {
		t.Fatal(err)
	}

	expect(t, "told", strings.Join(bot.lines, ", "), "a starts, a sees 4, b starts, a asks 1, b asks 1, "+
		"b is gone, a sees 5, a asks 1, a is over")
	wanted := []*v1.Resume{{GameId: "a", LastSequence: 4}, {GameId: "b"}}
	if got := referee.heard[2].GetHello().GetResumes(); !slices.EqualFunc(got, wanted, equal) {
		t.Errorf("the bot resumes %v", got)
	}
}

func equal(one, other *v1.Resume) bool { return proto.Equal(one, other) }

func TestNothingElseIsTriedAgain(t *testing.T) {
	for code, sentence := range map[codes.Code]string{
		codes.Aborted:            "another stream with this token has replaced this one",
		codes.FailedPrecondition: "upgrade the older of server (version 9.9.9) and SDK (version " + Version + ")",
		codes.InvalidArgument:    "could not read a message",
		codes.PermissionDenied:   "does not let this copy of the bot play",
		codes.ResourceExhausted:  "was sent too much",
		codes.Internal:           "ended the stream",
	} {
		t.Run(code.String(), func(t *testing.T) {
			said := transcript{[]*v1.PlayResponse{hears, welcome}, status.Error(code, "the reason")}
			listener, referee := listen(t), &referee{transcripts: []transcript{said}}
			serve(t, listener, referee)
			settings := settingsFor(listener)
			settings.Patience = time.Hour

			err := Run(t.Context(), settings, firstCandidate)

			if status.Code(err) != code || !strings.Contains(err.Error(), sentence) || referee.streams != 1 {
				t.Errorf("Run returned %v after %d streams", err, referee.streams)
			}
			if !strings.Contains(err.Error(), "the reason") {
				t.Errorf("the server's words are missing: %v", err)
			}
		})
	}
}

// --- what can be wrong

func failsWith(t *testing.T, settings *Settings, sentence string) {
	t.Helper()
	if err := Run(t.Context(), settings, firstCandidate); err == nil || !strings.Contains(err.Error(), sentence) {
		t.Errorf("Run returned %v, without %q", err, sentence)
	}
}

func TestNobodyListens(t *testing.T) {
	listener := listen(t)
	listener.Close()
	failsWith(t, settingsFor(listener), "nobody answers at "+listener.Addr().String()+": start the server first")
}

func TestAServerThatWasThereHasStopped(t *testing.T) {
	listener := listen(t)
	lost := transcript{[]*v1.PlayResponse{hears, welcome}, status.Error(codes.Unavailable, "stopping")}
	serve(t, listener, &referee{transcripts: []transcript{lost}})
	failsWith(t, settingsFor(listener), "has stopped, or the connection was lost")
}

func TestAWrongToken(t *testing.T) {
	listener := listen(t)
	serve(t, listener, &referee{transcripts: []transcript{{}}})
	settings := settingsFor(listener)
	settings.Token = "wrong"
	failsWith(t, settings, "does not know this token: pass the one")
}

func TestAnotherProgramListens(t *testing.T) {
	listener := listen(t)
	serve(t, listener, nil)
	failsWith(t, settingsFor(listener), "does not offer rummyarena.v1.PlayService")
}

func TestAMessageThatCannotBeSent(t *testing.T) {
	listener := listen(t)
	serve(t, listener, &referee{transcripts: []transcript{{lines: oneQuestion}}})
	settings := settingsFor(listener)
	settings.BotVersion = "\xff"
	failsWith(t, settings, "invalid UTF-8")
}

func TestRunEndsWithItsContext(t *testing.T) {
	listener, referee := listen(t), &referee{transcripts: []transcript{{lines: append(oneQuestion, hears)}}}
	serve(t, listener, referee)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")

	err := Run(ctx, settingsFor(listener), BotFunc(func(decision *Decision) ([]*v1.Move, error) {
		cancel(enough)
		return decision.Candidates(), nil
	}))

	if !errors.Is(err, enough) {
		t.Errorf("Run returned %v", err)
	}
}

func TestAContextThatIsDoneEndsTheWaitForAServer(t *testing.T) {
	listener := listen(t)
	listener.Close()
	warned := make(chan struct{}, 1)
	settings := settingsFor(listener)
	settings.Patience, settings.Logger = time.Hour, afterWarnings(warned)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-warned; cancel() }()

	if err := Run(ctx, settings, firstCandidate); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
}
