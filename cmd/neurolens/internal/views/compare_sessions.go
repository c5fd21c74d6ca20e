package views

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// sessions explains the effect of sessions on the verdicts, and the confidence of the intervals.
func (w Comparison) sessions() []string { return append(w.betweenSessions(), w.looked()...) }

// betweenSessions explains the effect of different sessions on the verdicts.
func (w Comparison) betweenSessions() []string {
	c := w.C
	homeless := c.Base.NoSession + c.Head.NoSession
	same := homeless == 0 && slices.Equal(c.Base.Sessions, c.Head.Sessions)
	in, _, of := w.interleaved()
	confounded, known, noise, least := w.confounded()
	lines := w.leftOut()
	switch whole := confounded == 0 && len(lines) > 0; {
	case (same || whole) && in > 0:
		return slices.Concat([]string{w.howInterleaved()}, w.pooled(), lines)
	case whole:
		return lines
	}
	if slices.ContainsFunc(c.Points, func(p compare.Point) bool { return p.Repeats != nil && p.Reason == judge.Machines }) {
		return append(lines, w.decidesImported(term.Count(judge.MinHistory, "earlier session"), judge.MinHistory, ""))
	}
	otherwise := func(p compare.Point) bool { return !math.IsNaN(p.Change) && p.Reason != judge.Machines }
	if confounded == 0 && (same || !slices.ContainsFunc(c.Points, otherwise)) { // more sessions do not make two machines one
		return nil
	}
	what := "different sessions"
	switch {
	case same && len(c.Head.Sessions) == 1:
		what = "one session, but the sides ran far apart in time"
	case same:
		what = term.Count(len(c.Head.Sessions), "session") + ", but the sides ran far apart in time or unequally often"
	}
	if 0 < confounded && confounded < of {
		what += fmt.Sprintf(" (%s of %s)", term.Thousands(confounded), term.Count(of, w.noun()))
	}
	if homeless > 0 {
		lines = append(lines, fmt.Sprintf("the session of %s of %s is unknown, so their points get no verdict", term.Thousands(homeless), term.Count(c.Base.Runs+c.Head.Runs, "run")))
	}
	if known > 0 {
		text := fmt.Sprintf("%s, %d earlier ones known", what, least)
		if least == compare.MaxHistory { // there may be more
			text = fmt.Sprintf("%s, the newest %d earlier ones count", what, least)
		}
		if known < confounded {
			text += fmt.Sprintf(" for %s of %s", term.Thousands(known), term.Count(confounded, w.noun()))
		}
		if len(noise) > 0 {
			slices.Sort(noise)
			text += fmt.Sprintf(": noise between sessions ±%s (standard deviation, median point)", Share(noise[len(noise)/2]))
		}
		return append(lines, text)
	}
	if homeless > 0 || c.Base.Since == 0 || c.Head.Since == 0 {
		return append(lines, what+": no verdict, as the time or the session of some runs is unknown (started_at, session_id)")
	}
	return append(lines, w.withoutHistory(what)...)
}

// pooled says that sessions of other pairs of commits are taken together.
func (w Comparison) pooled() []string {
	if len(w.C.Head.Sessions) < 2 || max(len(w.C.Base.Commits), len(w.C.Head.Commits)) < 2 {
		return nil
	}
	return []string{"the sessions measured different commits, which are taken together; session=ID selects one session (ls --by session)"}
}

// leftOut counts the runs that were left out because their session has no run of the other side.
func (w Comparison) leftOut() []string {
	runs, points := 0, 0
	for _, p := range w.C.Points {
		if p.LeftOut > 0 {
			runs, points = runs+p.LeftOut, points+1
		}
	}
	if points == 0 {
		return nil
	}
	const shown = 3
	ids := term.Texts(w.C.LeftOut, ShortRun)
	name := "session " + ids[0]
	if len(ids) > 1 {
		name = "sessions " + strings.Join(ids[:min(shown, len(ids))], ", ")
	}
	if len(ids) > shown {
		name += " ..."
	}
	what := term.Count(runs, "run")
	if all := len(w.C.Points); all > 1 { // a run of the base may be left out at several
		what = fmt.Sprintf("in %s of %s, the runs", term.Thousands(points), term.Count(all, w.noun()))
	}
	return []string{fmt.Sprintf("left out: %s of %s, which ran one side only", what, name)}
}

// withoutHistory says why it is not known what sessions differ by, and what would settle it: of points without a verdict for
// that reason those of which least is known.
func (w Comparison) withoutHistory(what string) []string {
	history, gap := math.MaxInt, int64(0)
	for _, p := range w.C.Points {
		if p.Reason == judge.Sessions {
			history, gap = min(history, p.History), max(gap, p.Gap)
		}
	}
	far := ""
	if gap > 0 {
		far = " at least " + TimeText(time.Duration(gap)*time.Microsecond) + " apart"
	}
	why := fmt.Sprintf("%s: no verdict before %d earlier sessions%s show how much sessions differ", what, judge.MinHistory, far)
	switch {
	case w.Files != [2]string{}:
		why += " (a file has no earlier sessions)"
	case 0 <= history && history < judge.MinHistory:
		why += fmt.Sprintf(" (known: %d)", history)
	}
	if w.C.Base.Imported == 0 || w.C.Head.Imported == 0 {
		return []string{why, "to decide it: " + w.together()}
	}
	if w.repeatsKnown() {
		why += ", which " + w.confidence() + " and P leave out"
	}
	missing := judge.MinHistory - min(max(history, 0), judge.MinHistory-1)
	return []string{why, w.decidesImported(fmt.Sprintf("%d more", missing), missing, far)}
}

// runsSuffice reports whether some row would have a verdict if it were known how much sessions differ: sessions do not make up for repeats.
func (w Comparison) runsSuffice() bool {
	least := int64(judge.MinRuns)
	if w.Gate != "" {
		least = judge.FirmRuns
	}
	return slices.ContainsFunc(w.C.Rows, func(r compare.Row) bool {
		if r.Repeats != nil {
			return r.Repeats.Differ() || r.Repeats.Result == compare.RepeatsAlike
		}
		return r.Base != nil && r.Head != nil && min(r.Base.Runs, r.Head.Runs) >= least
	})
}

// decidesImported says what decides points of imported results: earlier sessions, so many where files are compared.
func (w Comparison) decidesImported(earlier string, ofFiles int, far string) string {
	machine := ""
	if len(w.C.Base.Machines)+len(w.C.Head.Machines) == 0 {
		if w.hardware() != "" {
			return "to decide it: bench both in turns on one machine"
		}
		machine = " (--machine NAME)"
	}
	if !w.runsSuffice() {
		return "to decide it: measure each benchmark more often, both in turns"
	}
	if w.Files != [2]string{} {
		earlier = fmt.Sprintf("both and %d earlier%s", ofFiles, far)
	}
	return "to decide it: bench both in turns, or ingest " + earlier + machine
}

// together advises how to measure both sides in turns: in a session that can decide all points, or in a new one.
func (w Comparison) together() string {
	id, one := "", true
	for _, p := range w.C.Points {
		if p.Reason == judge.Sessions {
			one = one && p.Decides != "" && (id == "" || id == p.Decides)
			id = p.Decides
		}
	}
	if one && id != "" {
		return "compare them in one session: add session_id=" + id + " to the filters"
	}
	if w.comparesPoints() {
		return "measure both alternately in one session with bench, which takes two programs, or a sweep with both (--rerun all measures again what is stored)"
	}
	return "measure both alternately in one session with bench, which takes two programs, variants of a sweep, or another commit (--against)"
}

// TimeText returns a duration, such as the time between two sessions, rounded up to whole units.
func TimeText(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return term.Count(int(math.Ceil(d.Hours()/24)), "day")
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.0f h", math.Ceil(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", math.Ceil(d.Minutes()))
	}
	return fmt.Sprintf("%.0f s", math.Ceil(d.Seconds()))
}

// looked says how sure points have to be that were looked at before, or may have been.
func (w Comparison) looked() []string {
	least, most := w.spends()
	surer := fmt.Sprintf("intervals have, and a change needs, a confidence of %s instead of %s", Confidence(1-judge.Level*least), Confidence(1-judge.Level))
	if least < most {
		surer = "for some points " + surer
	}
	planned := 0 // looks during measurement
	for _, p := range w.C.Points {
		if p.Planned {
			planned = max(planned, p.Looks)
		}
	}
	switch {
	case least == 1:
		return nil
	case planned == 0:
		return []string{"looked at after each session: " + surer}
	case len(w.C.Head.Sessions) > 1:
		return []string{"sessions with --until-conclusive, taken together: " + surer}
	default:
		return []string{fmt.Sprintf("looked at up to %s during measurement: %s", term.Count(planned, "time"), surer)}
	}
}

// minComputingShare is the least share of processor time in the latency of a program that counts as computing. It is small, because on a
// busy machine even a program that only computes waits for most of its latency.
const minComputingShare = .1

// ByProcessor returns a sentence for each point of a comparison whose latency is undecided and whose processor time, the second look, is
// decided.
func ByProcessor(c *compare.Comparison) []string { return contestOf(c).byProcessor(c) }

// byProcessor is ByProcessor for sides with names. Other work on the machine changes processor times less. It leaves out programs that
// mostly wait.
func (n contest) byProcessor(c *compare.Comparison) (lines []string) {
	latency := map[string]float64{} // undecided ones of the head, by point
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Metric == schema.PrimaryMetric && r.Verdict == judge.Inconclusive && r.Head != nil && r.Head.Value != nil {
			latency[r.BaseID+r.HeadID] = *r.Head.Value
		}
	}
	names := n.pointNames(c.SecondLook)
	for i := range c.SecondLook {
		r := &c.SecondLook[i]
		value, open := latency[r.BaseID+r.HeadID]
		decided := r.Verdict == judge.Improved || r.Verdict == judge.Regressed
		if open && decided && r.Head.Value != nil && *r.Head.Value >= minComputingShare*value && len(lines) < maxSentences {
			lines = append(lines, byMetric(r, n.line(r, names[i])))
		}
	}
	return lines
}

// byMetric names the metric of a row before its sentence.
func byMetric(r *compare.Row, line string) string { return "by " + r.Metric + ": " + line }
