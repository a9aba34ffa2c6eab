package rummyarena

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstDelay = 100 * time.Millisecond
	lastDelay  = 2 * time.Second
)

// backOff spaces the attempts to reach a server.
type backOff struct {
	patience time.Duration
	deadline time.Time
	delay    time.Duration
}

// next returns how long to wait after an attempt that failed at `now`, and whether there is patience for another one.
// Delays double and have jitter: bots that lost a server do not come back all at once.
func (b *backOff) next(now time.Time) (delay time.Duration, goesOn bool) {
	if b.delay == 0 {
		b.deadline, b.delay = now.Add(b.patience), firstDelay
	}
	delay = b.delay/2 + rand.N(b.delay/2)
	b.delay = min(lastDelay, 2*b.delay)
	return delay, now.Before(b.deadline)
}

// pause waits; it returns the cause of ctx if that is done first.
func pause(ctx context.Context, delay time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(delay):
		return nil
	}
}
