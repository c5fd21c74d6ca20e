package progress

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
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
			part += views.Uncommitted
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
	if own := p.OwnSweep; own.File != "" {
		line := own.File + " differs from that of base: both sides run yours"
		if own.Alone {
			line += ", and no other file differs, so both run the same"
		}
		lines = append(lines, term.OneLine(line))
	}
	switch {
	case p.Campaign != "":
		lines = append(lines, term.OneLine(fmt.Sprintf("campaign %s: %s of %s are stored already", p.Campaign, term.Thousands(p.Done), term.Count(len(p.Launches), "run"))))
	case p.Resumes != "":
		lines = append(lines, fmt.Sprintf("continues session %s: %s of %s are stored already (--rerun all measures them again)",
			views.ShortRun(p.Resumes), term.Thousands(p.Done), term.Count(len(p.Launches), "run")))
	}
	lines = append(lines, changeLines(p)...)
	lines = append(lines, failingLines(p)...)
	for _, device := range p.Busy {
		lines = append(lines, term.OneLine("warning: left out: "+device))
	}
	if n := len(p.Secrets); n > 0 {
		text := "warning: stored with the runs, because it names what is measured: " + p.Secrets[0]
		if n > 1 {
			text += fmt.Sprintf(" and %s more", term.Thousands(n-1))
		}
		lines = append(lines, term.OneLine(text+": it looks like a secret, pass it in the environment"))
	}
	return lines
}

// changeLines say why stored runs do not count, and of which files it does not matter that they differ.
func changeLines(p *runner.Plan) []string {
	repeated := func(n int) string { return term.Count(n, "run") + " to repeat" }
	if p.Campaign != "" { // of which parts may be of this code
		repeated = func(n int) string {
			return fmt.Sprintf("%s %s not count", term.Count(n, "stored run"), term.Verb(n, "does", "do"))
		}
	}
	var lines []string
	changed, order := map[string]int{}, []string(nil) // numbers of runs by line, and the lines in their order
	for _, c := range p.Changes {
		if c.Files != "" {
			lines = append(lines, term.OneLine(fmt.Sprintf("changed: %s: %s (a file that git ignores is no code)", someFiles(c.Files), repeated(c.Runs))))
			continue
		}
		text := views.ChangeText(c.What, views.HashText(c.From), views.HashText(c.To))
		if changed[text] == 0 {
			order = append(order, text)
		}
		changed[text] += c.Runs // hashes differ from point to point
	}
	for _, text := range order {
		lines = append(lines, term.OneLine(text+": "+repeated(changed[text])))
	}
	for _, c := range p.Ignored {
		lines = append(lines, term.OneLine(fmt.Sprintf("not taken for code: %s: new or changed since %s", someFiles(c.Files), term.Count(c.Runs, "stored run"))))
	}
	return lines
}

// someFiles names the first files of a list, and counts the others.
func someFiles(list string) string {
	const enough = 3
	files := strings.Split(list, ", ")
	if len(files) > enough {
		files = append(files[:enough:enough], fmt.Sprintf("and %s more", term.Thousands(len(files)-enough)))
	}
	return strings.Join(files, ", ")
}

// lookText says what a look found: look 2 of 5 after 9 blocks: 9 of 12 points have a verdict.
func lookText(l *runner.Look) string {
	return fmt.Sprintf("look %d of %d after %s: %s of %s %s a verdict", l.Number, l.Planned, term.Count(l.Blocks, "block"),
		term.Thousands(l.Conclusive()), term.Count(l.Points, "point"), term.Verb(l.Conclusive(), "has", "have"))
}

// preparation describes the preparation that an event reports, or results in the output of the first launch that nothing reads.
func (d description) preparation(e runner.Event) string {
	switch {
	case e.Waiting != "":
		return term.OneLine("waiting  " + e.Waiting)
	case e.Reference != nil:
		return d.referenceText(e)
	case e.Unread != nil:
		u := e.Unread
		return fmt.Sprintf("%s of %s that it prints %s not read: to store results, stop, and add --set %s",
			term.Count(u.Results, "result"), u.Format, term.Verb(u.Results, "is", "are"), term.ShellWord(readsResults(u.Format)))
	}
	return term.OneLine("build  " + term.ShellLine(e.Build...))
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
		text += "  " + e.Reference.Problem + "; results that need it are unchecked"
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

// sessionLoad returns how many threads wanted to run when the session began; nil where that is not known.
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

// resultText returns how a run ended, in a few words: of one that is ok what it has of some metrics, of its primary one where none
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

// verdictsText says how a session with --until-conclusive ended: all 12 points have a verdict after 9 blocks, or 3 of 12 points
// are still inconclusive after 30 blocks: noise.
func verdictsText(l *runner.Look) string {
	after := " after " + term.Count(l.Blocks, "block")
	switch open := len(l.Inconclusive); {
	case open == 0 && l.Points == 1:
		return "the point has a verdict" + after
	case open == 0:
		return term.All(l.Points, "point") + " have a verdict" + after
	case l.Points == 1:
		return "the point is still inconclusive" + after + ": " + reasonsText(l.Inconclusive)
	default:
		return fmt.Sprintf("%s of %s %s still inconclusive", term.Thousands(open), term.Count(l.Points, "point"), term.IsAre(open)) + after + ": " + reasonsText(l.Inconclusive)
	}
}

// precisionText says how precise the points of a session with --rel-error are or, if some are too imprecise, why they have no more runs and
// how many they need; empty: there is no such point. each is how long a run of all points takes; 0: unknown.
func precisionText(p *runner.Precision, each time.Duration) string {
	if p == nil || p.Points == 0 {
		return ""
	}
	bound := fmt.Sprintf("within %.4g %% after %s", 100*p.RelError, term.Count(p.Repeats, "run"))
	reached := ""
	if p.Reached > 0 {
		reached = fmt.Sprintf(": ±%s (95 %% interval)", views.Share(p.Reached))
	}
	switch {
	case p.Imprecise == 0 && p.Points == 1:
		return "the point is " + bound + reached
	case p.Imprecise == 0:
		return fmt.Sprintf("%s are within %.4g %% after at most %s", term.All(p.Points, "point"), 100*p.RelError, term.Count(p.Repeats, "run")) + strings.Replace(reached, "±", "at worst ±", 1)
	case p.Points > 1:
		reached = strings.Replace(reached, "±", "at worst ±", 1)
	}
	why := map[runner.Stop]string{runner.StopMaxTime: "; stopped by --max-time", runner.StopTimeout: "; stopped by timeouts.suite", runner.StopInterrupted: "; interrupted"}[p.Stopped]
	bound = "not " + bound + reached + why + neededText(p, each)
	if p.Points == 1 {
		return "the point is " + bound
	}
	return fmt.Sprintf("%s of %s %s %s", term.Thousands(p.Imprecise), term.Count(p.Points, "point"), term.IsAre(p.Imprecise), bound)
}

// neededText says how many runs the imprecise points need, and how long these take.
func neededText(p *runner.Precision, each time.Duration) string {
	switch {
	case p.Needed > 0:
		text := fmt.Sprintf("; it needs about %s", term.Count(p.Needed, "run"))
		if p.Stopped == runner.StopMaxRepeats {
			text += fmt.Sprintf(": --max-repeats %d", p.Needed)
		}
		if each > 0 {
			text += " (" + views.TimeText(time.Duration(p.Needed)*each) + ")"
		}
		return text
	case p.Reached > 0:
		return "; it needs more than 1,000 runs: measure on a quieter machine, or more work per run"
	case p.Stopped == runner.StopMaxRepeats:
		return "; --max-repeats allows more"
	}
	return ""
}

// reasonsText counts the reasons why points are inconclusive; a reason alone is not counted.
func reasonsText(open map[string]string) string {
	reasons := map[string]int{}
	for _, reason := range open {
		reasons[reason]++
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		if len(reasons) > 1 {
			reason += ": " + term.Thousands(reasons[reason])
		}
		parts = append(parts, reason)
	}
	return strings.Join(parts, ", ")
}

// statusCounts says how the runs of a session ended: 60 runs: 54 ok, 5 unsupported, 1 timeout.
func statusCounts(r runner.Result) string {
	return term.Count(r.Runs(), "run") + ": " + views.StatusCounts(r.Statuses)
}

// GoesOn says how the rest of an unfinished session is run.
func GoesOn(o runner.Options) string {
	switch {
	case o.Against != "":
		return "the same command starts over, because --against measures both sides in one session"
	case o.Done == nil:
		return "the same command starts over; a sweep file would continue (--print-sweep prints one)"
	case o.Rerun == runner.RerunAll:
		return "the same command without --rerun all continues"
	}
	return "the same command continues"
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
		lines = append(lines, fmt.Sprintf("%d of %s %s not kept: %s; show RUN --files lists them", f.NotKept, term.Count(f.Kept+f.NotKept, "file"), term.IsAre(f.NotKept), f.Why))
	}
	const shown = 3
	for i, pattern := range f.Unmatched {
		if i == shown {
			lines = append(lines, fmt.Sprintf("artifacts: and for %s more patterns", term.Thousands(len(f.Unmatched)-shown)))
			break
		}
		lines = append(lines, fmt.Sprintf("artifacts: no run wrote a file that matches %s", pattern))
	}
	return lines
}

// metricsText returns what a run has of metrics, each with its name: latency 412 µs  accuracy 97.9 %  medians of 3.
func metricsText(r *schema.Run, metrics []string) string {
	var parts []string
	samples, same := int64(0), true
	for _, metric := range metrics {
		value, n := term.Unknown, int64(0)
		if m := r.Metric(metric); m != nil {
			s := summaryOf(m)
			value = views.QuantityOf(answer.Value(cmp.Or(s.P50, s.Mean)), m.Unit, m.Name)
			if s.N != nil {
				n = *s.N
			}
		}
		parts = append(parts, metric+" "+value)
		if n > 0 {
			same = same && (samples == 0 || n == samples)
			samples = n
		}
	}
	switch {
	case samples == 0:
	case !same:
		parts = append(parts, "medians")
	case len(metrics) == 1:
		parts = append(parts, fmt.Sprintf("median of %d", samples))
	default:
		parts = append(parts, fmt.Sprintf("medians of %d", samples))
	}
	return strings.Join(parts, term.Gap)
}

// summaryOf sums a metric up: by its samples, or as it was told where there are none.
func summaryOf(m *schema.Metric) schema.Summary {
	if values := m.Values(); len(values) > 0 {
		return stat.Summarize(values)
	}
	return m.Summary
}

// metricMember returns what a run has of metrics, as a member of an object.
func metricMember(r *schema.Run, metrics []string) member {
	all := map[string]any{}
	for _, metric := range metrics {
		own := map[string]any{"unit": nil, "median": nil, "n_samples": nil}
		if m := r.Metric(metric); m != nil {
			s := summaryOf(m)
			own["unit"], own["median"], own["n_samples"] = answer.Text(m.Unit), answer.Statistic(s.P50), answer.Integer(s.N)
		}
		all[metric] = own
	}
	return member{"metrics", all}
}

// foreseen is a reason why points will not be measured.
type foreseen struct {
	why    string
	points int
	sides  map[int]bool // where
}

// foreseenOf lists the reasons that why has for the launches of a plan, in their order.
func foreseenOf(p *runner.Plan, why func(runner.Planned) string) []foreseen {
	var all []foreseen
	at, seen := map[string]int{}, map[[2]string]bool{}
	for _, l := range p.Launches {
		text := why(l)
		if text == "" || l.Done != nil {
			continue
		}
		if _, known := at[text]; !known {
			at[text] = len(all)
			all = append(all, foreseen{why: text, sides: map[int]bool{}})
		}
		f := &all[at[text]]
		f.sides[l.Launch.Side] = true
		if point := [2]string{text, l.Launch.Point.PointID}; !seen[point] {
			seen[point] = true
			f.points++
		}
	}
	return all
}

// failingLines say which points will fail or be skipped, where skip_if does not say it, and why, one line for each reason.
func failingLines(p *runner.Plan) []string {
	return append(foreseenLines(p, "will fail", failsBy), foreseenLines(p, "will be skipped", func(l runner.Planned) string { return l.Skips })...)
}

func failsBy(l runner.Planned) string { return l.Fails }

func foreseenLines(p *runner.Plan, what string, why func(runner.Planned) string) []string {
	const enough = 5
	var lines []string
	rest := 0
	for i, f := range foreseenOf(p, why) {
		if i >= enough {
			rest += f.points
			continue
		}
		where := ""
		if len(p.Sides) > 1 && len(f.sides) == 1 {
			for side := range f.sides {
				where = " on the " + sides[side]
			}
		}
		lines = append(lines, term.OneLine(term.Count(f.points, "point")+" "+what+where+": "+f.why))
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("%s more %s for other reasons: --dry-run --json lists all", term.Thousands(rest), what))
	}
	return lines
}
