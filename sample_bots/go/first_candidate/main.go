// Command first_candidate plays the first candidate of every decision: the shortest bot there is, but no fool; good
// moves are listed first.
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"syscall"

	"rummyarena"
	v1 "rummyarena/v1"
)

func firstCandidate(decision *rummyarena.Decision) ([]*v1.Move, error) {
	return decision.Candidates()[:1], nil
}

func main() {
	settings := rummyarena.NewSettings()
	settings.AddFlags(flag.CommandLine)
	flag.Parse()

	// SIGTERM has it play its games to the end, a second one does not.
	asked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	context.AfterFunc(asked, stop)
	settings.Drain = asked.Done()

	if err := rummyarena.Run(context.Background(), settings, rummyarena.BotFunc(firstCandidate)); err != nil {
		log.Fatal(err)
	}
}
