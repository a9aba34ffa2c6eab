// Verify_shuffle redoes the shuffles of Rummy Arena from the seeds of its games.
//
// It shares no line with the server: it was written from docs/shuffle.md alone, so that a mistake in the one is not a
// mistake in the other. It reads a request a line and prints an answer a line:
//
//	SEED shoe/DEAL DECKS JOKERS          the order of the shoe, with so many jokers in each deck
//	SEED cut/DEAL CARDS                  how many of so many cards go to the bottom, if the referee cuts
//	SEED cut/DEAL CARDS ASKED NOISE      the same, if the cutter asked for a position
//	SEED reshuffle/DEAL/COUNT CARD ...   the order of the new stock; the cards: the discards that go in, oldest first
//
// SEED is the game seed, 64 hex digits; cards are written as in docs/rules/notation.md, the top card first in answers.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

const most = 10_000 // of cards, which no game has

func main() {
	input, output := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	for number := 1; input.Scan(); number++ {
		answer, err := answer(strings.Fields(input.Text()))
		if err != nil {
			output.Flush()
			fmt.Fprintf(os.Stderr, "line %d: %v\n", number, err)
			os.Exit(1)
		}
		fmt.Fprintln(output, answer)
	}
	if err := errors.Join(input.Err(), output.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer(words []string) (string, error) {
	if len(words) < 3 {
		return "", errors.New("a seed, a purpose and what belongs to it are the least")
	}
	seed, err := hex.DecodeString(words[0])
	if err != nil || len(seed) != 32 {
		return "", fmt.Errorf("the seed %q is not 64 hex digits", words[0])
	}
	random, rest := newStream(seed, words[1]), words[2:]
	kind, _, _ := strings.Cut(words[1], "/")
	if kind == "reshuffle" {
		return random.shuffled(rest), nil
	}
	numbers, err := wholeNumbers(rest)
	switch {
	case err != nil:
		return "", err
	case kind == "shoe" && len(numbers) == 2:
		return random.shuffled(shoe(numbers[0], numbers[1])), nil
	case kind == "cut" && len(numbers) == 1 && numbers[0] > 1:
		return strconv.Itoa(1 + random.below(numbers[0]-1)), nil
	case kind == "cut" && len(numbers) == 3 && numbers[0] > 1:
		cards, asked, noise := numbers[0], numbers[1], numbers[2]
		return strconv.Itoa(min(max(asked+random.below(2*noise+1)-noise, 1), cards-1)), nil
	}
	return "", fmt.Errorf("%q is no question that has an answer", strings.Join(words[1:], " "))
}

func wholeNumbers(words []string) ([]int, error) {
	var numbers []int
	for _, word := range words {
		number, err := strconv.Atoi(word)
		if err != nil || number < 0 || number > most {
			return nil, fmt.Errorf("%q is not a whole number up to %d", word, most)
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

// shoe returns the decks one after another, each sorted and followed by its jokers.
func shoe(decks, jokers int) []string {
	var cards []string
	for range decks {
		for _, suit := range "CDHS" {
			for _, rank := range "23456789TJQKA" {
				cards = append(cards, string(rank)+string(suit))
			}
		}
		for range jokers {
			cards = append(cards, "JK")
		}
	}
	return cards
}

// A stream is the random numbers of a seed and a purpose.
type stream struct {
	key    [32]byte
	blocks uint64
	left   []byte
}

func newStream(seed []byte, purpose string) *stream {
	return &stream{key: sha256.Sum256(append(seed, purpose...))}
}

func (s *stream) word() uint32 {
	if len(s.left) == 0 {
		block := sha256.Sum256(binary.BigEndian.AppendUint64(s.key[:], s.blocks))
		s.blocks, s.left = s.blocks+1, block[:]
	}
	word := binary.BigEndian.Uint32(s.left)
	s.left = s.left[4:]
	return word
}

// below returns a number from 0 to n - 1, each as likely as any other.
func (s *stream) below(n int) int {
	limit := uint64(1<<32) - uint64(1<<32)%uint64(n)
	for {
		if word := uint64(s.word()); word < limit {
			return int(word % uint64(n))
		}
	}
}

func (s *stream) shuffled(cards []string) string {
	for j := len(cards) - 1; j >= 1; j-- {
		other := s.below(j + 1)
		cards[j], cards[other] = cards[other], cards[j]
	}
	return strings.Join(cards, " ")
}
