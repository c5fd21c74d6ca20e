package measuring

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// sidesLine says what is compared: base 1f552b0 · head 4668a7e + uncommitted changes.
func sidesLine(sides []runner.Side) string {
	const enough = 7
	var parts []string
	for _, s := range sides {
		part := s.Name + " " + s.Commit[:min(len(s.Commit), enough)]
		if s.Dirty {
			part += wording.Uncommitted
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " · ")
}

// planLines say what a session compares, what it goes on from, and why runs that are there do not count.
func planLines(p *runner.Plan) []string {
	var lines []string
	if len(p.Sides) > 0 {
		lines = append(lines, sidesLine(p.Sides))
	}
	if p.Resumes != "" {
		lines = append(lines, fmt.Sprintf("goes on from session %s: %s of %s are there (--rerun all runs them again)",
			wording.ShortRun(p.Resumes), term.Thousands(p.Done), term.Count(len(p.Launches), "run")))
	}
	for _, c := range p.Changes {
		lines = append(lines, term.OneLine(fmt.Sprintf("%s was %s, is %s: %s again", c.What, wording.HashText(c.From), wording.HashText(c.To), term.Count(c.Runs, "run"))))
	}
	return lines
}

// lookText says what a look has found: look 2 of 5 after 9 blocks: 9 of 12 points are settled.
func lookText(l *runner.Look) string {
	return fmt.Sprintf("look %d of %d after %s: %s of %s settled", l.Number, l.Planned, term.Count(l.Blocks, "block"), term.Thousands(l.Conclusive()), term.Count(l.Points, "point"))
}

// preparation says what is being done before something can be measured.
func (d description) preparation(e runner.Event) string {
	switch {
	case e.Waiting != "":
		return term.OneLine("waiting  " + e.Waiting)
	case e.Reference != nil:
		return d.referenceText(e)
	}
	words := make([]string, len(e.Build))
	for i, word := range e.Build {
		words[i] = term.ShellWord(word)
	}
	return term.OneLine("build  " + strings.Join(words, " "))
}

// referenceText names what outputs are compared with, and why there is nothing to compare with, if there is nothing.
func (d description) referenceText(e runner.Event) string {
	name := e.Reference.File
	if name == "" {
		name = cmp.Or(d.names[e.Launch.Point.PointID], e.Launch.Point.Describe())
	}
	if e.Reference.Function != "" {
		name = e.Reference.Function + " of " + name
	}
	if d.against {
		name += " " + sides[e.Launch.Side]
	}
	text := "reference  " + name
	if e.Reference.Problem != "" {
		text += "  " + e.Reference.Problem + "; runs that are compared with it are unchecked"
	}
	return term.OneLine(text)
}

// loadText says that the machine is busy, if it is.
func loadText(env *schema.Env) string {
	load := sessionLoad(env)
	if load == nil || env.CPUCount == nil || *load <= float64(*env.CPUCount)/2 {
		return ""
	}
	return fmt.Sprintf("load %.1f on %s: expect noise", *load, term.Count(int(*env.CPUCount), "core"))
}

// sessionLoad is how many threads wanted to run when the session began; nil where that is not known.
func sessionLoad(env *schema.Env) *float64 {
	load, err := strconv.ParseFloat(env.Facts["load.1m"], 64)
	if err != nil {
		return nil
	}
	return &load
}

// primary summarises the primary metric of a run; nil where it has none.
func primary(r *schema.Run) (*schema.Metric, schema.Summary) {
	m := r.Metric(r.Primary)
	if m == nil {
		return nil, schema.Summary{}
	}
	return m, stat.Summarize(m.Values())
}

// resultText is how a run ended, in a few words: of one that is ok what it has of some metrics, of its primary one where none
// is named.
func resultText(r *schema.Run, metrics []string) string {
	m, s := primary(r)
	switch {
	case r.Status != schema.StatusOK:
	case len(metrics) > 0:
		return metricsText(r, metrics)
	case m != nil && m.Name != schema.PrimaryMetric:
		return metricsText(r, []string{m.Name})
	case m != nil && s.P50 != nil:
		return fmt.Sprintf("%s  median of %d", schema.ForPeople(*s.P50, m.Unit), *s.N)
	}
	text := string(r.Status)
	if r.Stage != "" {
		text += " in " + string(r.Stage)
	}
	if reason := term.FirstLine(r.Error); reason != "" && reason != string(r.Status) {
		text += ": " + reason
	}
	return term.OneLine(text)
}

// settledText says how a session ended that went on until it was settled: all 12 points are settled after 9 blocks, or 3 of
// 12 points are not settled after 30 blocks: noise.
func settledText(l *runner.Look) string {
	after := " after " + term.Count(l.Blocks, "block")
	points := "all " + term.Count(l.Points, "point") + " are"
	if l.Points == 1 {
		points = "the point is"
	}
	if len(l.Open) == 0 {
		return points + " settled" + after
	}
	if l.Points > 1 {
		are := "are"
		if len(l.Open) == 1 {
			are = "is"
		}
		points = fmt.Sprintf("%s of %s %s", term.Thousands(len(l.Open)), term.Count(l.Points, "point"), are)
	}
	reasons := map[string]int{}
	for _, reason := range l.Open {
		reasons[reason]++
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		if len(reasons) > 1 {
			reason += ": " + term.Thousands(reasons[reason])
		}
		parts = append(parts, reason)
	}
	return points + " not settled" + after + ": " + strings.Join(parts, ", ")
}

// statusCounts says how the runs of a session ended: 60 runs: 54 ok, 5 unsupported, 1 timeout.
func statusCounts(r runner.Result) string {
	var parts []string
	for _, status := range schema.Statuses {
		if n := r.Statuses[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", term.Thousands(n), status))
		}
	}
	return term.Count(r.Runs(), "run") + ": " + strings.Join(parts, ", ")
}

// GoesOn says how the rest of an unfinished session is run.
func GoesOn(o runner.Options) string {
	switch {
	case o.Against != "":
		return "two sides are measured in one session, another --against begins anew"
	case o.Done == nil:
		return "a line is measured anew each time; a sweep file goes on, and --print-sweep writes one"
	case o.Rerun == runner.RerunAll:
		return "the same command without --rerun all goes on"
	}
	return "the same command goes on"
}

// NothingMeasured says why no run of a session has measured anything.
func NothingMeasured(r runner.Result) string {
	line := "nothing was measured: " + statusCounts(r)
	if r.Why != "" {
		line += ": " + r.Why
	}
	return line
}

// FileNotes say what a user should know of the files that runs have left: those that are not kept, and patterns that found none.
func FileNotes(f runner.Files) []string {
	var lines []string
	if f.NotKept > 0 {
		lines = append(lines, fmt.Sprintf("%d of %s %s not kept: %s; show RUN --files says which", f.NotKept, term.Count(f.Kept+f.NotKept, "file"), term.IsAre(f.NotKept), f.Why))
	}
	const shown = 3
	for i, pattern := range f.Unmatched {
		if i == shown {
			lines = append(lines, fmt.Sprintf("artifacts: nor %s more", term.Thousands(len(f.Unmatched)-shown)))
			break
		}
		lines = append(lines, fmt.Sprintf("artifacts: no run has written a file %s", pattern))
	}
	return lines
}
