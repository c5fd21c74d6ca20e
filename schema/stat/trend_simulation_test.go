package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// trendRule is a rule that finds change points in a series of values.
type trendRule struct {
	name string
	find func(values []float64) []int
}

var trendRules = []trendRule{
	{"ChangePoints, 5 %, from 2 %", func(values []float64) []int { return changePointPlaces(values, .05, math.Log(1.02)) }},
	{"ChangePoints, 5 %, any size", func(values []float64) []int { return changePointPlaces(values, .05, 0) }},
	{"ChangePoints, 1 %, from 2 %", func(values []float64) []int { return changePointPlaces(values, .01, math.Log(1.02)) }},
	{"Otava, its defaults", Otava},
	{"5 % more or less than before", func(values []float64) (places []int) {
		for i, v := range values[1:] {
			if math.Abs(v/values[i]-1) > .05 {
				places = append(places, i+1)
			}
		}
		return places
	}},
}

// changePointPlaces returns the places of the change points of the logarithms.
func changePointPlaces(values []float64, alpha, least float64) []int {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	var places []int
	for _, c := range NewTrend(logs).Changes(alpha, within(least)) {
		places = append(places, c.Index)
	}
	return places
}

// trendNoise makes sessions without a change, of level 1.
type trendNoise struct {
	name string
	make func(random *rand.Rand, n int) []float64
}

var trendNoises = []trendNoise{
	{"normal, 2 %", func(random *rand.Rand, n int) []float64 {
		return iid(random, n, func(z float64) float64 { return 1 + .02*z })
	}},
	{"normal, 2 %, and 5 % of sessions 10 % slower", func(random *rand.Rand, n int) []float64 {
		return iid(random, n, func(z float64) float64 {
			if random.Float64() < .05 {
				return 1.1 + .02*z
			}
			return 1 + .02*z
		})
	}},
	{"2 %, neighbours correlated by 0.4", func(random *rand.Rand, n int) []float64 {
		values := autoregressive(random, n, .4)
		for i, v := range values {
			values[i] = 1 + .02*v
		}
		return values
	}},
}

// trendOutcome is what a rule did, in shares of the series.
type trendOutcome struct {
	falseAlarm float64 // there is a change point in a series without a change
	detected   float64 // there is one within 3 sessions of a change
	beside     float64 // there is one elsewhere in a series with a change
}

// simulateTrend looks for change points in series of sessions, without a change and with one of 5 % at a place.
func simulateTrend(noise trendNoise, series, sessions, place int) []trendOutcome {
	random := rand.New(rand.NewPCG(11, 12))
	outcomes := make([]trendOutcome, len(trendRules))
	each := 1 / float64(series)
	for range series {
		values := noise.make(random, sessions)
		for i, rule := range trendRules {
			if len(rule.find(values)) > 0 {
				outcomes[i].falseAlarm += each
			}
		}
		for i := place; i < sessions; i++ {
			values[i] *= 1.05
		}
		for i, rule := range trendRules {
			near, beside := 0., 0.
			for _, at := range rule.find(values) {
				if max(at-place, place-at) <= 3 {
					near = each
				} else {
					beside = each
				}
			}
			outcomes[i].detected += near
			outcomes[i].beside += beside
		}
	}
	return outcomes
}

// TestTrendTable measures what rules make of 100 sessions in which nothing changed, and of a change of 5 % after which
// 30 sessions follow: with NEUROLENS_LONG=1 over all series of the table in VALIDATION.md. With -v it prints the table.
func TestTrendTable(t *testing.T) {
	t.Parallel()
	series, slack, long := 1000, 0., os.Getenv("NEUROLENS_LONG") != ""
	if !long {
		series, slack = 100, 2*math.Sqrt(.05*.95/100) // two standard errors of so few
	}
	var table strings.Builder
	fmt.Fprintf(&table, "100 sessions, %d series\n\n", series)
	fmt.Fprintln(&table, "| noise | rule | false, nothing changed | +5 % found | false beside it |\n|---|---|---:|---:|---:|")
	for _, noise := range trendNoises {
		outcomes := simulateTrend(noise, series, 100, 70)
		for i, o := range outcomes {
			fmt.Fprintf(&table, "| %s | %s | %.1f %% | %.1f %% | %.1f %% |\n", noise.name, trendRules[i].name, 100*o.falseAlarm, 100*o.detected, 100*o.beside)
		}
		for i := range 2 {
			if got := outcomes[i].falseAlarm; got > .05+slack {
				t.Errorf("%s, %s: %.1f %% false", noise.name, trendRules[i].name, 100*got)
			}
			if got, otava := outcomes[i].detected, outcomes[3].detected; got < otava-.02-slack {
				t.Errorf("%s, %s: %.1f %% found, %.1f %% by Otava", noise.name, trendRules[i].name, 100*got, 100*otava)
			}
		}
	}
	t.Log("\n" + table.String())
	if _, rows, _ := strings.Cut(table.String(), "\n\n"); long && runtime.GOARCH == "amd64" { // others round otherwise
		document := valuetest.Must(os.ReadFile("../../query/judge/VALIDATION.md"))
		valuetest.Contains(t, string(document), rows, "VALIDATION.md has another table")
	}
}
