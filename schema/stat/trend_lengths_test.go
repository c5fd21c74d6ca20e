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

// sessionNoise makes logarithms of sessions without a change, as many robust standard deviations of 2 %.
type sessionNoise struct {
	name string
	sd   float64 // standard deviations in a robust one; of Student's t with 2 degrees of freedom there is none, and it counts as 1
	make func(random *rand.Rand, n int) []float64
}

const sessionSpread = .02

func wandering(rho float64) sessionNoise {
	return sessionNoise{fmt.Sprintf("normal, neighbours correlated by %g", rho), 1, func(random *rand.Rand, n int) []float64 {
		return autoregressive(random, n, rho)
	}}
}

var sessionNoises = []sessionNoise{
	{"normal", 1, func(random *rand.Rand, n int) []float64 { return autoregressive(random, n, 0) }},
	wandering(.2),
	wandering(.4),
	wandering(.6),
	{"Student's t, 2 degrees of freedom", 1, func(random *rand.Rand, n int) []float64 {
		const robust = 1.4826 * .8165 // 1.4826 times its third quartile
		return iid(random, n, func(z float64) float64 { return z / math.Sqrt(random.ExpFloat64()) / robust })
	}},
	{"normal, and 5 % of sessions 10 % slower", math.Sqrt(1 + .05*.95*5*5), func(random *rand.Rand, n int) []float64 {
		return iid(random, n, func(z float64) float64 {
			if random.Float64() < .05 {
				z += 5
			}
			return z
		})
	}},
}

// lengthOutcome is what the rule of history did with series of sessions, in shares of them.
type lengthOutcome struct {
	falseAlarm, visible  float64 // nothing changed: a change is found, and one is seen that is not
	small, smallVisible  float64 // +5 %
	large, largeOverseen float64 // 10 standard deviations: found; neither found nor seen
}

// simulateLengths draws series of sessions without a change and with one anywhere, but for 3 sessions on either side.
func simulateLengths(noise sessionNoise, series, sessions int) (o lengthOutcome) {
	random := rand.New(rand.NewPCG(21, uint64(sessions)))
	each := 1 / float64(series)
	least := math.Log(1.02)
	near := func(points []ChangePoint, place int) bool {
		for _, p := range points {
			if max(p.Index-place, place-p.Index) <= 3 {
				return true
			}
		}
		return false
	}
	for range series {
		logs := noise.make(random, sessions)
		for i := range logs {
			logs[i] *= sessionSpread
		}
		if len(NewTrend(logs).Changes(.05, within(least))) > 0 {
			o.falseAlarm += each
		} else if len(visibleChanges(logs, .05, least)) > 0 {
			o.visible += each
		}
		place := trendLeast + random.IntN(sessions-2*trendLeast+1)
		changed := func(shift float64) (found, seen bool) {
			with := make([]float64, sessions)
			for i, v := range logs {
				if with[i] = v; i >= place {
					with[i] += shift
				}
			}
			return near(NewTrend(with).Changes(.05, within(least)), place), len(visibleChanges(with, .05, least)) > 0
		}
		if found, seen := changed(math.Log(1.05)); found {
			o.small += each
		} else if seen {
			o.smallVisible += each
		}
		if found, seen := changed(10 * sessionSpread * noise.sd); found {
			o.large += each
		} else if !seen {
			o.largeOverseen += each
		}
	}
	return o
}

// TestTrendLengths measures what history makes of few and many sessions: with NEUROLENS_LONG=1 over all series of the table in
// VALIDATION.md. With -v it prints the table.
func TestTrendLengths(t *testing.T) {
	t.Parallel()
	series, lengths, long := 1000, []int{8, 12, 18, 30, 100}, os.Getenv("NEUROLENS_LONG") != ""
	if !long {
		series, lengths = 100, lengths[:4]
	}
	slack := func(share float64) float64 { return 3 * math.Sqrt(share*(1-share)/float64(series)) }
	var table strings.Builder
	fmt.Fprintln(&table, "| noise | sessions | false, nothing changed | inconclusive | +5 % found | inconclusive | 10 sd found | missed |\n|---|---:|---:|---:|---:|---:|---:|---:|")
	for _, noise := range sessionNoises {
		for _, sessions := range lengths {
			o := simulateLengths(noise, series, sessions)
			fmt.Fprintf(&table, "| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", noise.name, sessions,
				100*o.falseAlarm, 100*o.visible, 100*o.small, 100*o.smallVisible, 100*o.large, 100*o.largeOverseen)
			if o.falseAlarm > .05+slack(.05) {
				t.Errorf("%s, %d sessions: %.1f %% false", noise.name, sessions, 100*o.falseAlarm)
			}
			// Among so few sessions t of two degrees of freedom has values that are themselves as far off. If one of eight is on the wrong side of the
			// step, so are many orders of independent values.
			if least := .99; noise.name != sessionNoises[4].name && o.large < least-slack(least) || sessions > 8 && o.large < .9-slack(.9) || o.large < .85-slack(.85) {
				t.Errorf("%s, %d sessions: %.1f %% of large steps found", noise.name, sessions, 100*o.large)
			}
		}
	}
	t.Log("\n" + table.String())
	if long && runtime.GOARCH == "amd64" { // others round otherwise
		document := valuetest.Must(os.ReadFile("../../query/judge/VALIDATION.md"))
		valuetest.Contains(t, string(document), table.String(), "VALIDATION.md has another table")
	}
}
