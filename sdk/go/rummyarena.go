// Package rummyarena plays Thai Rummy and Liverpool Rummy in a Rummy Arena.
//
// A whole bot:
//
//	func main() {
//		settings := rummyarena.NewSettings()
//		if err := rummyarena.Run(context.Background(), settings, rummyarena.BotFunc(decide)); err != nil {
//			log.Fatal(err)
//		}
//	}
//
//	func decide(decision *rummyarena.Decision) ([]*v1.Move, error) {
//		return decision.Candidates()[:1], nil
//	}
//
// A bot is asked for a [Decision] and returns moves, which are messages of the contract (package rummyarena/v1).
package rummyarena

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	v1 "rummyarena/v1"
)

// Version is the version of the SDK.
const Version = "0.1.0"

const largestMessage = 64 << 20 // bytes; a message holds the news of all games of the stream

// Run plays with a bot until the server has no more games for it, or until settings.Drain is closed and its games are
// over; that alone returns nil.
//
// A server that is unavailable, from the start or after a lost connection, is tried again for settings.Patience. Other
// errors say what an author can do; those of the server keep their gRPC status ([status.Code]). Run returns the error
// of the bot, and the cause of ctx once that is done, which ends it at once.
func Run(ctx context.Context, settings *Settings, bot Bot) error {
	if err := settings.check(); err != nil {
		return err
	}
	session := newSession(bot, settings.logger())
	retry := backOff{patience: settings.Patience}
	for {
		isWelcome, err := playOnce(ctx, settings, session)
		if isWelcome {
			retry = backOff{patience: settings.Patience}
		}
		var ended *streamError
		if !errors.As(err, &ended) {
			return err
		}
		delay, goesOn := retry.next(time.Now())
		if ended.code() != codes.Unavailable || !goesOn {
			return ended.explain(settings.Address, session.serverVersion)
		}
		if settings.isDraining() && len(session.seats) == 0 {
			return nil
		}
		settings.logger().Warn("the server is unavailable; trying again", "address", settings.Address, "error", ended.err)
		if err := pause(ctx, delay); err != nil {
			return err
		}
	}
}

// playOnce plays on one stream to its end, and says whether the server greeted the bot on it.
func playOnce(ctx context.Context, settings *Settings, session *session) (isWelcome bool, err error) {
	connection, err := grpc.NewClient(settings.Address, dialOptions(settings)...)
	if err != nil {
		return false, fmt.Errorf("%q is not an address: %w", settings.Address, err)
	}
	defer connection.Close()
	call, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+settings.Token))
	defer cancel()
	stream, err := v1.NewPlayServiceClient(connection).Play(call)
	if err != nil {
		return false, streamEnded(ctx, err)
	}
	out := &outbox{stream: stream}
	out.send(&v1.PlayRequest{Hello: hello(settings, session)})
	go drainWhenAsked(call, settings.Drain, out)
	for {
		response, err := stream.Recv()
		if err != nil {
			return isWelcome, streamEnded(ctx, out.why(err))
		}
		isWelcome = isWelcome || response.GetWelcome() != nil
		if err := session.respond(response, out.send); err != nil {
			return isWelcome, err
		}
	}
}

// outbox sends messages one at a time, and keeps what was wrong with one that could not be sent.
type outbox struct {
	stream  grpc.BidiStreamingClient[v1.PlayRequest, v1.PlayResponse]
	mutex   sync.Mutex
	failure error
}

func (o *outbox) send(request *v1.PlayRequest) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	err := o.stream.Send(request)
	if !errors.Is(err, io.EOF) && o.failure == nil { // EOF: the stream is over, and Recv says why
		o.failure = err
	}
}

// why returns what ended the stream, given what Recv says.
func (o *outbox) why(err error) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.failure != nil {
		return o.failure
	}
	return err
}

func drainWhenAsked(ctx context.Context, drain <-chan struct{}, out *outbox) {
	select {
	case <-drain:
		out.send(&v1.PlayRequest{Drain: &v1.Drain{}})
	case <-ctx.Done():
	}
}

func hello(settings *Settings, session *session) *v1.Hello {
	return &v1.Hello{
		SdkName:            "go",
		SdkVersion:         Version,
		BotVersion:         settings.BotVersion,
		MaxConcurrentGames: settings.MaxConcurrentGames,
		CandidateLimit:     settings.CandidateLimit,
		Wants:              session.wants(),
		Resumes:            session.resumes(),
	}
}

func dialOptions(settings *Settings) []grpc.DialOption {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestMessage)),
		// Half-open connections are found within a minute; the server permits a ping every 30 s.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 30 * time.Second, Timeout: 20 * time.Second, PermitWithoutStream: true,
		}),
	}
	if settings.isLocal() { // a proxy named in the environment is for other hosts
		options = append(options, grpc.WithNoProxy())
	}
	return options
}

// streamError is a stream that ended with an error: of its own type, so that an error of the bot is never taken for it.
type streamError struct{ err error }

// streamEnded returns what the end of a stream means: nil if the server has no more games.
func streamEnded(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return &streamError{err}
	}
}

func (e *streamError) Error() string { return e.err.Error() }

func (e *streamError) code() codes.Code { return status.Code(e.err) }

// explain returns the error with a sentence that says what happened and what to do.
func (e *streamError) explain(address, serverVersion string) error {
	return fmt.Errorf("%s (%w)", e.advice(address, serverVersion), e.err)
}

func (e *streamError) advice(address, serverVersion string) string {
	if serverVersion == "" {
		serverVersion = "unknown"
	}
	upgrade := fmt.Sprintf("upgrade the older of server (version %s) and SDK (version %s)", serverVersion, Version)
	switch e.code() {
	case codes.Unauthenticated:
		return fmt.Sprintf("the server at %s does not know this token: "+
			"pass the one it gave to this bot by --token or %s", address, TokenVariable)
	case codes.Unimplemented:
		return fmt.Sprintf("the program at %s does not offer rummyarena.v1.PlayService: "+
			"it is no server of Rummy Arena, or %s", address, upgrade)
	case codes.FailedPrecondition:
		return fmt.Sprintf("the server at %s expected another message: %s", address, upgrade)
	case codes.InvalidArgument:
		return fmt.Sprintf("the server at %s could not read a message: %s", address, upgrade)
	case codes.ResourceExhausted:
		return fmt.Sprintf("the server at %s was sent too much, or the bot did not read what it was sent: "+
			"answer each decision once, with few moves, and soon", address)
	case codes.Aborted:
		return "another stream with this token has replaced this one: a token is for one running copy of a bot"
	case codes.PermissionDenied:
		return fmt.Sprintf("the server at %s does not let this copy of the bot play", address)
	case codes.Unavailable:
		if serverVersion != "unknown" {
			return fmt.Sprintf("the server at %s has stopped, or the connection was lost", address)
		}
		return fmt.Sprintf("nobody answers at %s: start the server first, or check the address", address)
	default:
		return fmt.Sprintf("the server at %s ended the stream", address)
	}
}
