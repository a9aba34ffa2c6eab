package rummyarena

import (
	"flag"
	"strings"
	"testing"
)

func TestFlagsGoBeforeTheEnvironment(t *testing.T) {
	t.Setenv(AddressVariable, "environment:1")
	t.Setenv(TokenVariable, "of-the-environment")
	settings, flags := NewSettings(), flag.NewFlagSet("bot", flag.ContinueOnError)
	settings.AddFlags(flags)

	if err := flags.Parse([]string{"--address", "flag:1"}); err != nil {
		t.Fatal(err)
	}

	if settings.Address != "flag:1" || settings.Token != "of-the-environment" {
		t.Errorf("the settings are %+v", settings)
	}
}

func TestTheHelpShowsNoToken(t *testing.T) {
	t.Setenv(TokenVariable, "of-the-environment")
	flags, help := flag.NewFlagSet("bot", flag.ContinueOnError), &strings.Builder{}
	NewSettings().AddFlags(flags)
	flags.SetOutput(help)

	flags.PrintDefaults()

	if strings.Contains(help.String(), "of-the-environment") || !strings.Contains(help.String(), TokenVariable) {
		t.Errorf("the help is %s", help)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	for _, one := range []struct{ address, token, sentence string }{
		{"", "", "no address: pass --address HOST:PORT or set RUMMYARENA_ADDRESS"},
		{"localhost", "", `"localhost" is not an address: write host:port`},
		{"http://localhost:1", "", "is not an address"},
		{"localhost:1", "", "no token: pass --token TOKEN or set RUMMYARENA_TOKEN"},
		{"localhost:1", "a b", "the token has characters that no token has"},
		{"localhost:1", "é", "the token has characters that no token has"},
	} {
		settings := NewSettings()
		settings.Address, settings.Token = one.address, one.token
		failsWith(t, settings, one.sentence)
	}
}

func TestANumberOfGamesThatCannotBeIsNamed(t *testing.T) {
	failsWith(t, &Settings{Address: "unix:/run/a", Token: "a"}, "MaxConcurrentGames is 0: allowed are 1 and more")
}
