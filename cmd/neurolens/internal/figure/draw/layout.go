package draw

import (
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
)

const (
	edge       = 14.0
	titleSize  = 15.0
	textSize   = 11.5
	smallSize  = 11.0
	lineHeight = 16.0
)

// sheet is a figure on its way to a picture: what lies where.
type sheet struct {
	pen
	figure  *figure.Figure
	options Options
	size    box     // of the picture
	xs, ys  []*axis // of each panel; all the same one, unless panels have ranges of their own
	values  *axis   // of the colours of a heat map
	parts   []figure.Panel
	colours map[string]int // places of plain series, by name

	title  []string
	notes  []string
	legend [][]entry
	direct bool              // series are named at their ends
	ends   map[string]string // these names, as they have room there

	columns, rows int
	plots         box // all panels
	panelWidth    float64
	inset         float64 // room for names of ticks at the left of every panel
	strip         float64 // room for gaps below all values
	panelHeight   float64
	guideRows     int // lines of names above a panel
	turned        bool
	below         float64 // height of the names of ticks below a panel
	nothing       bool
	cellSize      float64 // of the letters in cells; 0: they have no room
}

// entry is a name in the legend, with what it stands for.
type entry struct {
	text   string
	width  float64
	sample func(s *sheet, x, y float64)
}

const (
	swatch     = 20.0
	panelGap   = 18.0
	panelTitle = 18.0
)

func newSheet(f *figure.Figure, o Options, slack float64) (*sheet, error) {
	if err := check(f, o); err != nil {
		return nil, err
	}
	parsed, err := fonts()
	if err != nil {
		return nil, err
	}
	s := &sheet{
		pen: pen{
			slack: slack, palette: newPalette(o.Dark), regular: parsed[0], bold: parsed[1], widths: map[letter]float64{},
		},
		figure: f, options: o, parts: f.Parts(), ends: map[string]string{},
	}
	if slack == drawnHere { // in the font of this program
		s.letters = &letters{font: parsed[0]}
	}
	if s.options.Width == 0 {
		s.options.Width = usualWidth
	}
	s.size = box{right: float64(max(s.options.Width, leastWidth))}
	s.nothing = f.Marks() == 0
	s.colours = coloursOf(s.parts)
	s.measure()
	s.arrange()
	return s, nil
}

// coloursOf gives each name a place among the colours, the same in all panels.
func coloursOf(parts []figure.Panel) map[string]int {
	places := map[string]int{}
	for _, part := range parts {
		for _, series := range part.Series {
			if _, known := places[series.Name]; !known && series.Tone == figure.Plain && series.Name != "" {
				places[series.Name] = len(places)
			}
		}
	}
	return places
}

// colour is the place of a series among the colours.
func (s *sheet) colour(series figure.Series, place int) int {
	if i, named := s.colours[series.Name]; named {
		return i
	}
	return place
}

// measure finds which values are to be seen.
func (s *sheet) measure() {
	f := s.figure
	ownX := f.X.Own && f.X.Scale != figure.Categories && f.Kind != figure.Heatmap
	ownY := f.Y.Own && f.Y.Scale != figure.Categories && f.Kind != figure.Heatmap
	values := &span{}
	alike := func(a figure.Axis) func(figure.Panel) figure.Axis { return func(figure.Panel) figure.Axis { return a } }
	s.xs = s.axes(alike(f.X), ownX, func(x *span, part figure.Panel) { s.spanX(x, part) })
	s.ys = s.axes(f.YOf, ownY, func(y *span, part figure.Panel) { s.spanY(y, part) })
	for _, part := range s.parts {
		eachMark(part, func(series figure.Series, m figure.Mark) {
			values.add(m.Value)
			if toneOf(series, m) == figure.Failed && !finite(m.Y) && f.Kind != figure.Forest && series.Style != figure.Cells {
				s.strip = 16
			}
		})
	}
	s.values = newAxis(f.Values, values)
	s.values.Low, s.values.High = values.ends()
	if s.sameBothWays() {
		both := &span{}
		for _, part := range s.parts {
			s.spanX(both, part)
			s.spanY(both, part)
		}
		x, y := newAxis(f.X, both), newAxis(f.Y, both)
		for i := range s.parts {
			s.xs[i], s.ys[i] = x, y
		}
	}
}

// axes are those of all panels along one side.
func (s *sheet) axes(specOf func(figure.Panel) figure.Axis, own bool, gather func(*span, figure.Panel)) []*axis {
	axes := make([]*axis, len(s.parts))
	shared := &span{}
	for i, part := range s.parts {
		each := shared
		if own {
			each = &span{}
		}
		gather(each, part)
		if own {
			axes[i] = newAxis(specOf(part), each)
			axes[i].own = true
		}
	}
	if own {
		return axes
	}
	spec := specOf(figure.Panel{})
	all := newAxis(spec, shared)
	if s.figure.Kind == figure.Heatmap && spec.Scale != figure.Categories {
		all = newOrdinal(spec, shared)
	}
	all.signed = s.figure.Kind == figure.Forest && all.spec.Scale == figure.Linear
	for i := range axes {
		axes[i] = all
	}
	return axes
}

// sameBothWays tells whether both axes are of the same, and are compared by a diagonal.
func (s *sheet) sameBothWays() bool {
	f := s.figure
	return f.X.Unit == f.Y.Unit && f.X.Scale == f.Y.Scale && !f.X.Own && !f.Y.Own &&
		slices.ContainsFunc(s.parts[0].Guides, func(g figure.Guide) bool { return g.Along == figure.Diagonal })
}

// spanX adds what is to be seen of a panel along.
func (s *sheet) spanX(x *span, part figure.Panel) {
	eachMark(part, func(series figure.Series, m figure.Mark) {
		x.add(m.X)
		if s.figure.Kind == figure.Forest && hasInterval(series.Style, m) {
			x.add(m.Low, m.High)
		}
	})
	for _, g := range part.Guides {
		switch {
		case g.Along != figure.Vertical || s.figure.X.Scale == figure.Time:
		case s.figure.Kind == figure.Forest:
			x.add(g.At, max(g.At, g.Until))
		default:
			x.addNear(g.At)
		}
	}
}

// spanY adds what is to be seen of a panel upwards.
func (s *sheet) spanY(y *span, part figure.Panel) {
	eachMark(part, func(series figure.Series, m figure.Mark) {
		y.add(m.Y)
		if s.figure.Kind != figure.Forest && hasInterval(series.Style, m) {
			y.add(m.Low, m.High)
		}
	})
	for _, g := range part.Guides {
		if g.Along == figure.Horizontal && s.figure.Y.Scale != figure.Time {
			y.addNear(g.At)
		}
	}
	if s.figure.Kind == figure.ECDF && len(y.values) > 0 {
		y.add(0)
	}
}

// hasInterval tells whether the ends of a mark say something: those of a mark that was made without any are both 0.
func hasInterval(style figure.Style, m figure.Mark) bool {
	return style == figure.Intervals || style == figure.Band || m.Low != 0 || m.High != 0
}

// arrange says what lies where, and how high the picture is.
func (s *sheet) arrange() {
	room := s.size.right - 2*edge
	if !s.options.Untitled {
		s.title = s.titleLines(room)
		for _, note := range s.figure.Notes {
			s.notes = append(s.notes, s.lines(note, smallSize, room, false)...)
		}
	}
	s.notes = append(s.notes, s.lines(s.letters.note(s.figure), smallSize, room, false)...)
	s.direct = s.namesAtEnds()
	s.legend = s.flow(s.entries(), room)
	above := edge + float64(len(s.title))*(titleSize+5) + 4
	above += float64(len(s.legend)) * (lineHeight + 2)
	if s.nothing {
		s.plots = box{edge, above + 8, s.size.right - edge, above + 8 + 120}
		s.height = s.plots.bottom + 12 + s.notesHeight()
		return
	}
	s.grid(room)
	// The height comes first: how many ticks have room depends on it, and how wide their names are on them.
	s.panelHeight = s.wantedHeight()
	s.divideUp()
	s.plots = box{left: edge, right: s.size.right - edge - s.namesRight(room)}
	names := s.namesLeft(room)
	if s.ys[0] != s.ys[len(s.ys)-1] {
		s.inset = names
	} else {
		s.plots.left += names
	}
	s.panelWidth = (s.plots.right-s.plots.left-panelGap*float64(s.columns-1))/float64(s.columns) - s.inset
	s.divideAlong()
	s.nameGuides(room)
	if s.ys[0].title != "" {
		above += lineHeight + 2
	}
	if len(s.figure.Panels) > 0 {
		above += panelTitle
	}
	s.plots.top = above + float64(s.guideRows)*15 + 6
	fixed := s.plots.top + s.below + s.xTitleHeight() + s.notesHeight()
	if wanted := float64(s.options.Height); wanted > 0 {
		each := (wanted-fixed)/float64(s.rows) - s.betweenRows()*float64(s.rows-1)/float64(s.rows)
		s.panelHeight = max(each, s.leastHeight())
		s.divideUp()
		s.namesLeft(room)
	}
	if s.figure.Kind == figure.Heatmap {
		s.sizeCells()
	}
	s.plots.bottom = s.plots.top + s.panelHeight*float64(s.rows) + s.betweenRows()*float64(s.rows-1)
	s.height = s.plots.bottom + s.below + s.xTitleHeight() + s.notesHeight()
}

// sizeCells finds letters of which the values of all cells have room in them.
func (s *sheet) sizeCells() {
	w, h := s.xs[0].each(s.panelWidth)-6, s.ys[0].each(s.panelHeight)-4
	for _, size := range []float64{textSize, 10, 9} {
		fits := size <= h
		for _, part := range s.parts {
			eachMark(part, func(_ figure.Series, m figure.Mark) {
				fits = fits && (!finite(m.Value) || s.width(quantity(m.Value, s.figure.Values.Unit), size, false) <= w)
			})
		}
		if fits {
			s.cellSize = size
			return
		}
	}
}

// divideUp makes the ticks at the left.
func (s *sheet) divideUp() {
	for _, y := range s.ys {
		y.divide(max(int(s.panelHeight/42), 3))
	}
}

// betweenRows is the distance of two rows of panels.
func (s *sheet) betweenRows() float64 {
	between := panelTitle + float64(s.guideRows)*15 + 14
	if s.ownX() {
		between += s.below
	}
	return between
}

// ownX tells whether panels have ranges of their own along.
func (s *sheet) ownX() bool { return s.xs[0] != s.xs[len(s.xs)-1] }

func (s *sheet) xTitleHeight() float64 {
	if s.xs[0].title == "" {
		return 6
	}
	return lineHeight + 6
}

func (s *sheet) notesHeight() float64 {
	if len(s.notes) == 0 {
		return edge
	}
	return 6 + float64(len(s.notes))*(smallSize+4) + edge
}

// titleLines are at most two.
func (s *sheet) titleLines(room float64) []string {
	if s.figure.Title == "" {
		return nil
	}
	lines := s.lines(s.figure.Title, titleSize, room, true)
	if len(lines) > 2 {
		lines = []string{lines[0], s.fit(strings.Join(lines[1:], " "), titleSize, room, true)}
	}
	return lines
}

// grid says how many panels stand beside each other.
func (s *sheet) grid(room float64) {
	const leastPanel = 190
	n := len(s.parts)
	most := max(int((room-60)/leastPanel), 1)
	if s.ys[0].spec.Scale == figure.Categories {
		most = max(int((room*.65)/leastPanel), 1)
	}
	s.columns = min(n, most)
	s.rows = (n + s.columns - 1) / s.columns
	s.columns = (n + s.rows - 1) / s.rows
}

// wantedHeight is how high a panel is where nothing else is said.
func (s *sheet) wantedHeight() float64 {
	if s.ys[0].spec.Scale == figure.Categories {
		return s.leastHeight()
	}
	if len(s.parts) > 1 {
		return 150
	}
	return min(max(s.size.right*.42, 220), 380)
}

// leastHeight is what a panel needs to be read.
func (s *sheet) leastHeight() float64 {
	n := s.ys[0].High - s.ys[0].Low
	switch {
	case s.ys[0].spec.Scale != figure.Categories:
		return 90
	case s.figure.Kind == figure.Heatmap:
		return n * 28
	}
	return n * 24
}

// namesLeft is how much room the names on the left need.
func (s *sheet) namesLeft(room float64) float64 {
	widest := 0.0
	for n, y := range s.ys {
		if n > 0 && y == s.ys[0] {
			break // the same one for all panels
		}
		s.nameTicks(y, y.names(), s.longestName(room))
		for _, t := range y.ticks {
			widest = max(widest, s.width(t.Text, textSize, false))
		}
	}
	return widest + 8
}

// nameTicks gives ticks names that have room.
func (s *sheet) nameTicks(a *axis, names []string, room float64) {
	for i, name := range s.names(names, textSize, room, false) {
		a.ticks[i].Text = name
	}
}

// longestName is how wide the name of a category may be.
func (s *sheet) longestName(room float64) float64 {
	if len(s.parts) > 1 {
		return room * .3
	}
	return room * .42
}

// namesRight is how much room the right side needs: for names of lines, or for what stands at the end of rows.
func (s *sheet) namesRight(room float64) float64 {
	widest := 0.0
	switch {
	case s.direct:
		for i, name := range s.names(namesOf(s.parts[0].Series), textSize, room*.25, false) {
			s.ends[s.parts[0].Series[i].Name] = name
			widest = max(widest, s.width(name, textSize, false))
		}
		widest += 14
	case s.figure.Kind == figure.Forest && len(s.parts) == 1:
		eachMark(s.parts[0], func(_ figure.Series, m figure.Mark) {
			if m.Label != "" {
				widest = max(widest, s.width(s.fit(m.Label, textSize, room*.3, false), textSize, false)+12)
			}
		})
	}
	return max(widest, 12)
}

func namesOf(series []figure.Series) []string {
	names := make([]string, len(series))
	for i := range series {
		names[i] = series[i].Name
	}
	return names
}

func eachMark(part figure.Panel, do func(figure.Series, figure.Mark)) {
	for _, series := range part.Series {
		for _, m := range series.Marks {
			do(series, m)
		}
	}
}

// divideAlong makes the ticks below, as many as have room beside each other, and says how high they are.
func (s *sheet) divideAlong() {
	s.below = lineHeight + 2
	if s.xs[0].spec.Scale == figure.Categories {
		s.nameCategories(s.xs[0])
		return
	}
	for _, x := range s.xs {
		for most := max(int(s.panelWidth/58), 2); ; most-- {
			if x.divide(most); most <= 2 || s.apart(x) {
				break
			}
		}
		s.thin(x)
	}
}

// nameCategories makes the ticks of categories below: turned where they have no room side by side.
func (s *sheet) nameCategories(x *axis) {
	x.divide(0)
	each := s.panelWidth / max(x.High-x.Low, 1)
	const longest = 150
	widest := 0.0
	names := x.names()
	s.nameTicks(x, names, math.Inf(1))
	for _, t := range x.ticks {
		widest = max(widest, s.width(t.Text, textSize, false))
	}
	if widest <= each-8 {
		return
	}
	if x.ordinal != nil && widest < longest/3 {
		s.thin(x) // the numbers between can be told
		return
	}
	s.turned = true
	widest = 0
	// Names that are turned are as far apart as their lines are high, at least.
	const turnedApart = 15
	every := max(int(math.Ceil(turnedApart/each)), 1)
	s.nameTicks(x, names, longest)
	for i := range x.ticks {
		if i%every != 0 {
			x.ticks[i].Text = ""
		}
		widest = max(widest, s.width(x.ticks[i].Text, textSize, false))
	}
	s.below = widest*math.Sin(turnedBy*math.Pi/180) + 16
}

// turnedBy is the angle of names that have no room side by side.
const turnedBy = 40

// apart tells whether all ticks have room for their names.
func (s *sheet) apart(x *axis) bool {
	last := math.Inf(-1)
	for _, t := range x.ticks {
		if t.Text == "" {
			continue
		}
		half := s.width(t.Text, textSize, false) / 2
		at := x.share(t.At) * s.panelWidth
		if at-half < last+8 {
			return false
		}
		last = at + half
	}
	return true
}

// thin leaves out names of ticks until the rest has room.
func (s *sheet) thin(x *axis) {
	for every := 2; !s.apart(x) && every < 100; every++ {
		for i := range x.ticks {
			if i%every != 0 {
				x.ticks[i].Text = ""
			}
		}
	}
}

// panel is where one of the panels lies.
func (s *sheet) panel(i int) box {
	column, row := float64(i%s.columns), float64(i/s.columns)
	left := s.plots.left + s.inset + column*(s.panelWidth+panelGap+s.inset)
	top := s.plots.top + row*(s.panelHeight+s.betweenRows())
	return box{left, top, left + s.panelWidth, top + s.panelHeight}
}
