package judge_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// realSession is a session of fixtures/aa/blocks.csv: the points in the order in which they stand there.
type realSession []realPoint

// realPoint is a command that does as much work on either side (same), or by 10 or 30 % more on the head, with the locations of
// its blocks.
type realPoint struct {
	job, kind  string
	base, head []float64
}

func realSessions(t *testing.T) []realSession {
	t.Helper()
	file := valuetest.Must(os.Open(filepath.Join("..", "..", "fixtures", "aa", "blocks.csv")))
	defer file.Close()
	var all []realSession
	for _, row := range rowsOf(t, file) {
		if session := whole(t, row[0]); session > len(all) {
			all = append(all, nil)
		}
		s := &all[len(all)-1]
		i := slices.IndexFunc(*s, func(p realPoint) bool { return p.job == row[1] && p.kind == row[2] })
		if i < 0 {
			i = len(*s)
			*s = append(*s, realPoint{job: row[1], kind: row[2]})
		}
		p := &(*s)[i]
		p.base, p.head = append(p.base, math.Log(number(t, row[4]))), append(p.head, math.Log(number(t, row[5])))
	}
	for _, s := range all {
		slices.SortFunc(s, func(a, b realPoint) int { return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.kind, b.kind)) })
	}
	return all
}

// real counts what is called of the points of comparisons of real sessions.
type real struct {
	comparisons, wrong int // comparisons with a change of a command that did as much
	ten, thirty        [2]int
}

func (r *real) add(points []realPoint, outcomes []judge.Outcome) {
	r.comparisons++
	wrong := false
	for i, o := range outcomes {
		slower := o.Verdict == judge.Regressed
		count := func(of *[2]int) {
			of[1]++
			if slower {
				of[0]++
			}
		}
		switch points[i].kind {
		case "same":
			wrong = wrong || called(o.Verdict) != 0
		case "ten":
			count(&r.ten)
		case "thirty":
			count(&r.thirty)
		}
	}
	if wrong {
		r.wrong++
	}
}

func (r *real) line(name string) string {
	share := func(of [2]int) string {
		if of[1] == 0 {
			return "–"
		}
		return percent(100 * float64(of[0]) / float64(of[1]))
	}
	return fmt.Sprintf("| %s | %d of %d | %s | %s |", name, r.wrong, r.comparisons, share(r.ten), share(r.thirty))
}

// byTurnsOf returns the first blocks of a session.
func byTurnsOf(s realSession, blocks int) (pairs []judge.Pair) {
	for _, p := range s {
		pair := twoPercent(p.base[:blocks:blocks], p.head[:blocks:blocks])
		for i, h := range pair.Head {
			pair.Blocks = append(pair.Blocks, h-pair.Base[i])
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

// mannWhitneyOf returns what the test that other tools use says of each point, as if the sides had not taken turns.
func mannWhitneyOf(s realSession) (outcomes []judge.Outcome) {
	for _, p := range s {
		o := judge.Outcome{Verdict: judge.Inconclusive}
		if _, chance := stat.MannWhitney(p.base, p.head); chance < judge.Level {
			o.Verdict = judge.Improved
			if median(p.head) > median(p.base) {
				o.Verdict = judge.Regressed
			}
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// neighboursOf compares the bases of two sessions, one after the other, with the bases of all before as what is known.
func neighboursOf(all []realSession, head int) (points []realPoint, absolute, relative []judge.Pair) {
	levels := make([][]float64, len(all[head]))
	for i := range levels {
		for _, s := range all[:head+1] {
			levels[i] = append(levels[i], median(s[i].base))
		}
	}
	factors := judge.Common(levels, nil, judge.MinCommon)
	for i, p := range all[head] {
		pair := func(factors []float64) judge.Pair {
			less := func(values []float64, s int) (left []float64) {
				for _, v := range values {
					left = append(left, v-factors[s])
				}
				return left
			}
			pair := twoPercent(less(all[head-1][i].base, head-1), less(p.base, head))
			pair.Confounded = true
			for s, level := range levels[i][:head] {
				pair.History = append(pair.History, level-factors[s])
			}
			return pair
		}
		absolute, relative = append(absolute, pair(make([]float64, head+1))), append(relative, pair(factors))
		points = append(points, realPoint{job: p.job, kind: "same"})
	}
	return points, absolute, relative
}

// TestRealSessions: sessions of commands of which some do more on the head, on a machine that did other work too. VALIDATION.md
// has the table.
func TestRealSessions(t *testing.T) {
	t.Parallel()
	all := realSessions(t)
	table := []string{"| compared | with a false change | +10 % found | +30 % found |", "|---|--:|--:|--:|"}
	most := 0.
	add := func(name string, r *real) {
		table = append(table, r.line(name))
		most = max(most, float64(r.wrong)-(.05*float64(r.comparisons)+3*math.Sqrt(.05*.95*float64(r.comparisons))))
	}
	for _, blocks := range []int{3, 5, 6, 10} {
		r := &real{}
		for _, s := range all {
			r.add(s, judge.Alone(byTurnsOf(s, blocks), judge.Rules{}).Outcomes)
		}
		add(fmt.Sprintf("alternating, %d blocks", blocks), r)
	}
	peer := &real{}
	for _, s := range all {
		peer.add(s, mannWhitneyOf(s))
	}
	table = append(table, peer.line("10 runs per side, each point by Mann-Whitney at 5 %"))
	absolute, relative := &real{}, &real{}
	for head := judge.MinHistory; head < len(all); head++ {
		points, pairs, less := neighboursOf(all, head)
		absolute.add(points, judge.Alone(pairs, judge.Rules{}).Outcomes)
		relative.add(points, judge.Alone(less, judge.Rules{}).Outcomes)
	}
	add("consecutive sessions", absolute)
	add("the same, relative", relative)
	t.Log("\n" + strings.Join(table, "\n"))
	if most > 0 {
		t.Errorf("more false changes than promised")
	}
	if *update {
		writeTable(t, "| compared |", table)
	} else {
		hasTable(t, table)
	}
}
