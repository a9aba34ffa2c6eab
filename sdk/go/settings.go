package rummyarena

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"
)

// The variables of the environment from which NewSettings takes address and token.
const (
	AddressVariable = "RUMMYARENA_ADDRESS"
	TokenVariable   = "RUMMYARENA_TOKEN"
)

var addressForm = regexp.MustCompile(`^(unix:.+|(dns:(///)?)?[^\s/]+:[0-9]{1,5})$`)

// Settings say how a bot connects. NewSettings fills in what most bots want; the zero value connects nowhere.
type Settings struct {
	// Address is host:port or unix:/path of the server.
	Address string
	// Token is the one that the server gave to this bot.
	Token string
	// BotVersion is the version of the bot, in its author's own words; up to 64 characters.
	BotVersion string
	// MaxConcurrentGames is how many games the bot plays at once: 1 or more. Time runs for all their open decisions.
	MaxConcurrentGames uint32
	// CandidateLimit is how many candidates a decision names at most: 0 (none) or more, of which the server heeds up
	// to 256.
	CandidateLimit uint32
	// Patience is for how long a server that cannot be reached is tried again.
	Patience time.Duration
	// Drain, once it is closed, has the bot ask for no more games; Run returns when those that are on are over. nil: it
	// plays as long as there are games.
	Drain <-chan struct{}
	// Logger is told of refusals and lost connections; nil: slog.Default().
	Logger *slog.Logger
}

// NewSettings returns the usual settings, with address and token from the environment.
func NewSettings() *Settings {
	return &Settings{
		Address:            os.Getenv(AddressVariable),
		Token:              os.Getenv(TokenVariable),
		MaxConcurrentGames: 4,
		CandidateLimit:     64,
		Patience:           30 * time.Second,
	}
}

// AddFlags adds --address and --token, which go before the environment once the flags are parsed.
func (s *Settings) AddFlags(flags *flag.FlagSet) {
	// Not StringVar: the help would show the token of the environment as the default.
	flags.Func("address", "`host:port` or unix:/path of the server (or "+AddressVariable+")", setter(&s.Address))
	flags.Func("token", "the `token` of this bot (or "+TokenVariable+")", setter(&s.Token))
}

func setter(target *string) func(string) error {
	return func(value string) error {
		*target = value
		return nil
	}
}

// check returns an error that says what is missing or cannot be, and how to mend it.
func (s *Settings) check() error {
	if s.Address == "" {
		return errors.New("no address: pass --address HOST:PORT or set " + AddressVariable)
	}
	if !addressForm.MatchString(s.Address) {
		return fmt.Errorf("%q is not an address: write host:port, such as 127.0.0.1:7777, or unix:/path", s.Address)
	}
	if s.Token == "" {
		return errors.New("no token: pass --token TOKEN or set " + TokenVariable)
	}
	if strings.ContainsFunc(s.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the token has characters that no token has: copy it again, without blanks")
	}
	if s.MaxConcurrentGames == 0 {
		return errors.New("MaxConcurrentGames is 0: allowed are 1 and more; NewSettings starts from 4")
	}
	return nil
}

func (s *Settings) isDraining() bool {
	select {
	case <-s.Drain:
		return true
	default:
		return false
	}
}

func (s *Settings) isLocal() bool {
	for _, prefix := range []string{"127.0.0.1:", "localhost:", "[::1]:", "unix:"} {
		if strings.HasPrefix(s.Address, prefix) {
			return true
		}
	}
	return false
}

func (s *Settings) logger() *slog.Logger {
	if s.Logger != nil {
		return s.Logger
	}
	return slog.Default()
}
