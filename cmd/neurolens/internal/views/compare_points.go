package views

import (
	"fmt"
	"math"
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/judge"
)

// planned is how often points were planned to be looked at while they were measured; 0: they were not.
func (w Comparison) planned() (looks int) {
	for _, p := range w.C.Points {
		if p.Planned {
			looks = max(looks, p.Looks)
		}
	}
	return looks
}

// spends are the least and the most that a point with an interval may use of the level.
func (w Comparison) spends() (least, most float64) {
	least, most = 1, 0
	for _, p := range w.C.Points {
		if p.Spend > 0 && !math.IsNaN(p.Change) {
			least, most = min(least, p.Spend), max(most, p.Spend)
		}
	}
	return least, max(most, least)
}

// confidence is that of the intervals, in words: where these differ, that of most of them.
func (w Comparison) confidence() string {
	least, most := w.spends()
	percent := 100 * (1 - (1-judge.Confidence)*most)
	if percent > 99.99 { // no interval holds always
		return ">99.99 %"
	}
	text := fmt.Sprintf("%.4g %%", percent)
	if least < most {
		return "≥" + text
	}
	return text
}

// confounded counts the points whose sides are compared as those of different sessions are. Of those of which it is known
// what sessions differ by, known is how many they are, noise that of ratios, and least the least number of sessions that tell it.
func (w Comparison) confounded() (points, known int, noise []float64, least int) {
	least = math.MaxInt
	for _, p := range w.C.Points {
		switch told := !math.IsNaN(p.SessionSD); {
		case told && !math.IsNaN(p.Change):
			points, known, least = points+1, known+1, min(least, p.History)
			if p.Ratio {
				noise = append(noise, p.SessionSD)
			}
		case told, p.Reason == judge.Sessions:
			points++
		}
	}
	return points, known, noise, least
}

// interleaved counts the points whose sides took turns, and those of them whose runs are compared block by block, of all that
// both sides have.
func (w Comparison) interleaved() (in, byBlock, of int) {
	for _, p := range w.C.Points {
		if math.IsNaN(p.Change) {
			continue
		}
		of++
		if p.Blocks > 0 {
			in++
		}
		if p.Method == judge.MethodBlocks {
			byBlock++
		}
	}
	return in, byBlock, of
}

// howInterleaved says what is compared with what in a session whose sides took turns.
func (w Comparison) howInterleaved() string {
	in, byBlock, of := w.interleaved()
	shared := 0 // sessions of both sides: the comparison leaves out sessions of the head alone
	for _, id := range w.C.Head.Sessions {
		if slices.Contains(w.C.Base.Sessions, id) {
			shared++
		}
	}
	text := oneOrMore(shared, "session") + ", interleaved"
	if in < of {
		text += fmt.Sprintf(" in %s of %s", term.Thousands(in), term.Count(of, w.noun()))
	}
	switch byBlock {
	case 0:
		return text + ": all runs of one side are compared with all runs of the other"
	case in:
		return text + ": the runs of each block are compared"
	}
	return text + fmt.Sprintf(": in %s of %s, the runs of each block are compared", term.Thousands(byBlock), term.Count(in, w.noun()))
}
