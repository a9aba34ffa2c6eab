package rummyarena

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	v1 "rummyarena/v1"
)

// longestHold is how long an answer waits for others to go out in the same message.
const longestHold = 5 * time.Millisecond

// seat is a game that is on: its open decision, a refusal of which the bot has not been told yet, and the number of the
// last event that arrived.
type seat struct {
	game         *Game
	decision     *Decision
	rejection    *v1.MoveRejected
	lastSequence uint32
}

// session is what a bot answers to each message of the referee: the part of the client that knows no connection. It
// outlives a lost stream.
type session struct {
	bot           Bot
	observer      Observer // nil: the bot is none
	log           *slog.Logger
	seats         map[string]*seat
	serverVersion string // "": no server has said Welcome yet
}

func newSession(bot Bot, log *slog.Logger) *session {
	observer, _ := bot.(Observer)
	return &session{bot: bot, observer: observer, log: log, seats: map[string]*seat{}}
}

// wants is what the bot wants to be told.
func (s *session) wants() v1.Wants {
	if s.observer != nil {
		return v1.Wants_WANTS_BOTH
	}
	return v1.Wants_WANTS_VIEW
}

// resumes names the games that the bot knows, for a new stream after a lost one.
func (s *session) resumes() []*v1.Resume {
	var resumes []*v1.Resume
	for _, id := range slices.Sorted(maps.Keys(s.seats)) {
		resumes = append(resumes, &v1.Resume{GameId: id, LastSequence: s.seats[id].lastSequence})
	}
	return resumes
}

// respond takes a message and sends what the bot answers to all decisions in it.
func (s *session) respond(response *v1.PlayResponse, send func(*v1.PlayRequest)) error {
	if welcome := response.GetWelcome(); welcome != nil {
		s.noteWelcome(welcome)
	}
	if away := response.GetGoingAway(); away != nil {
		s.log.Info("the server starts no more games", "reason", away.GetMessage())
	}
	return s.answer(s.asked(response), send)
}

func (s *session) noteWelcome(welcome *v1.Welcome) {
	s.serverVersion = welcome.GetServerVersion()
	for _, id := range welcome.GetGoneGameIds() {
		if gone := s.seats[id]; gone != nil {
			s.end(gone.game, nil)
		}
	}
}

// end forgets a game and tells the bot; over is nil if it ended while the bot had no stream.
func (s *session) end(game *Game, over *v1.GameOver) {
	delete(s.seats, game.ID)
	if s.observer != nil {
		s.observer.GameOver(game, over)
	}
}

// asked takes the news of a message and returns the decisions that are owed, one a game.
func (s *session) asked(response *v1.PlayResponse) []*Decision {
	var asked []*Decision
	for _, rejection := range response.GetRejections() {
		asked = add(asked, s.noteRejection(rejection))
	}
	for _, update := range response.GetUpdates() {
		asked = add(asked, s.noteUpdate(update))
	}
	return asked
}

// add appends a decision if there is one, in the place of an older one of the same game.
func add(asked []*Decision, decision *Decision) []*Decision {
	if decision == nil {
		return asked
	}
	for at, one := range asked {
		if one.Game == decision.Game {
			asked[at] = decision
			return asked
		}
	}
	return append(asked, decision)
}

// noteRejection returns the decision that is asked again because of a refusal, if it is still open under its id.
func (s *session) noteRejection(message *v1.MoveRejected) *Decision {
	s.logRejection(message)
	seat := s.seats[message.GetGameId()]
	if seat == nil || message.GetAttemptsLeft() == 0 {
		return nil
	}
	if message.GetIndex() > 0 || seat.decision == nil || seat.decision.Message.GetDecisionId() != message.GetDecisionId() {
		seat.rejection = message // the moves before it stand; the decision that follows comes as an update
		return nil
	}
	seat.decision = seat.decision.again(message)
	return seat.decision
}

func (s *session) logRejection(message *v1.MoveRejected) {
	level := slog.LevelWarn
	if message.GetRejection().GetReason() == v1.ErrorReason_ERROR_REASON_STALE_DECISION {
		level = slog.LevelDebug // the decision was closed while the answer travelled: nobody's mistake
	}
	s.log.Log(context.Background(), level, "a move was refused",
		"game", message.GetGameId(),
		"index", message.GetIndex(),
		"reason", message.GetRejection().GetReason(),
		"message", message.GetRejection().GetMessage())
}

// noteUpdate tells the bot the news of a game and returns the decision that is owed, if any.
func (s *session) noteUpdate(update *v1.GameUpdate) *Decision {
	seat := s.seatOf(update)
	s.observe(seat, update.GetEvents())
	if over := update.GetOver(); over != nil {
		s.end(seat.game, over)
		return nil
	}
	if update.GetDecision() == nil {
		return nil
	}
	seat.decision = &Decision{
		Game: seat.game, View: update.GetView(), Message: update.GetDecision(), Rejection: seat.rejection,
	}
	seat.rejection = nil
	return seat.decision
}

// seatOf returns the seat of an update; a game that is sent anew after a lost stream goes on where it was.
func (s *session) seatOf(update *v1.GameUpdate) *seat {
	if known := s.seats[update.GetGameId()]; known != nil {
		return known
	}
	begun := &seat{game: &Game{ID: update.GetGameId(), Setup: update.GetSetup()}}
	s.seats[update.GetGameId()] = begun
	if s.observer != nil {
		s.observer.GameStarted(begun.game)
	}
	return begun
}

func (s *session) observe(seat *seat, events []*v1.Event) {
	known := make([]*v1.Event, 0, len(events))
	for _, event := range events {
		seat.lastSequence = event.GetSequence()
		if event.GetKind() != nil {
			known = append(known, event)
		}
	}
	if s.observer != nil && len(known) > 0 {
		s.observer.Observe(seat.game, known)
	}
}

// answer has the bot decide. Answers go out many in a message while they come fast, but none waits for a slow one.
func (s *session) answer(asked []*Decision, send func(*v1.PlayRequest)) error {
	batch, since := &v1.PlayRequest{}, time.Now()
	for at, decision := range asked {
		answer, err := s.decide(decision)
		if err != nil {
			return err
		}
		batch.Answers = append(batch.Answers, answer)
		if at == len(asked)-1 || time.Since(since) > longestHold {
			send(batch)
			batch, since = &v1.PlayRequest{}, time.Now()
		}
	}
	return nil
}

func (s *session) decide(decision *Decision) (*v1.Answer, error) {
	moves, err := s.bot.Decide(decision)
	if err != nil {
		return nil, fmt.Errorf("the bot failed in game %s: %w", decision.Game.ID, err)
	}
	if len(moves) == 0 {
		return nil, fmt.Errorf("the bot answered no move in game %s: return at least one", decision.Game.ID)
	}
	return &v1.Answer{GameId: decision.Game.ID, DecisionId: decision.Message.GetDecisionId(), Moves: moves}, nil
}
