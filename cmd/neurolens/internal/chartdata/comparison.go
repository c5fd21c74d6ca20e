package chartdata

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// ForestRows is how many rows of a comparison a forest has: more are too small to be read.
const ForestRows = 50

// worstOf says which rows are drawn where there are more.
const worstOf = "those with the worst verdicts, and of each the largest changes"

// Selection is the command line that a comparison is of.
type Selection struct {
	Selections []string
	Matrix     string // AXIS=VALUE; empty: there are two sides
}

// compared is what is drawn of a comparison.
type compared struct {
	Maker
	c     *compare.Comparison
	asked Selection
	of    rowKind
	scale schema.Scale                                    // of a forest
	only  func(key string) (conditions []string, ok bool) // views.PointFilter of the rows, with keyOfRow
	rows  []*compare.Row                                  // of this kind, and those that have none as their runs failed
	title string
	names []string
	notes []string
}

// rowKind is what the values of rows that are drawn together have in common.
type rowKind struct{ metric, unit string }

func kindOf(r *compare.Row) rowKind { return rowKind{r.Metric, r.Unit} }

// commonKind returns what most rows are of: a metric, where one row has any.
func commonKind(rows []compare.Row) (most rowKind) {
	counts := map[rowKind]int{}
	for i := range rows {
		k := kindOf(&rows[i])
		if most.metric == "" {
			most = k
		}
		if rows[i].Unit != "" || rows[i].Estimates != nil {
			if counts[k]++; counts[k] > counts[most] {
				most = k
			}
		}
	}
	return most
}

// compared chooses the rows that are of what most of them are.
func (m Maker) compared(c *compare.Comparison, asked Selection) (*compared, error) {
	if len(c.Rows) == 0 {
		return nil, refused("nothing to compare: neither side has a point with a value")
	}
	d := &compared{Maker: m, c: c, asked: asked, of: commonKind(c.Rows)}
	if d.of.metric == "" {
		return nil, refused("nothing to compare: every point failed on both sides; neurolens ls shows why")
	}
	var others []string
	var subjects []views.Subject
	for i := range c.Rows {
		r := &c.Rows[i]
		if kindOf(r) == d.of || r.Estimates == nil && r.Unit == "" && (r.Metric == d.of.metric || r.Metric == "") {
			d.rows = append(d.rows, r)
		} else if other := plain(r.Metric); !slices.Contains(others, other) {
			others = append(others, other)
		}
	}
	sortWorstFirst(d.rows)
	for _, r := range d.rows {
		subjects = append(subjects, views.Subject{Point: r.Identity})
	}
	d.title, d.names = named(subjects, append(slices.Clone(views.IdentityColumns), "machine"))
	d.only = views.PointFilter(subjects, term.Texts(d.rows, keyOfRow))
	d.addMatrix()
	d.notes = append(d.notes, d.open()...)
	if len(others) > 0 {
		d.notes = append(d.notes, "not drawn: other metrics or units: "+strings.Join(others, ", ")+" (choose one with --metric NAME)")
	}
	drawn, all := len(d.rows), 0
	for _, p := range c.Points {
		if p.Metric == d.of.metric || p.Metric == "" {
			all++
		}
	}
	if all > drawn {
		d.notes = append(d.notes, shown(drawn, all, "points", worstOf))
	}
	return d, nil
}

// sortWorstFirst orders rows by what is said of them, and of those of which the same is said the one first that got worse by most. Where it
// is not known which values are better, they stay as they were: the largest change first.
func sortWorstFirst(rows []*compare.Row) {
	rank := func(r *compare.Row) int {
		own, relative := slices.Index(compare.Verdicts, r.Verdict), slices.Index(compare.Verdicts, r.RelativeVerdict)
		if own < 0 || relative >= 0 && relative < own {
			return relative
		}
		return own
	}
	slices.SortStableFunc(rows, func(a, b *compare.Row) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(worseBy(b), worseBy(a)))
	})
}

// worseBy is by how much a row got worse: negative where it got better, and least where that is not known.
func worseBy(r *compare.Row) float64 {
	switch change := r.Point.Change; {
	case math.IsNaN(change):
		return math.Inf(-1)
	case schema.Better(r.Better) == schema.BetterLower:
		return change
	case schema.Better(r.Better) == schema.BetterHigher:
		return -change
	}
	return 0
}

// addMatrix names rows by the value of the axis that is compared, as well.
func (d *compared) addMatrix() {
	axis, reference, found := strings.Cut(d.asked.Matrix, "=")
	if !found {
		return
	}
	for i, r := range d.rows {
		value := valueOf(&views.Subject{Point: r.Identity}, schema.CanonicalAlias(axis))
		if word := plain(axis + "=" + value); !strings.Contains(" "+d.names[i]+" ", " "+value+" ") && !strings.Contains(d.names[i], word) {
			d.names[i] = word + " " + d.names[i]
		}
	}
	d.names = plainAll(d.names)
	d.title = plain(d.title + " against " + axis + "=" + reference)
}

// openFor says why points have no verdict, and what would settle them, the reason that bars the most first.
var openFor = []struct {
	reason judge.Reason
	why    string
}{
	{judge.Machines, "the sides ran on different machines, or on an unknown one"},
	{judge.Devices, "different GPUs of the machine measured the sides"},
	{judge.Sessions, "the sides are different sessions, and fewer than 7 earlier ones show how much sessions differ; measure both alternately in one session with bench, which takes two programs, variants of a sweep, or another commit (--against)"},
	{judge.Unsettled, "sessions differ more than they did; measure both alternately in one session"},
	{judge.Order, "one side ran before the other, and drift of the machine would look the same; bench alternates"},
	{judge.FewRuns, "too few runs"},
	{judge.Commits, "the sessions measured different commits; compare one session"},
	{judge.Noise, "too noisy to decide"},
	{judge.Quantised, "the clock is too coarse"},
}

// open returns notes that say why points are undecided, with what would settle them.
func (d *compared) open() (notes []string) {
	for _, o := range openFor {
		n, more := 0, 0
		for i := range d.c.Points {
			p := &d.c.Points[i]
			undecided := p.Verdict == judge.Inconclusive || p.Verdict == judge.Estimate
			if undecided && p.Reason == o.reason && p.Metric == d.metric() {
				n, more = n+1, max(more, p.MoreRuns)
			}
		}
		if n == 0 {
			continue
		}
		why := o.why
		if more > 0 && (o.reason == judge.FewRuns || o.reason == judge.Noise) {
			why += fmt.Sprintf("; up to %s per side may decide it", term.Count(more, "more run"))
		}
		notes = append(notes, fmt.Sprintf("%s without a verdict (%s): %s", term.Count(n, "point"), o.reason, why))
	}
	return notes
}

func (d *compared) metric() string { return d.of.metric }

func (d *compared) unit() string { return d.of.unit }

// better is which way values are better, as the first row that knows it says.
func (d *compared) better() chart.Better {
	for _, r := range d.rows {
		if known := better(r.Better); known != "" {
			return known
		}
	}
	return ""
}

// ToneOf returns the tone of a verdict.
func ToneOf(v judge.Verdict) chart.Tone {
	switch v {
	case judge.Regressed:
		return chart.Regressed
	case judge.Improved, compare.Fixed:
		return chart.Improved
	case judge.Changed:
		return chart.Warned
	case compare.Missing, compare.Failed:
		return chart.Failed
	case judge.Unchanged:
		return chart.Unchanged
	}
	return chart.Neutral
}

// byVerdict returns the marks of rows as a series for each verdict, the worst first.
func (d *compared) byVerdict(style chart.Style, mark func(i int, r *compare.Row) chart.Mark) []chart.Series {
	places := map[judge.Verdict]int{}
	var all []chart.Series
	for _, v := range d.verdicts() {
		places[v] = len(all)
		all = append(all, chart.Series{Style: style, Tone: ToneOf(v)}) // each mark has the word
	}
	for i, r := range d.rows {
		s := &all[places[r.Verdict]]
		k := mark(i, r)
		k.Point, k.Word, k.Text, k.Command = cmp.Or(r.HeadID, r.BaseID), string(views.ResultOf(&r.Point)), d.text(i, r), d.reproduced(r)
		s.Marks = append(s.Marks, k)
	}
	return all
}

// verdicts returns the verdicts of the rows, the worst first.
func (d *compared) verdicts() []judge.Verdict {
	var own, all []judge.Verdict
	for _, r := range d.rows {
		own = append(own, r.Verdict)
	}
	for _, v := range slices.Concat(compare.Verdicts, own) { // a verdict that is not listed comes last
		if slices.Contains(own, v) && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// text returns a row in words.
func (d *compared) text(i int, r *compare.Row) string {
	values := fmt.Sprintf("%s %s → %s", d.metric(), d.sideText(r, r.Base), d.sideText(r, r.Head))
	change := ""
	if e := r.Estimates; e != nil && views.Finite(e.Change) {
		if change = views.PointChange(r) + ", unknown interval"; views.Finite(e.Low) && views.Finite(e.High) {
			change = views.PointChange(r) + " (" + views.Ends(e.Low, e.High, r.Scale, r.Unit) + ")"
		}
	}
	verdict := string(views.ResultOf(&r.Point))
	if r.Reason != "" && r.Repeats == nil {
		verdict += " (" + string(r.Reason) + ")"
	}
	return sentence(d.names[i]+": "+values, change, verdict, plain(term.FirstLine(r.Failure)))
}

func (d *compared) sideText(r *compare.Row, s *compare.Measured) string {
	if s == nil || s.Value == nil {
		return term.Unknown
	}
	return quantity(*s.Value, r.Unit, r.Metric)
}

// oneScale keeps the rows of the scale that most rows have, because a ratio and a difference have no axis in common.
func (d *compared) oneScale() {
	counts := map[schema.Scale]int{}
	for _, r := range d.rows {
		if r.Estimates != nil {
			counts[r.Scale]++
		}
	}
	other := schema.ScaleDifference
	if d.scale = schema.ScaleRatio; counts[other] > counts[d.scale] {
		d.scale, other = other, d.scale
	}
	if counts[other] == 0 {
		return
	}
	var rows []*compare.Row
	var names []string
	for i, r := range d.rows {
		if r.Estimates == nil || r.Scale == d.scale {
			rows, names = append(rows, r), append(names, d.names[i])
		}
	}
	d.rows, d.names = rows, names
	d.notes = append(d.notes, fmt.Sprintf("not drawn: %s compared by %s", term.Count(counts[other], "point"), other))
}

// keyOfRow tells the rows of a comparison apart.
func keyOfRow(r *compare.Row) string { return r.BaseID + r.HeadID + r.Identity.Machine }

// reproduced compares the point of a row alone.
func (d *compared) reproduced(r *compare.Row) string {
	words := []string{"compare"}
	ids := []string{r.BaseID, r.HeadID}
	for i, selection := range d.asked.Selections {
		if id := ids[min(i, 1)]; id != "" && d.asked.Matrix == "" {
			conditions, ok := d.only(keyOfRow(r))
			if !ok {
				conditions = []string{"point_id=" + id}
			}
			selection = filter.JoinArguments(append([]string{selection}, conditions...)...)
		}
		words = append(words, selection)
	}
	if d.asked.Matrix != "" {
		words = append(words, "--matrix", d.asked.Matrix)
	}
	return d.command(append(words, "--metric", d.metric())...)
}

// margin returns the change that counts as none, as far as it is the same at all rows; NaN where it is not, or is 0.
func (d *compared) margin() (low, high float64, text string) {
	t, same := d.c.Thresholds[d.metric()]
	switch {
	case !same || t.Value == 0:
		return math.NaN(), math.NaN(), ""
	case t.Absolute:
		return -t.Value, t.Value, "below " + strings.TrimPrefix(views.SignedQuantity(t.Value, d.unit()), "+") + " counts as none"
	case d.scale == schema.ScaleDifference: // another amount of each point
		return math.NaN(), math.NaN(), ""
	}
	zone := math.Log1p(t.Value)
	return d.scale.Change(-zone), d.scale.Change(zone), "below " + views.Share(t.Value) + " counts as none"
}

// Forest draws the change of each point of a comparison with its interval, the worst first, against the margin within which there is none.
// It is of one metric: that of most rows.
func (m Maker) Forest(c *compare.Comparison, asked Selection) (*chart.Figure, error) {
	d, err := m.compared(c, asked)
	if err != nil {
		return nil, err
	}
	d.oneScale()
	if all := len(d.rows); all > ForestRows {
		d.rows, d.names = d.rows[:ForestRows], d.names[:ForestRows]
		d.notes = append(d.notes, shown(ForestRows, all, "points", worstOf))
	}
	f := &chart.Figure{Kind: chart.Forest, Title: titled("change of "+d.metric(), d.title), Notes: d.notes}
	f.X = chart.Axis{Label: "change of " + d.metric(), Unit: "ratio"}
	if d.scale == schema.ScaleDifference {
		f.X.Unit = views.RateUnit(d.metric(), d.unit())
	}
	f.X.Better = d.better()
	place := d.placed(f)
	f.Y = chart.Axis{Scale: chart.Categories, Categories: d.names}
	f.Series = d.byVerdict(chart.Intervals, func(i int, r *compare.Row) chart.Mark {
		k := chart.Mark{X: chart.Unknown(), Y: float64(i), Low: chart.Unknown(), High: chart.Unknown()}
		if e := r.Estimates; e != nil && views.Finite(e.Change) {
			k.X, k.Label = place(e.Change), views.PointChange(r)
			if views.Finite(e.Low) && views.Finite(e.High) {
				k.Low, k.High, k.Interval = place(e.Low), place(e.High), views.Ends(e.Low, e.High, r.Scale, r.Unit)
			}
		}
		return k
	})
	f.Guides = []chart.Guide{{Along: chart.Vertical, At: place(0), Until: place(0), Text: "no change"}}
	if low, high, text := d.margin(); text != "" {
		f.Guides = append(f.Guides, chart.Guide{Along: chart.Vertical, At: place(low), Until: place(high), Text: text})
	}
	switch t, same := d.c.Thresholds[d.metric()]; {
	case !same:
		f.Notes = append(f.Notes, "the threshold below which a change counts as none differs from row to row: it is that of each benchmark")
	case d.scale == schema.ScaleDifference && !t.Absolute:
		f.Notes = append(f.Notes, "a change below "+views.Share(t.Value)+" of the smaller side counts as none")
	}
	f.Notes = append(f.Notes, d.sides()...)
	return f, nil
}

// placed returns where a change lies. Changes and intervals by several times are ratios on a logarithmic axis, where a half is as far as a
// double.
func (d *compared) placed(f *chart.Figure) func(change float64) float64 {
	const several = 4
	large := slices.ContainsFunc(d.rows, func(r *compare.Row) bool {
		return r.Estimates != nil && slices.ContainsFunc([]float64{r.Estimates.Change, r.Estimates.Low, r.Estimates.High}, func(v float64) bool {
			return views.Finite(v) && math.Abs(math.Log1p(v)) > math.Log(several)
		})
	})
	if d.scale == schema.ScaleDifference || !large {
		return computed
	}
	f.X = chart.Axis{Label: d.metric() + ", head / base", Scale: chart.Log, Better: f.X.Better}
	return func(change float64) float64 { return computed(1 + change) }
}

// sides say what is compared with what.
func (d *compared) sides() []string {
	if d.asked.Matrix != "" {
		return nil
	}
	side := func(name string, s compare.Side) string {
		text := name + ": " + plain(s.Filter) + ", " + term.Count(s.Runs, "run")
		if len(s.Commits) == 1 {
			text += ", " + views.ShortCommit(s.Commits[0])
		}
		return text
	}
	return []string{side("base", d.c.Base), side("head", d.c.Head)}
}

// Scatter draws the head of each point of a comparison against its base. Points of which a side has no value are counted in a note.
func (m Maker) Scatter(c *compare.Comparison, asked Selection) (*chart.Figure, error) {
	d, err := m.compared(c, asked)
	if err != nil {
		return nil, err
	}
	var rows []*compare.Row
	var names []string
	var values []float64
	for i, r := range d.rows {
		if r.Base != nil && r.Head != nil && r.Base.Value != nil && r.Head.Value != nil && len(rows) < chart.MaxMarks {
			rows, names, values = append(rows, r), append(names, d.names[i]), append(values, *r.Base.Value, *r.Head.Value)
		}
	}
	if len(rows) == 0 {
		return nil, refused("no point has a value of %s on both sides; plot forest shows what each side has", d.metric())
	}
	f := &chart.Figure{Kind: chart.Scatter, Title: titled(d.metric()+", head against base", d.title), Notes: d.notes}
	if left := len(d.rows) - len(rows); left > 0 {
		f.Notes = append(f.Notes, term.Count(left, "point")+" not drawn: no value on one of the sides")
	}
	d.rows, d.names = rows, names
	scale := scaleOf(values)
	f.X = chart.Axis{Label: d.metric() + " of the base", Unit: views.RateUnit(d.metric(), d.unit()), Scale: scale}
	f.Y = chart.Axis{Label: d.metric() + " of the head", Unit: f.X.Unit, Scale: scale, Better: d.better()}
	f.Series = d.byVerdict(chart.Points, func(_ int, r *compare.Row) chart.Mark {
		return chart.Mark{X: computed(*r.Base.Value), Y: computed(*r.Head.Value), Low: chart.Unknown(), High: chart.Unknown()}
	})
	f.Guides = []chart.Guide{{Along: chart.Diagonal, Text: "no change"}}
	f.Notes = append(f.Notes, d.sides()...)
	return f, nil
}
