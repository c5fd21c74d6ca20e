package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
)

// ownModes returns runs of which a share is slower, in each point by a distance of its own, which is so far in the middle.
func ownModes(share, middle, spread float64) series {
	return func(random *rand.Rand, runs int) []float64 {
		slower := middle * math.Exp(spread*random.NormFloat64())
		return independent(func(random *rand.Rand) float64 {
			v := .01 * random.NormFloat64()
			if random.Float64() < share {
				v += slower
			}
			return v
		})(random, runs)
	}
}

// anticorrelated returns runs of blocks of which one is as much slower as the other is faster.
func anticorrelated(random *rand.Rand, runs int) []float64 {
	all := gaussian(.02)(random, runs)
	for i := 0; i+1 < runs; i += 2 {
		by := .05 * random.NormFloat64()
		all[i], all[i+1] = all[i]+by, all[i+1]-by
	}
	return all
}

// ownNoise returns runs of points whose noise differs.
func ownNoise(random *rand.Rand, runs int) []float64 {
	return gaussian(.01*math.Exp(random.NormFloat64()))(random, runs)
}

// limits are data of which it is known that the promise is not always kept.
var limits = []kind{
	{name: "30 % of runs slower, each point by its own", of: alike(ownModes(.3, .05, 1))},
	{name: "half of runs slower, each point by its own", of: alike(ownModes(.5, .1, .7))},
	{name: "blocks of a tenth of the points opposed", of: func(point int) series {
		if point%10 == 0 {
			return anticorrelated
		}
		return gaussian(.02)
	}},
	{name: "20 runs of own noise, 5 of three times as much", of: alike(ownNoise), head: 5, spread: 3},
}

// anyFalse is in how many of so many sweeps in which nothing changed a point is called different.
func (c *cell) anyFalse(sweeps int) (found int) {
	for sweep := range sweeps {
		pairs, _ := c.draw(rand.New(rand.NewPCG(uint64(c.runs), uint64(sweep))), 0, 0)
		for _, o := range judge.Alone(pairs, judge.Rules{}).Outcomes {
			if called(o.Verdict) != 0 {
				found++
				break
			}
		}
	}
	return found
}

// TestLimits measures how often a change is found where there is none, of data of which it is known that this may be more
// often than 5 %. VALIDATION.md has the table, which NEUROLENS_LONG=all compares.
func TestLimits(t *testing.T) {
	t.Parallel()
	if !torture() {
		t.Skip("left out: NEUROLENS_LONG is not all")
	}
	table := []string{"| data with limits | points | 3 runs | 5 | 6 | 10 |", "|---|--:|--:|--:|--:|--:|"}
	for _, k := range limits {
		for _, points := range []int{12, 30, 200} {
			table = append(table, k.limitsRow(points))
		}
	}
	publish(t, table)
}

func (k kind) limitsRow(points int) string {
	sweeps := map[int]int{12: 1000, 30: 600, 200: 200}[points]
	runs := []int{3, 5, 6, 10}
	texts := make([]string, len(runs))
	var wait sync.WaitGroup
	for i, n := range runs {
		wait.Go(func() {
			c := cell{kind: k, runs: n, points: points}
			if texts[i] = "–"; k.head > 0 && n != k.head {
				return
			} else if k.head > 0 {
				c.runs = 20
			}
			texts[i] = percent(100 * float64(c.anyFalse(sweeps)) / float64(sweeps))
		})
	}
	wait.Wait()
	return fmt.Sprintf("| %s | %d | %s |", k.name, points, strings.Join(texts, " | "))
}
