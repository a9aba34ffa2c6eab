package rummyarena

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	v1 "rummyarena/v1"
)

// diary is a bot that draws, and writes down what it is told.
type diary struct {
	lines     []string
	decisions []*Decision
}

func (d *diary) note(format string, words ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, words...))
}

func (d *diary) Decide(decision *Decision) ([]*v1.Move, error) {
	d.decisions = append(d.decisions, decision)
	d.note("%s asks %s", decision.Game.ID, decision.Message.GetDecisionId())
	return []*v1.Move{draw}, nil
}

func (d *diary) GameStarted(game *Game) { d.note("%s starts", game.ID) }

func (d *diary) Observe(game *Game, events []*v1.Event) {
	for _, event := range events {
		d.note("%s sees %d", game.ID, event.GetSequence())
	}
}

func (d *diary) GameOver(game *Game, over *v1.GameOver) {
	if over == nil {
		d.note("%s is gone", game.ID)
		return
	}
	d.note("%s is over", game.ID)
}

func quietly(bot Bot) *session { return newSession(bot, slog.New(slog.DiscardHandler)) }

// hear has a session respond, and returns what it answers, such as "a:1 b:5"; messages are separated by " | ".
func hear(t *testing.T, session *session, response *v1.PlayResponse) string {
	t.Helper()
	var messages []string
	err := session.respond(response, func(request *v1.PlayRequest) {
		var answers []string
		for _, answer := range request.GetAnswers() {
			answers = append(answers, answer.GetGameId()+":"+answer.GetDecisionId())
		}
		messages = append(messages, strings.Join(answers, " "))
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(messages, " | ")
}

func expect(t *testing.T, what, got, wanted string) {
	t.Helper()
	if got != wanted {
		t.Errorf("%s: %q instead of %q", what, got, wanted)
	}
}

// --- decisions

func TestTheAnswersToOneMessageAreOneMessage(t *testing.T) {
	said := news(begins(asks("a", "1")), begins(asks("b", "5")), begins(asks("c", "9")))
	expect(t, "answers", hear(t, quietly(firstCandidate), said), "a:1 b:5 c:9")
}

func TestNoAnswerWaitsForASlowOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock of this test is virtual
		slowInB := BotFunc(func(decision *Decision) ([]*v1.Move, error) {
			if decision.Game.ID == "b" {
				time.Sleep(time.Second)
			}
			return []*v1.Move{draw}, nil
		})
		said := news(asks("a", "1"), asks("b", "1"), asks("c", "1"), asks("d", "1"))
		expect(t, "answers", hear(t, quietly(slowInB), said), "a:1 b:1 | c:1 d:1")
	})
}

func TestAnAnswerMayHaveSeveralMoves(t *testing.T) {
	moves := []*v1.Move{draw, discard(v1.Card_CARD_KING_OF_DIAMONDS)}
	bot := BotFunc(func(*Decision) ([]*v1.Move, error) { return moves, nil })
	err := quietly(bot).respond(news(asks("a", "1")), func(request *v1.PlayRequest) {
		if len(request.GetAnswers()) != 1 || len(request.GetAnswers()[0].GetMoves()) != 2 {
			t.Errorf("the bot answered %v", request)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNoMoveIsAnErrorOfTheBot(t *testing.T) {
	bot := BotFunc(func(*Decision) ([]*v1.Move, error) { return nil, nil })
	err := quietly(bot).respond(news(asks("a", "1")), func(*v1.PlayRequest) { t.Error("it answers") })
	if err == nil || err.Error() != "the bot answered no move in game a: return at least one" {
		t.Errorf("the error is %v", err)
	}
}

func TestNewsWithoutADecisionOweNothing(t *testing.T) {
	session := quietly(firstCandidate)
	for _, said := range []*v1.PlayResponse{
		welcome, news(begins(&v1.GameUpdate{GameId: "a"})), {GoingAway: &v1.GoingAway{Message: "enough"}}, news(ends("a")),
	} {
		expect(t, "answers", hear(t, session, said), "")
	}
	expect(t, "version of the server", session.serverVersion, "9.9.9")
}

func TestTheRandomNumbersOfADecisionFollowFromItsSeed(t *testing.T) {
	bot := &diary{}
	hear(t, quietly(bot), news(asks("a", "1"), asks("b", "1")))
	for _, decision := range bot.decisions { // both have the seed 7; the numbers must never change, or games would
		if got := decision.Random().Uint64(); got != 4971928291090985182 {
			t.Errorf("game %s draws %d", decision.Game.ID, got)
		}
	}
}

// --- news

func TestAnObserverIsToldAGameFromItsStartToItsEnd(t *testing.T) {
	bot := &diary{}
	session := quietly(bot)
	asked := begins(asks("a", "1"))
	asked.Events = []*v1.Event{turnStarted(4)}

	hear(t, session, news(asked))
	hear(t, session, news(ends("a")))

	expect(t, "told", strings.Join(bot.lines, ", "), "a starts, a sees 4, a asks 1, a is over")
	expect(t, "wants", session.wants().String(), "WANTS_BOTH")
	expect(t, "ruleset", bot.decisions[0].Game.Setup.GetRuleset(), "thai")
	if len(session.seats) != 0 {
		t.Errorf("the session keeps %v", session.seats)
	}
}

func TestOtherBotsAskForViewsAlone(t *testing.T) {
	expect(t, "wants", quietly(firstCandidate).wants().String(), "WANTS_VIEW")
}

func turnStarted(sequence uint32) *v1.Event {
	return &v1.Event{Sequence: sequence, Kind: &v1.Event_TurnStarted{TurnStarted: &v1.TurnStarted{}}}
}

// newer adds a field that only a newer server knows.
func newer[M proto.Message](t *testing.T, message M) M {
	t.Helper()
	wire, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	wire = protowire.AppendTag(wire, 777, protowire.BytesType)
	wire = protowire.AppendBytes(wire, []byte("of the future"))
	if err := proto.Unmarshal(wire, message); err != nil {
		t.Fatal(err)
	}
	return message
}

func TestWhatOnlyANewerServerKnowsIsPassedOver(t *testing.T) {
	// given: unknown fields everywhere, an event, a candidate and an option of kinds that are unknown, a new phase
	asked := begins(asks("a", "1"))
	asked.Events = []*v1.Event{newer(t, &v1.Event{Sequence: 5}), newer(t, turnStarted(6))}
	asked.Setup.Options = []*v1.Option{newer(t, &v1.Option{Name: "magic"})}
	asked.Decision.Verbs = []v1.Verb{999}
	asked.Decision.Candidates = []*v1.Move{newer(t, &v1.Move{}), newer(t, discard(v1.Card_CARD_JOKER))}
	asked.View.PublicPart.Phase = 999
	newer(t, asked.Setup)
	newer(t, asked.View)
	newer(t, asked.Decision)
	bot := &diary{}

	answered := hear(t, quietly(bot), newer(t, news(newer(t, asked))))

	expect(t, "answers", answered, "a:1")
	expect(t, "told", strings.Join(bot.lines, ", "), "a starts, a sees 6, a asks 1")
	if candidates := bot.decisions[0].Candidates(); len(candidates) != 1 || candidates[0].GetDiscard() == nil {
		t.Errorf("the candidates are %v", candidates)
	}
}

// --- refusals

const notBorn = v1.ErrorReason_ERROR_REASON_NOT_BORN

func TestARefusedBotIsAskedAgainAndToldWhy(t *testing.T) {
	bot := &diary{}
	session := quietly(bot)
	hear(t, session, news(asks("a", "1")))

	answered := hear(t, session, refusal(refuses("a", "1", 0, 2, notBorn)))

	expect(t, "answers", answered, "a:1")
	again := bot.decisions[1]
	if again.Rejection.GetRejection().GetReason() != notBorn || again.View != bot.decisions[0].View {
		t.Errorf("it is asked %+v", again)
	}
}

func TestTheRandomNumbersGoOnWhenABotIsAskedAgain(t *testing.T) {
	bot := &diary{}
	session := quietly(bot)
	hear(t, session, news(asks("a", "1")))
	wanted := rand.New(rand.NewPCG(7, 0))
	for at := range 2 {
		if got := bot.decisions[at].Random().Uint64(); got != wanted.Uint64() {
			t.Errorf("attempt %d draws %d", at, got)
		}
		hear(t, session, refusal(refuses("a", "1", 0, 2, notBorn)))
	}
}

func TestMovesBeforeTheRefusedOneStandAndTheNextDecisionTellsWhy(t *testing.T) {
	bot := &diary{}
	session := quietly(bot)
	hear(t, session, news(asks("a", "1")))

	expect(t, "answers to the refusal", hear(t, session, refusal(refuses("a", "1", 1, 2, notBorn))), "")
	expect(t, "answers", hear(t, session, news(asks("a", "2"))), "a:2")

	if bot.decisions[1].Rejection.GetIndex() != 1 {
		t.Errorf("it is asked %+v", bot.decisions[1])
	}
}

func TestARefusalAndTheNextDecisionInOneMessageAreOneQuestion(t *testing.T) {
	for index, told := range []bool{false, true} { // a refusal of the decision that was replaced is old news
		bot := &diary{}
		session := quietly(bot)
		hear(t, session, news(asks("a", "1"), asks("b", "1")))
		both := refusal(refuses("a", "1", uint32(index), 2, notBorn), refuses("b", "1", 0, 2, notBorn))
		both.Updates = []*v1.GameUpdate{asks("a", "2")}

		expect(t, "answers", hear(t, session, both), []string{"a:2 b:1", "b:1 a:2"}[index])

		for _, decision := range bot.decisions[2:] {
			if decision.Game.ID == "a" && (decision.Rejection != nil) != told {
				t.Errorf("it is asked %+v", decision)
			}
		}
	}
}

func TestAfterTheLastAttemptAndForAStaleAnswerNothingIsOwed(t *testing.T) {
	stale := v1.ErrorReason_ERROR_REASON_STALE_DECISION
	session := quietly(&diary{})
	hear(t, session, news(asks("a", "1")))
	for _, rejection := range []*v1.MoveRejected{
		refuses("a", "1", 0, 0, notBorn), refuses("a", "1", 0, 0, stale), refuses("of no game of ours", "1", 0, 0, stale),
	} {
		expect(t, "answers", hear(t, session, refusal(rejection)), "")
	}
}

func TestRefusalsAreLoggedButStaleAnswersAreNobodysMistake(t *testing.T) {
	log := &strings.Builder{}
	session := newSession(&diary{}, slog.New(slog.NewTextHandler(log, nil)))

	hear(t, session, refusal(refuses("a", "1", 0, 0, v1.ErrorReason_ERROR_REASON_STALE_DECISION)))
	expect(t, "log", log.String(), "")

	hear(t, session, refusal(refuses("a", "1", 0, 0, 9999))) // a reason that no version knows yet
	if !strings.Contains(log.String(), `level=WARN msg="a move was refused" game=a index=0 reason=9999`) {
		t.Errorf("the log is %s", log)
	}
}
