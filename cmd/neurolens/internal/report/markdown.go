package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// markdownWriter writes a document as Markdown.
type markdownWriter struct {
	w       io.Writer
	d       *Document
	names   namer
	against []against
}

// markdown writes the document for people: a part each, and none of what there is nothing to say about.
func (d *Document) markdown(to io.Writer) error {
	w := bufio.NewWriter(to)
	p := markdownWriter{w, d, namerOf(d.Points), columnsOf(d)}
	p.head()
	p.trends()
	p.comparisons()
	p.recommendations()
	p.failures()
	p.results()
	p.leaders()
	p.resources()
	p.findings()
	p.counts()
	p.environment()
	return w.Flush() // with the first error
}

// line writes a paragraph of a line.
func (p markdownWriter) line(format string, args ...any) {
	fmt.Fprintf(p.w, "%s\n\n", term.MarkdownText(fmt.Sprintf(format, args...)))
}

// title writes a heading.
func (p markdownWriter) title(level int, text string) {
	fmt.Fprintf(p.w, "%s %s\n\n", strings.Repeat("#", level), term.MarkdownText(text))
}

// code returns a text that is shown as it is, within a line of Markdown.
func code(text string) string {
	text = term.OneLine(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return "`` " + text + " ``"
}

// head says what changed or is best, and what the report is about.
func (p markdownWriter) head() {
	d := p.d
	p.title(1, "Benchmark report")
	for _, a := range d.Answer {
		text := term.MarkdownText(a.Text)
		if lead, rest, found := strings.Cut(a.Text, ": "); found {
			text = "**" + term.MarkdownText(lead) + ":** " + term.MarkdownText(rest)
		}
		if strings.HasSuffix(a.Text, ":") {
			text += " " + code(a.Command)
		}
		fmt.Fprintf(p.w, "- %s\n", text)
	}
	fmt.Fprintln(p.w)
	fmt.Fprintf(p.w, "%s · made %s by %s · all dates are in UTC\n\n", d.selected(code, term.MarkdownText), d.MadeAt.Format("2006-01-02 15:04 UTC"), term.MarkdownText(d.MadeBy))
	p.line("%s.", d.basis())
}

// basis returns the number of runs of a report, and the limits of its numbers.
func (d *Document) basis() string {
	c := &d.Counts
	text := fmt.Sprintf("%s of %s: %s", term.Count(c.Runs, "run"), term.Count(c.Points, "point"), views.StatusCounts(c.ByStatus))
	if note := d.worth(); note != "" {
		text += "; " + note
	}
	return text
}

// selected says which runs the report is about, and when they ran, with filters and other text escaped.
func (d *Document) selected(filter, other func(string) string) string {
	s := &d.Selection
	layout := "2006-01-02 15:04 UTC"
	side := func(selection string, since *summary.Time) string {
		if at, ok := sessionAt(selection, since, layout); ok {
			return other(at)
		}
		return filter(selection)
	}
	if s.Base != "" {
		base, head := s.Since, s.Until
		for _, c := range d.Comparisons {
			for _, p := range c.Sides {
				if p.Side == "base" {
					base = p.Since
				} else {
					head = p.Since
				}
			}
		}
		if side(string(s.Head), head) == side(string(s.Base), base) {
			layout = "2006-01-02 15:04:05 UTC"
		}
		text := side(string(s.Head), head) + " against " + side(string(s.Base), base)
		if !summary.IsSession(string(s.Base)) || !summary.IsSession(string(s.Head)) {
			text += " · " + other(d.sessions())
		}
		return text
	}
	if at, ok := sessionAt(s.Filter, s.Since, layout); ok && s.Sessions == 1 {
		return other(at)
	}
	of := "all runs"
	if s.Filter != "" {
		of = filter(s.Filter)
	}
	return of + " · " + other(d.sessions())
}

// sessionAt names a session by its time instead of its id; ok is false for other filters, and without a time.
func sessionAt(selection string, since *summary.Time, layout string) (text string, ok bool) {
	if since == nil || !summary.IsSession(selection) {
		return "", false
	}
	return "session of " + since.Format(layout), true
}

// sessions says how many sessions the runs are of, and when they ran.
func (d *Document) sessions() string {
	s := &d.Selection
	text := term.Count(s.Sessions, "session")
	if s.Since == nil || s.Until == nil {
		return text
	}
	if since, until := day(s.Since), day(s.Until); since != until {
		return text + " from " + since + " to " + until
	}
	return text + " of " + day(s.Since)
}

// worth says what the numbers are worth where that is less than one thinks.
func (d *Document) worth() string {
	c := &d.Counts
	switch ok := c.ByStatus[string(schema.StatusOK)]; {
	case ok == 0:
		return "no run is ok: there are no numbers"
	case c.MeanOnly == ok:
		return "the files have only means, no samples and no medians: all numbers are estimates, without a verdict"
	case c.MeanOnly > 0:
		return fmt.Sprintf("the files have only means of %s: these numbers are estimates, without a verdict", term.Count(c.MeanOnly, "ok run"))
	case d.few() && len(d.Trends) > 0:
		return "no point has 3 ok runs: the numbers of this session alone are estimates"
	case d.few():
		return "no point has 3 ok runs: all numbers are estimates, without a verdict"
	}
	return ""
}

// few tells whether no point has the 3 ok runs that a verdict takes.
func (d *Document) few() bool {
	for i := range d.Points {
		if d.Points[i].OKRuns > 2 {
			return false
		}
	}
	return true
}

// environmentNames are the facts in words.
var environmentNames = map[string]string{
	"machine": "machine", "os": "operating system", "os_kernel": "kernel", "cpu_model": "CPU", "cpu_count": "CPUs", "memory_bytes": "memory",
	"gpu_name": "GPU", "gpu_count": "GPUs", "driver_version": "driver", "cuda_version": "CUDA", "python_version": "Python", "git_commit": "commit",
	"git_branch": "branch", "git_dirty": "uncommitted changes", "source": "measured by",
}

// environment says where the runs were measured; of facts in which they differ, how many runs have which value.
func (p markdownWriter) environment() {
	t := Table{Columns: []Column{{Header: "fact"}, {Header: "value"}, {Header: "runs", Right: true}}}
	for _, fact := range p.d.Environment {
		if len(fact.Values) == 0 {
			continue
		}
		name, values := environmentNames[fact.Name], fact.Values
		differ := len(values) > 1 || fact.Unknown > 0
		const most = 8
		for i, v := range values[:min(len(values), most)] {
			if i > 0 {
				name = ""
			}
			runs := ""
			if differ {
				runs = term.Thousands(v.Runs)
			}
			t.add(name, environmentText(fact.Name, v.Value), runs)
		}
		if more := len(values) - most; more > 0 {
			t.add("", "and "+term.Count(more, "other value"), "")
		}
		if fact.Unknown > 0 {
			t.add("", "unknown", term.Thousands(fact.Unknown))
		}
	}
	p.title(2, "Environment")
	if len(t.Rows) == 0 {
		p.line("The environment of the runs is unknown.")
		return
	}
	t.markdown(p.w)
}

// environmentText returns a value of a fact for people.
func environmentText(name, value string) string {
	switch name {
	case "git_commit":
		return views.HashText(value)
	case "git_dirty":
		return map[string]string{"true": "yes", "false": "no"}[value]
	case "memory_bytes":
		if q, err := schema.ParseQuantity(value); err == nil {
			return term.Quantity(q.Value, "B")
		}
	}
	return value
}

// counts says how runs ended. The numbers add up.
func (p markdownWriter) counts() {
	c := &p.d.Counts
	p.title(2, "Runs")
	t := Table{Columns: []Column{{Header: "status"}, {Header: "runs", Right: true}}}
	for _, status := range schema.Statuses {
		if n := c.ByStatus[string(status)]; n > 0 {
			t.add(string(status), term.Thousands(n))
		}
	}
	t.add("all", term.Thousands(c.Runs))
	t.markdown(p.w)
	rows := term.Count(c.Points, "point")
	if c.Rows != c.Points { // of several machines, sides or groups
		rows = fmt.Sprintf("%s in %s (one for each machine, side and group)", rows, term.Count(c.Rows, "row"))
	}
	p.line("%s: %s with only ok runs, %s with a failed run, %s with neither (unsupported or skipped).", rows, term.Thousands(c.OKPoints), term.Thousands(c.BadPoints), term.Thousands(c.OffPoints))
	if c.Profiled > 0 {
		p.line("%s of a profiler; their times are in no table.", term.Verb(c.Profiled, "1 run is a pass", term.Thousands(c.Profiled)+" runs are passes"))
	}
}

// widest is the width up to which the cells of a column are padded, so that one very long name does not pad all others.
const widest = 48

// dropEmpty drops the columns in which no row has anything.
func (t *Table) dropEmpty() {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[i].Text != "" && r.Cells[i].Text != term.Unknown }) {
			continue
		}
		t.Columns = slices.Delete(slices.Clone(t.Columns), i, i+1)
		for k := range t.Rows {
			t.Rows[k].Cells = slices.Delete(t.Rows[k].Cells, i, i+1)
		}
	}
}

// markdown writes the table in Markdown, with aligned columns, without empty columns, and with an empty line behind it.
func (t *Table) markdown(w io.Writer) {
	t.dropEmpty()
	widths, texts := make([]int, len(t.Columns)), make([][]string, len(t.Rows))
	header, rule := "|", "|"
	for i, c := range t.Columns {
		widths[i] = max(term.Width(cellText(c.Header)), 3)
		for k, row := range t.Rows {
			texts[k] = append(texts[k], cellText(row.Cells[i].Text))
			if n := term.Width(texts[k][i]); n <= widest {
				widths[i] = max(widths[i], n)
			}
		}
		header += " " + term.Pad(cellText(c.Header), widths[i], c.Right) + " |"
		dashes := strings.Repeat("-", widths[i]+1)
		if c.Right {
			rule += dashes + ":|"
		} else {
			rule += "-" + dashes + "|"
		}
	}
	fmt.Fprintf(w, "%s\n%s\n", header, rule)
	for _, row := range texts {
		line := "|"
		for i, text := range row {
			line += " " + term.Pad(text, widths[i], t.Columns[i].Right) + " |"
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

// cellText returns a text as a cell shows it: on one line, and none of its characters ends the cell. Very long ones are cut.
func cellText(text string) string {
	const most = 160
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return term.MarkdownText(strings.Join(strings.Fields(text), " "))
}

// leaders are the first points by rank of each machine and metric.
func (p markdownWriter) leaders() {
	var boards []*summary.Leaderboard
	for i := range p.d.Leaderboards {
		if b := &p.d.Leaderboards[i]; p.d.comparable(b) {
			boards = append(boards, b)
		}
	}
	if len(boards) == 0 {
		return
	}
	p.title(2, "Points by rank")
	for _, b := range boards {
		p.line("%s.", boardText(b))
		p.board(b)
	}
}

// comparable tells whether a leaderboard is for people: not if there are verdicts on changes, if its points are of different benchmarks, or
// if values are over many sessions.
func (d *Document) comparable(b *summary.Leaderboard) bool {
	return b.Ranked > 1 && !d.pooled() && len(d.Comparisons) == 0 && !slices.ContainsFunc(b.Best, func(l summary.Leader) bool { return l.Benchmark != b.Best[0].Benchmark })
}

// trendsTable has each point over sessions, what got worse first.
func trendsTable(d *Document, names namer, most int) *Table {
	shown := d.Trends[:min(len(d.Trends), most)]
	unit := unitOf(shown, func(t summary.Trend) summary.Text { return t.Unit })
	t := &Table{ID: "trends", Title: "What changed over sessions", Columns: []Column{
		{Header: "point"},
		{Header: "metric"},
		{Header: "verdict"},
		{Header: "before", Unit: unit, Right: true, Stored: true},
		{Header: "now", Unit: unit, Right: true, Stored: true},
		{Header: "change", Unit: "ratio", Right: true, Stored: true},
		{Header: "95 %", Right: true},
		{Header: "since"},
		{Header: "since (95 %)"},
		{Header: "commits"},
	}}
	for i := range shown {
		t.Rows = append(t.Rows, trendRow(&shown[i], names))
	}
	if metric := shown[0].Metric; !slices.ContainsFunc(shown, func(t summary.Trend) bool { return t.Metric != metric }) { // said once
		t.Columns = slices.Delete(t.Columns, 1, 2)
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, 1, 2)
		}
		t.Text = append(t.Text, metricText(string(metric), shown[0].Better))
	}
	if more := len(d.Trends) - len(shown); more > 0 {
		t.Below = append(t.Below, term.Count(more, "more row")+" "+term.IsAre(more)+" in the JSON form (--json).")
	}
	if slices.ContainsFunc(shown, func(t summary.Trend) bool { return t.Shift != nil }) {
		t.Below = append(t.Below, "Before and now are medians of sessions. "+views.ChangeOfSessions)
	}
	if slices.ContainsFunc(shown, func(t summary.Trend) bool { return onlyOff(&t) }) {
		t.Below = append(t.Below, "Of a series whose newest session is far off, before is the level and now is that session.")
	}
	return t
}

// metricText names a metric, and says which values of it are better.
func metricText(metric string, better summary.Text) string {
	if better == "" {
		return capital(metric) + "."
	}
	return fmt.Sprintf("%s, %s is better.", capital(metric), better)
}

// trendVerdict returns the verdict of a trend in words, as history has them.
func trendVerdict(r *summary.Trend) Cell {
	c := Cell{Text: strings.ReplaceAll(string(r.Verdict), "_", " "), Tone: toneOf(string(r.Verdict))}
	switch {
	case r.OldClock != nil && r.NewClock != nil:
		c.Text = string(r.Reason) + " (" + views.ClocksText(&query.Clocks{Base: *r.OldClock, Head: *r.NewClock}) + ")"
	case onlyOff(r):
		c = Cell{Text: "newest " + term.Verb(r.Off, "session", term.Thousands(r.Off)+" sessions") + " far off", Tone: chart.Warned}
	case r.Verdict == judge.Unchanged:
		c.Text = "no change found"
	case r.Ramp > 0 && r.Verdict == judge.Inconclusive:
		c.Text += ", slow change"
	case r.Ramp > 0 && r.Shift != nil && *r.Shift < 0:
		c.Text += ", falling"
	case r.Ramp > 0:
		c.Text += ", rising"
	}
	if r.Off > 0 && !onlyOff(r) {
		c.Text += ", newest " + ofDeparture(r).size()
	}
	if r.Failed > 0 {
		c = Cell{Text: c.Text + ", last " + term.Count(r.Failed, "session") + " failed", Tone: chart.Failed}
	}
	return c
}

// onlyOff reports whether all that is to be said about a trend is that its newest sessions are far off its level.
func onlyOff(r *summary.Trend) bool {
	return r.Off > 0 && (r.Verdict == judge.Unchanged || r.Verdict == summary.FewSessions)
}

// trendRow returns the row of a trend: the last change, or the difference between the newest session and its level.
func trendRow(r *summary.Trend, names namer) Row {
	row := func(before, now *float64, change, interval, since, places, commits string, shift *float64) Row {
		return Row{Key: string(r.PointID), Cells: []Cell{
			{Text: names.name(&r.Subject)},
			{Text: string(r.Metric)},
			trendVerdict(r),
			amount(before, r.Unit, r.Metric),
			amount(now, r.Unit, r.Metric),
			ratio(shift, change),
			{Text: cmp.Or(interval, term.Unknown)},
			{Text: cmp.Or(since, term.Unknown)},
			{Text: cmp.Or(places, term.Unknown)},
			{Text: cmp.Or(commits, term.Unknown)},
		}}
	}
	if onlyOff(r) {
		since := ""
		if r.OffSince != nil {
			since = day(r.OffSince)
		}
		return row(r.Level, r.OffValue, ofDeparture(r).size(), "", since, "", views.ShortCommit(string(r.OffCommit)), r.OffShift)
	}
	since, c := "", ofTrend(r)
	if r.Shift != nil {
		since = day(r.Since)
	}
	return row(r.OldLevel, r.Level, c.size(), c.interval(views.Interval), since, placesText(r), commitsText(r), r.Shift)
}

// trends writes the part about changes over sessions.
func (p markdownWriter) trends() {
	if len(p.d.Trends) == 0 {
		return
	}
	t := trendsTable(p.d, p.names, maxRows)
	p.title(2, t.Title)
	for _, text := range t.Text {
		p.line("%s", text)
	}
	t.markdown(p.w)
	if len(t.Below) > 0 {
		p.line("%s", strings.Join(t.Below, " "))
	}
}

// boardText says what a leaderboard ranks.
func boardText(b *summary.Leaderboard) string {
	where := ""
	if b.Machine != "" {
		where = " on " + string(b.Machine)
	}
	if b.Side != "" {
		where += ", " + string(b.Side)
	}
	text := fmt.Sprintf("%s, %s is better%s: the first %d of %s", b.Metric, b.Better, where, len(b.Best), term.Count(b.Ranked, "point"))
	if b.Wrong > 0 {
		text += fmt.Sprintf("; %s left out, with a wrong or unchecked result", term.Count(b.Wrong, "point"))
	}
	if b.Requests > 0 {
		text += fmt.Sprintf("; %s left out, with failed requests", term.Count(b.Requests, "point"))
	}
	if b.NoValue > 0 {
		text += fmt.Sprintf("; %s left out, without a value", term.Count(b.NoValue, "point"))
	}
	return text
}

// board is the table of a leaderboard.
func (p markdownWriter) board(b *summary.Leaderboard) {
	t := Table{Columns: []Column{{Header: "rank", Right: true}}}
	subjects := make([]views.Subject, len(b.Best))
	for i := range b.Best {
		subjects[i] = views.Subject{Point: b.Best[i].Point()}
	}
	_, axes := views.Axes(subjects, views.IdentityColumns)
	axes = readable(axes)
	for _, x := range axes {
		t.Columns = append(t.Columns, axisColumn(x))
	}
	t.Columns = append(t.Columns, Column{Header: b.Metric, Right: true}, Column{Header: "runs", Right: true})
	for i := range b.Best {
		leader := &b.Best[i]
		cells := []string{fmt.Sprint(leader.Rank)}
		for _, x := range axes {
			cells = append(cells, views.AxisCell(x, i).Text)
		}
		t.add(append(cells, quantity(leader.Median, b.Unit, b.Metric), term.Thousands(leader.Runs))...)
	}
	t.markdown(p.w)
}

// resourceTable has the memory and the energy that points took.
func resourceTable(d *Document, names namer) *Table {
	t := &Table{ID: "resources", Title: "Memory and energy", Columns: []Column{
		{Header: "metric"},
		{Header: "points", Right: true},
		{Header: "lowest", Right: true, Stored: true},
		{Header: "median", Right: true, Stored: true},
		{Header: "highest", Right: true, Stored: true},
		{Header: "highest at"},
	}}
	for _, r := range d.Resources {
		t.Rows = append(t.Rows, Row{Key: string(r.At.PointID), Cells: []Cell{
			{Text: r.Metric}, {Text: term.Thousands(r.Points)}, amount(r.Lowest, r.Unit, r.Metric), amount(r.Median, r.Unit, r.Metric), amount(r.Highest, r.Unit, r.Metric), {Text: names.name(&r.At)},
		}})
	}
	return t
}

func (p markdownWriter) resources() {
	if t := resourceTable(p.d, p.names); len(t.Rows) > 0 {
		p.title(2, t.Title)
		t.markdown(p.w)
	}
}

// failures are how the runs that are not ok ended, with a hint each.
func (p markdownWriter) failures() {
	if len(p.d.Failures) == 0 {
		return
	}
	p.title(2, "Runs that are not ok")
	for _, f := range p.d.Failures {
		fmt.Fprintf(p.w, "- **%s**: %s\n", failureName(&f), term.MarkdownText(failureText(&f)))
		for _, c := range f.Causes {
			fmt.Fprintf(p.w, "  - %s\n", term.MarkdownText(p.causeText(&c)))
		}
		if f.Others > 0 {
			fmt.Fprintf(p.w, "  - and %s\n", term.Count(f.Others, "other reason"))
		}
	}
	fmt.Fprintln(p.w)
}

// failureName returns how some runs ended, in a word or two.
func failureName(f *Failure) string {
	if f.Wrong {
		return views.WrongResult
	}
	return f.Status
}

// ending returns a filter of the runs that ended so.
func (d *Document) ending(f *Failure) string {
	switch {
	case f.Wrong:
		return wrongResult
	case f.Status == string(schema.StatusError) && d.Counts.Wrong > 0:
		return "status=error not (" + wrongResult + ")"
	}
	return "status=" + f.Status
}

// wrongResult is a filter of runs with a wrong result.
var wrongResult = "status=error stage=validate error_kind~^(" + strings.Join(schema.WrongResults, "|") + ")$"

// failureText says how many runs ended so, and what to do about it.
func failureText(f *Failure) string {
	return fmt.Sprintf("%s of %s. %s.", term.Count(f.Runs, "run"), term.Count(f.Points, "point"), capital(f.Hint))
}

// causeText returns a reason in words, with the point that has it, or the number of points and the first of them.
func (p markdownWriter) causeText(c *summary.Cause) string {
	const most = 200
	why := strings.Join(strings.Fields(string(c.Error)), " ")
	if why == "" {
		why = cmp.Or(string(c.ErrorKind), "no message is stored")
	}
	if all := []rune(why); len(all) > most {
		why = string(all[:most-1]) + "…"
	}
	where := p.names.name(&c.Example)
	if c.Points > 1 {
		where = term.Count(c.Points, "point") + ", such as " + where
	}
	return fmt.Sprintf("%s of %s: %s", term.Count(c.Runs, "run"), where, why)
}

// findings are what rules found.
func (p markdownWriter) findings() {
	if len(p.d.remarks()) == 0 {
		return
	}
	p.title(2, "Findings")
	for _, f := range p.d.remarks() {
		fmt.Fprintf(p.w, "- `%s`: %s\n", f.Rule, term.MarkdownText(p.findingText(&f)))
	}
	fmt.Fprintln(p.w)
}

// findingText returns a finding, with points that show it where they are not most.
func (p markdownWriter) findingText(f *Finding) string {
	if len(f.Examples) == 0 || f.Points > p.d.Counts.Rows/2+1 {
		return f.Text
	}
	names := make([]string, len(f.Examples))
	for i := range f.Examples {
		names[i] = p.names.name(&f.Examples[i])
	}
	if f.Points > len(names) {
		names = append(names, "…")
	}
	return f.Text + " (" + strings.Join(names, "; ") + ")"
}

// recommendations are commands to type.
func (p markdownWriter) recommendations() {
	if len(p.d.Recommendations) == 0 {
		return
	}
	p.title(2, "What to do next")
	for _, r := range p.d.Recommendations {
		fmt.Fprintf(p.w, "- %s: %s (`%s`)\n", code(r.Command), term.MarkdownText(r.Why), r.Rule)
	}
	fmt.Fprintln(p.w)
}
