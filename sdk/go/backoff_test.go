package rummyarena

import (
	"testing"
	"time"
)

func TestDelaysDoubleWithJitterUpToTwoSeconds(t *testing.T) {
	retry, now := backOff{patience: time.Hour}, time.Unix(0, 0)
	for _, most := range []time.Duration{100, 200, 400, 800, 1600, 2000, 2000} {
		most *= time.Millisecond
		if delay, goesOn := retry.next(now); !goesOn || delay < most/2 || delay >= most {
			t.Errorf("a delay of up to %s is %s", most, delay)
		}
	}
}

func TestPatienceEnds(t *testing.T) {
	first := time.Unix(0, 0)
	for after, wanted := range map[time.Duration]bool{time.Minute - 1: true, time.Minute: false} {
		retry := backOff{patience: time.Minute}
		retry.next(first)
		if _, goesOn := retry.next(first.Add(after)); goesOn != wanted {
			t.Errorf("after %s it goes on: %t", after, goesOn)
		}
	}
}

func TestWithoutPatienceThereIsOneAttempt(t *testing.T) {
	retry := backOff{}
	if _, goesOn := retry.next(time.Unix(0, 0)); goesOn {
		t.Error("it goes on")
	}
}
