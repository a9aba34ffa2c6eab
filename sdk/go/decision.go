package rummyarena

import (
	"math/rand/v2"

	v1 "rummyarena/v1"
)

// A Bot answers decisions.
type Bot interface {
	// Decide returns what to play: one move, or several that are played in order within the turn until a refusal, a
	// card that the bot has not seen yet, or another seat's decision. It is called for one decision at a time, for the
	// games of a stream in turn. An error ends Run.
	Decide(decision *Decision) ([]*v1.Move, error)
}

// BotFunc makes a function a Bot.
type BotFunc func(decision *Decision) ([]*v1.Move, error)

// Decide calls the function.
func (f BotFunc) Decide(decision *Decision) ([]*v1.Move, error) { return f(decision) }

// An Observer is a Bot that is told more than its decisions.
type Observer interface {
	Bot
	// GameStarted is called before anything else of a game.
	GameStarted(game *Game)
	// Observe is told what happened, as this seat may see it, before the decision that follows it. Events of a kind
	// that this version does not know are left out.
	Observe(game *Game, events []*v1.Event)
	// GameOver is told the end of a game; over is nil if it ended while the bot had lost its stream.
	GameOver(game *Game, over *v1.GameOver)
}

// Game is what is fixed for a whole game.
type Game struct {
	// ID names the game; opaque.
	ID string
	// Setup is what is played, by whom and how.
	Setup *v1.GameSetup
}

// Decision is an answer that the bot owes.
type Decision struct {
	// Game is the game in which the decision is made.
	Game *Game
	// View is all that the seat may see.
	View *v1.View
	// Message has the rest: the verbs that could be legal, the time left, whether the candidates are all legal moves.
	Message *v1.Decision
	// Rejection says why the last answer was refused, if the bot is asked again; else it is nil.
	Rejection *v1.MoveRejected

	random *rand.Rand
}

// Candidates returns legal moves, the more promising kinds first, at most as many as the bot asked for. Moves of a kind
// that this version does not know are left out.
func (d *Decision) Candidates() []*v1.Move {
	candidates := make([]*v1.Move, 0, len(d.Message.GetCandidates()))
	for _, move := range d.Message.GetCandidates() {
		if move.GetKind() != nil {
			candidates = append(candidates, move)
		}
	}
	return candidates
}

// Random returns the decision's own random numbers. A bot that draws from them and from nothing else plays the same
// game again on the same seed. They go on where they were if the bot is asked again after a refusal.
//
// They are those of rand.NewPCG(Message.RandomSeed, 0) of math/rand/v2: not the numbers that the Python SDK, or one for
// another language, draws from the same seed.
func (d *Decision) Random() *rand.Rand {
	if d.random == nil {
		d.random = rand.New(rand.NewPCG(d.Message.GetRandomSeed(), 0))
	}
	return d.random
}

// again returns the decision as it is asked after a refusal.
func (d *Decision) again(rejection *v1.MoveRejected) *Decision {
	return &Decision{Game: d.Game, View: d.View, Message: d.Message, Rejection: rejection, random: d.Random()}
}
