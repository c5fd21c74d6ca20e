package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// htmlWriter makes a document a page of HTML.
type htmlWriter struct {
	Maker
	d       *Document
	names   namer
	against []against
	page    *Page
}

// A page may have 400 kB and 150 bytes a point, of which its charts take what the rest leaves, and at least something.
const (
	pageRoom  = 400_000
	pointRoom = 150
)

// htmlPage makes a document a page of HTML: what changed first, with the charts that show it, then all that the Markdown has.
func (m Maker) htmlPage(d *Document, pictures Pictures) *Page {
	s := &htmlWriter{Maker: m, d: d, names: namerOf(d.Points), against: columnsOf(d)}
	s.page = &Page{
		Title: "Benchmark report", Subtitle: d.selected(strings.TrimSpace, strings.TrimSpace), Tallies: s.tallies(), Basis: capital(d.basis()) + ".",
		Made: fmt.Sprintf("Made %s by %s; all dates are in UTC.", d.MadeAt.Format("2006-01-02 15:04 UTC"), d.MadeBy), Room: pageRoom + pointRoom*len(d.Points),
	}
	if constants, _ := views.Axes(chartdata.SubjectsOf(d.Points), views.RunColumns); len(constants) > 0 {
		s.page.Subtitle += " · " + strings.Join(constants, " · ")
	}
	for _, a := range d.Answer {
		item := Item{Text: a.Text, Command: a.Command}
		switch a.Verdict {
		case "":
		case summary.Text(judge.Inconclusive), summary.RuleFarOff:
			item.Tone = chart.Warned
		default:
			item.Tone = toneOf(string(a.Verdict))
		}
		s.page.Answer = append(s.page.Answer, item)
	}
	s.trends(pictures.History)
	s.changes()
	s.failures(pictures.Outputs)
	s.pictures("axes", "Over the axes", pictures.Axes)
	s.next()
	s.leaders(pictures)
	s.pictures("samples", "Samples of each point", pictures.Points)
	for _, part := range pictures.More {
		s.add(part)
	}
	s.addTable(resourceTable(d, s.names))
	s.results()
	s.environment()
	return s.page
}

// Pictures are the charts of a page, by the section that they stand in.
type Pictures struct {
	Points, Axes, Best, History []*Chart
	Outputs                     []Output
	More                        []Section
}

// Output is what a run of a failure wrote last.
type Output struct {
	Failure, Cause       int // places in Document.Failures, and in its Causes
	Text, Lines, Command string
}

// HTML writes the document as a page.
func (m Maker) HTML(d *Document, pictures Pictures) func(w io.Writer) error {
	return func(w io.Writer) error { return m.htmlPage(d, pictures).Write(w, pen()) }
}

// add adds a section.
func (s *htmlWriter) add(part Section) { s.page.Sections = append(s.page.Sections, part) }

// addTable adds a section of a table, unless the table is empty.
func (s *htmlWriter) addTable(t *Table) {
	if t.dropEmpty(); len(t.Rows) > 0 {
		s.add(Section{ID: t.ID, Title: t.Title, Tables: []*Table{t}})
	}
}

// pictures is a section of charts alone.
func (s *htmlWriter) pictures(id, title string, charts []*Chart) {
	if len(charts) > 0 {
		s.add(Section{ID: id, Title: title, Figures: charts})
	}
}

// tallies returns what somebody wants to see first: how many points changed, where there is something to compare with, and how runs ended.
func (s *htmlWriter) tallies() (all []Tally) {
	add := func(n int, of string, tone chart.Tone) {
		if n > 0 {
			all = append(all, Tally{Count: term.Thousands(n), Of: of, Tone: tone})
		}
	}
	overSessions, off := map[judge.Verdict]int{}, 0
	for i := range s.d.Trends {
		overSessions[s.d.Trends[i].Verdict]++
		off += min(s.d.Trends[i].Off, 1)
	}
	for _, v := range []judge.Verdict{judge.Regressed, judge.Improved} {
		add(overSessions[v], string(v)+" over sessions", toneOf(string(v)))
	}
	add(off, "far off in "+term.Verb(off, "its newest session", "their newest sessions"), chart.Warned)
	verdicts := map[string]int{}
	for i := range s.d.Comparisons {
		for v, n := range s.d.Comparisons[i].Verdicts {
			verdicts[v] += n
		}
	}
	for _, v := range verdictOrder {
		if n := verdicts[string(v)]; v != judge.Unchanged || n > 0 {
			add(n, tallied(v, n), toneOf(string(v)))
		}
	}
	c := &s.d.Counts
	failed := 0
	for status, n := range c.ByStatus {
		if schema.Status(status).Failed() {
			failed += n
		}
	}
	add(failed-c.Wrong, "failed "+plural(failed-c.Wrong, "run"), chart.Failed)
	add(c.Wrong, plural(c.Wrong, "run")+" with a wrong result", chart.Failed)
	add(c.Points, plural(c.Points, "point"), "")
	add(c.Runs, plural(c.Runs, "run"), "")
	return all
}

// tallied says what pairs of a verdict are.
func tallied(verdict judge.Verdict, n int) string {
	switch verdict {
	case "missing":
		return plural(n, "point") + " missing on the head"
	case "added":
		return plural(n, "point") + " new on the head"
	case judge.Estimate:
		return plural(n, "pair") + " estimated"
	}
	return plural(n, "pair") + " " + string(verdict)
}

func plural(n int, noun string) string { return term.Verb(n, noun, noun+"s") }

// verdictOrder is the order in which pairs stand, the worst first.
var verdictOrder = []judge.Verdict{
	judge.Regressed, "failed", "missing", judge.Improved, "fixed", judge.Changed, judge.Inconclusive, judge.Estimate, judge.Unchanged, "unsupported", "added",
}

// toneOf returns the tone of a verdict.
func toneOf(verdict string) chart.Tone { return chartdata.ToneOf(judge.Verdict(verdict)) }

// quiet tells whether a verdict says of nothing that changed.
func quiet(verdict string) bool {
	return toneOf(verdict) == chart.Neutral || toneOf(verdict) == chart.Unchanged
}

// amount returns a cell of a value of a metric.
func amount[Name ~string](v *float64, unit summary.Text, metric Name) Cell {
	c := Cell{Text: quantity(v, unit, metric)}
	if v != nil {
		c.Stored = strconv.FormatFloat(*v, 'g', -1, 64)
	}
	return c
}

// ratioDigits is how many digits of a ratio that was computed are kept.
const ratioDigits = 4

// ratio returns a cell of a share or a factor.
func ratio(v *float64, text string) Cell {
	c := Cell{Text: text}
	if v != nil {
		c.Stored = strconv.FormatFloat(*v, 'g', ratioDigits, 64)
	}
	return c
}

// changeCell returns a cell of the change of a pair.
func changeCell(p *summary.Pair) Cell {
	c := ofPair(p)
	if c.Scale == summary.Text(schema.ScaleRatio) {
		return ratio(c.Size, c.size())
	}
	return Cell{Text: c.size()}
}

// environment says where the runs were measured in a line, with all facts folded below it: those in which they differ first.
func (s *htmlWriter) environment() {
	t := &Table{ID: "facts", Title: "Environment", Columns: []Column{{Header: "fact"}, {Header: "value"}, {Header: "runs", Right: true}}}
	var same, differing []string
	for _, differ := range []bool{true, false} {
		for _, fact := range s.d.Environment {
			if len(fact.Values) == 0 || differ != (len(fact.Values) > 1 || fact.Unknown > 0) {
				continue
			}
			t.Rows = append(t.Rows, factRows(&fact, differ)...)
			switch {
			case !differ:
				same = append(same, environmentNames[fact.Name]+" "+environmentText(fact.Name, fact.Values[0].Value))
			case fact.Unknown > 0:
				differing = append(differing, fmt.Sprintf("%s (%s, and unknown)", environmentNames[fact.Name], term.Count(len(fact.Values), "value")))
			default:
				differing = append(differing, fmt.Sprintf("%s (%s)", environmentNames[fact.Name], term.Count(len(fact.Values), "value")))
			}
		}
	}
	if len(t.Rows) == 0 {
		return
	}
	part := Section{ID: "environment", Title: "Where it was measured", Details: []Detail{{Title: "All facts", Part: Section{Tables: []*Table{t}}}}}
	if len(same) > 0 {
		part.Text = append(part.Text, "All runs: "+strings.Join(same, ", ")+".")
	}
	if len(differing) > 0 {
		part.Text = append(part.Text, "Runs differ in "+strings.Join(differing, ", ")+".")
	}
	s.add(part)
}

// factRows returns the values of a fact.
func factRows(fact *summary.Fact, differ bool) (rows []Row) {
	const most = 8
	add := func(value string, runs int) {
		r := Row{Cells: []Cell{{Text: environmentNames[fact.Name]}, {Text: value}, {Text: term.Thousands(runs)}}}
		if differ {
			r.Cells[0] = Cell{Text: environmentNames[fact.Name] + " (differs)", Tone: chart.Warned}
		}
		rows = append(rows, r)
	}
	others := 0
	for i, v := range fact.Values {
		if i >= most {
			others += v.Runs
			continue
		}
		add(environmentText(fact.Name, v.Value), v.Runs)
	}
	if others > 0 {
		add(term.Count(len(fact.Values)-most, "other value"), others)
	}
	if fact.Unknown > 0 {
		add("unknown", fact.Unknown)
	}
	return rows
}

// failures are how the runs that are not ok ended, with a hint each, the reasons, and what such runs wrote last.
func (s *htmlWriter) failures(outputs []Output) {
	part := Section{ID: "failures", Title: "Runs that are not ok"}
	p := markdownWriter{d: s.d, names: s.names}
	for i, f := range s.d.Failures {
		item := Item{Text: capital(failureName(&f)) + ": " + failureText(&f), Tone: chart.Failed, Command: s.command("ls", s.d.words(s.d.ending(&f))...)}
		if st := schema.Status(f.Status); !st.Failed() {
			item.Tone = ""
		}
		for _, c := range f.Causes {
			item.Lines += p.causeText(&c) + "\n"
		}
		if f.Others > 0 {
			item.Lines += "and " + term.Count(f.Others, "other reason") + "\n"
		}
		part.Items = append(part.Items, item)
		for _, o := range outputs {
			if o.Failure == i {
				part.Items = append(part.Items, Item{Text: o.Text, Lines: o.Lines, Command: o.Command})
			}
		}
	}
	if len(part.Items) > 0 {
		s.add(part)
	}
}

// next returns the section of commands to type, and below it the findings that no other section has.
func (s *htmlWriter) next() {
	part := Section{ID: "next", Title: "What to do next"}
	for _, r := range s.d.Recommendations {
		part.Items = append(part.Items, Item{Text: capital(r.Why) + ":", Command: r.Command})
	}
	if len(part.Items) > 0 {
		s.add(part)
	}
	part = Section{ID: "findings", Title: "What else was found"}
	p := markdownWriter{d: s.d, names: s.names}
	for _, f := range s.d.remarks() {
		part.Items = append(part.Items, Item{Text: capital(p.findingText(&f)) + "."})
	}
	if len(part.Items) > 0 {
		s.add(part)
	}
}

// leaders are the first points by rank of each machine and metric, and the points by two metrics.
func (s *htmlWriter) leaders(pictures Pictures) {
	part := Section{ID: "ranking", Title: "Points by rank", Figures: pictures.Best}
	for i := range s.d.Leaderboards {
		b := &s.d.Leaderboards[i]
		if !s.d.comparable(b) || len(part.Tables) >= maxBoards {
			continue
		}
		t := &Table{ID: fmt.Sprintf("ranking-%d", i+1), Title: "Points by " + b.Metric, Text: []string{boardText(b) + "."}, Command: s.ofPoint(), Columns: []Column{
			{Header: "rank", Right: true}, {Header: "point"}, {Header: b.Metric, Unit: string(b.Unit), Right: true, Stored: true}, {Header: "runs", Right: true},
		}}
		for k := range b.Best {
			l := &b.Best[k]
			t.Rows = append(t.Rows, Row{Key: string(l.PointID), Cells: []Cell{
				{Text: fmt.Sprint(l.Rank)}, {Text: s.names.name(&l.Subject)}, amount(l.Median, b.Unit, b.Metric), {Text: term.Thousands(l.Runs)},
			}})
		}
		part.Tables = append(part.Tables, t)
	}
	switch {
	case len(part.Tables) > 0:
		s.add(part)
	case len(part.Figures) > 0:
		part.Title = "Two metrics of each point"
		s.add(part)
	}
}

// maxBoards is how many leaderboards a page has: one for each machine and metric.
const maxBoards = 8

// maxPairs is how many pairs a table of changes has; all of them stand in the table of points.
const maxPairs = 100

// fewPairs is how many pairs the chart of changes shows so well that a scatter says no more.
const fewPairs = 12

// changes are the comparisons: what changed, the worst first, and then the rest.
func (s *htmlWriter) changes() {
	for i := range s.d.Comparisons {
		c := &s.d.Comparisons[i]
		title := "What changed against the base"
		if c.Axis != "side" {
			title = "Compared with " + c.Name()
		}
		part := Section{ID: fmt.Sprintf("changes-%d", i+1), Title: title, Text: []string{s.d.verdictsText(c)}}
		changed, rest := s.ranked(i)
		byChange := slices.Concat(changed, rest)
		if chart := s.forest(c, byChange); chart != nil {
			part.Figures = append(part.Figures, chart)
		}
		if chart := s.scatter(c, byChange); chart != nil && len(byChange) > fewPairs {
			part.Figures = append(part.Figures, chart)
		}
		if len(changed) > 0 {
			part.Tables = append(part.Tables, s.pairs(part.ID, part.Title, changed))
		}
		restTable := func() *Table {
			title := "No change by verdict, against "
			if c.Verdicts[string(judge.Unchanged)] == 0 { // inconclusive is not "no change"
				title = "No verdict, against "
			} else if slices.ContainsFunc(rest, func(p *summary.Pair) bool { return judge.Verdict(p.Verdict) != judge.Unchanged }) {
				title = "No change or no verdict, against "
			}
			return s.pairs(part.ID+"-rest", title+c.Name(), rest)
		}
		switch {
		case len(rest) == 0:
		case len(changed) == 0:
			part.Tables = append(part.Tables, restTable())
		default:
			part.Details = append(part.Details, Detail{
				Title: "The rest: " + term.Count(len(rest), "pair") + " without a change by verdict", Part: Section{Tables: []*Table{restTable()}},
			})
		}
		if i == 0 && len(part.Tables) > 0 { // said once
			part.Tables[0].Below = append(part.Tables[0].Below, views.ChangeOfRuns)
		}
		s.add(part)
		s.differences(c)
	}
}

// maxDifferences is how many facts a table has in which two selections differ.
const maxDifferences = 40

// differences are the facts in which two selections differ.
func (s *htmlWriter) differences(c *summary.Comparison) {
	all := slices.DeleteFunc(slices.Clone(c.Differs), func(d summary.Difference) bool { return strings.HasPrefix(d.Name, "env.source.") }) // which file was imported
	if len(all) == 0 {
		return
	}
	t := &Table{ID: "differs", Title: "What differs between base and head", Columns: []Column{{Header: "kind"}, {Header: "fact"}, {Header: "base", Long: true}, {Header: "head", Long: true}}}
	changing := func(d summary.Difference) bool { return max(len(d.Base), len(d.Head)) > maxFactValues } // from run to run, as the load does
	steady := func(d summary.Difference) bool { return !changing(d) }
	differs := slices.Concat(slices.DeleteFunc(slices.Clone(all), changing), slices.DeleteFunc(slices.Clone(all), steady))
	for i := range differs[:min(len(differs), maxDifferences)] {
		d := &differs[i]
		name := cmp.Or(environmentNames[d.Name], views.DifferenceName(d.Name))
		t.add(string(d.Kind), name, factValues(d.Name, d.Base), factValues(d.Name, d.Head))
	}
	if more := len(all) - len(t.Rows); more > 0 {
		t.Below = append(t.Below, term.Count(more, "more fact")+" "+term.IsAre(more)+" in the JSON form (--json).")
	}
	s.add(Section{
		ID: "differs", Title: t.Title, Tables: []*Table{t},
		Items: []Item{{Text: "A different fact may cause a change, or only coincide with it. This command ranks them:", Command: explaining(s.Maker, s.d)}},
	})
}

// maxFactValues is how many values of a fact on a side are told.
const maxFactValues = 3

// factValues returns the values of a fact on a side.
func factValues(name string, values []string) string {
	const most = maxFactValues
	texts := term.Texts(values[:min(len(values), most)], func(v string) string { return cmp.Or(environmentText(name, v), v) })
	text := strings.Join(texts, ", ")
	if more := len(values) - most; more > 0 {
		text += fmt.Sprintf(" and %s more", term.Thousands(more))
	}
	return views.OrUnknown(text)
}

// maxTrends is how many series a table of changes over sessions has.
const maxTrends = 100

// trends returns the section of changes over sessions: the chart, and a row for each series.
func (s *htmlWriter) trends(charts []*Chart) {
	if len(s.d.Trends) == 0 {
		return
	}
	t := trendsTable(s.d, s.names, maxTrends)
	row := s.d.words("point_id~^KEY")
	if !s.d.pooled() {
		row = []string{term.ShellWord("point_id~^KEY")}
	}
	t.Command = s.command("history", row...)
	t.dropEmpty()
	s.add(Section{ID: t.ID, Title: t.Title, Figures: charts, Tables: []*Table{t}})
}

// ranked returns the pairs of a comparison: those that changed by verdict, the worst first, and the rest.
func (s *htmlWriter) ranked(comparison int) (changed, rest []*summary.Pair) {
	for i := range s.d.Pairs {
		p := &s.d.Pairs[i]
		switch {
		case p.Comparison != comparison:
		case quiet(p.Verdict):
			rest = append(rest, p)
		default:
			changed = append(changed, p)
		}
	}
	order := func(a, b *summary.Pair) int {
		place := func(p *summary.Pair) int { return slices.Index(verdictOrder, judge.Verdict(p.Verdict)) }
		return cmp.Or(cmp.Compare(place(a), place(b)), byFactor(a, b))
	}
	slices.SortStableFunc(changed, order)
	slices.SortStableFunc(rest, order)
	return changed, rest
}

// byFactor compares pairs by the sizes of their changes, the largest first.
func byFactor(a, b *summary.Pair) int { return cmp.Compare(factor(b), factor(a)) }

// factor returns how many times as fast, or as slow, a pair is.
func factor(p *summary.Pair) float64 {
	if p.Speedup == nil || *p.Speedup <= 0 {
		return 0
	}
	return max(*p.Speedup, 1 / *p.Speedup)
}

// pairs returns a table of pairs.
func (s *htmlWriter) pairs(id, title string, pairs []*summary.Pair) *Table {
	shown := pairs[:min(len(pairs), maxPairs)]
	t := &Table{ID: id, Title: title, Command: s.ofPoint(), Columns: []Column{
		{Header: "point"},
		{Header: "base", Unit: unitOf(shown, func(p *summary.Pair) summary.Text { return p.Unit }), Right: true, Stored: true},
		{Header: "value", Unit: unitOf(shown, func(p *summary.Pair) summary.Text { return p.Unit }), Right: true, Stored: true},
		{Header: "change", Unit: "ratio", Right: true, Stored: true},
		{Header: levelOf(shown...), Right: true},
		{Header: "verdict"},
	}}
	for _, p := range shown {
		interval := cmp.Or(ofPair(p).interval(views.Interval), term.Unknown)
		verdict := verdictText(p)
		if p.Reason != "" {
			verdict += " (" + s.d.reasonText(string(p.Reason)) + ")"
		}
		t.Rows = append(t.Rows, Row{Key: string(p.PointID), Cells: []Cell{
			{Text: s.names.pair(p)},
			amount(p.Base, p.Unit, p.Metric), amount(p.Value, p.Unit, p.Metric), changeCell(p),
			{Text: interval},
			{Text: verdict, Tone: toneOf(p.Verdict)},
		}})
	}
	for _, flag := range []summary.Text{compare.FlagPaired, compare.FlagPairwise, compare.FlagRunMeans} {
		if slices.ContainsFunc(shown, func(p *summary.Pair) bool { return p.Estimator == flag }) {
			t.Below = append(t.Below, capital(estimatorWord(flag))+": "+views.FlagMeaning(string(flag))+".")
		}
	}
	if more := len(pairs) - len(shown); more > 0 {
		t.Below = append(t.Below, term.Count(more, "more pair")+" "+term.IsAre(more)+" in the table of all points.")
	}
	return t
}

// ofPoint returns the command that shows the runs of a point.
func (s *htmlWriter) ofPoint() string { return s.command("ls", s.d.words("point_id~^KEY")...) }

// unitOf returns the unit that rows have; empty where they differ.
func unitOf[Row any](rows []Row, unit func(Row) summary.Text) string {
	known := summary.Text("")
	for _, r := range rows {
		switch u := unit(r); {
		case u == "" || u == known:
		case known == "":
			known = u
		default:
			return ""
		}
	}
	return string(known)
}

// results is the table of all points.
func (s *htmlWriter) results() {
	if len(s.d.Points) == 0 {
		return
	}
	_, axes := views.Axes(chartdata.SubjectsOf(s.d.Points), views.RunColumns) // the top has what all have in common
	axes = readable(axes)
	if len(axes) == 0 { // one point: its name is the row
		axes = []views.Axis{{Name: "point", Values: slices.Repeat([]string{s.names.name(&s.d.Points[0].Subject)}, len(s.d.Points))}}
	}
	t := pointsTable(s.d.Points, axes, s.values(), s.sameRuns() == "", s.against)
	t.ID, t.Title, t.Command = "points", "All points", s.ofPoint()
	if text := s.d.pooledText(); text != "" {
		t.Text = append(t.Text, text)
	}
	if text := s.sameRuns(); text != "" && text != term.Unknown && s.d.Counts.ByStatus[string(schema.StatusOK)] > 0 {
		t.Text = append(t.Text, "Each point has "+text+" (runs × samples of a run).")
	}
	s.addTable(t)
}

// sameRuns returns how often points were measured where that is the same for all; empty where it is not.
func (s *htmlWriter) sameRuns() string {
	text := runsText(&s.d.Points[0])
	for i := range s.d.Points {
		if runsText(&s.d.Points[i]) != text {
			return ""
		}
	}
	return text
}

// lean is from how many points on a table has the columns alone that are read most: its file grows with them.
const lean = 1000

// values returns the columns of what was measured: the primary metric, how much it varies, and others beside it.
func (s *htmlWriter) values() (all []pointColumn) {
	primary := func(p *summary.Point) *summary.Value { return valueOf(p, string(p.Metric)) }
	names := map[string]bool{}
	for i := range s.d.Points {
		if metric := primary(&s.d.Points[i]).Metric; metric != "" {
			names[metric] = true
		}
	}
	header := strings.Join(slices.Collect(maps.Keys(names)), "")
	if len(names) != 1 {
		header = "value"
		all = append(all, pointColumn{Column{Header: "metric"}, func(_ int, p *summary.Point) Cell {
			return Cell{Text: views.OrUnknown(string(p.Metric))}
		}})
	}
	if len(s.d.Points) > lean {
		return append(all, metricColumns(s.d.Points, header, primary, measures-1)...)
	}
	all = append(all, metricColumns(s.d.Points, header, primary, measures)...)
	for _, metric := range s.others(names) {
		all = append(all, metricColumns(s.d.Points, metric, func(p *summary.Point) *summary.Value {
			if metric == string(p.Metric) {
				return &summary.Value{}
			}
			return valueOf(p, metric)
		}, 1)...)
	}
	return all
}

// others returns the metrics beside the primary ones that have columns.
func (s *htmlWriter) others(primary map[string]bool) (names []string) {
	const most = maxColumns - 1
	p := markdownWriter{d: s.d}
	for _, g := range s.d.Groups {
		metrics, _ := p.columns(&g)
		for _, name := range metrics {
			if !primary[name] && !slices.Contains(names, name) && len(names) < most {
				names = append(names, name)
			}
		}
	}
	return names
}
