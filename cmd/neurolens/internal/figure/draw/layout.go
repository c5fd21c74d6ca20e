package draw

import (
	"math"
	"slices"
	"strconv"

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
	size    box // of the picture
	x, y    *axis
	values  *axis // of the colours of a heat map
	parts   []figure.Panel
	colours map[string]int // places of plain series, by name

	title  []string
	notes  []string
	legend [][]entry
	direct bool // series are named at their ends

	columns, rows int
	plots         box // all panels
	panelWidth    float64
	panelHeight   float64
	guideRows     int // lines of names above a panel
	turned        bool
	below         float64 // height of the names of ticks below a panel
	nothing       bool
	unnamed       []string // guides that had no room for their names
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

func newSheet(f *figure.Figure, o Options) (*sheet, error) {
	if err := check(f, o); err != nil {
		return nil, err
	}
	parsed, err := fonts()
	if err != nil {
		return nil, err
	}
	s := &sheet{
		pen: pen{
			palette: newPalette(o.Dark), regular: parsed[0], bold: parsed[1], widths: map[widthKey]float64{},
		},
		figure: f, options: o, parts: f.Parts(),
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
	x, y, values := newSpan(), newSpan(), newSpan()
	var allX, allY []float64
	for _, part := range s.parts {
		for _, series := range part.Series {
			for _, m := range series.Marks {
				x.add(m.X)
				y.add(m.Y)
				values.add(m.Value)
				allX, allY = append(allX, m.X), append(allY, m.Y)
				if hasInterval(series.Style, m) {
					along := y
					if f.Kind == figure.Forest {
						along = x
					}
					along.add(m.Low, m.High)
				}
			}
		}
	}
	s.addGuides(x, y)
	if f.Kind == figure.ECDF && y.low > 0 {
		y.add(0)
	}
	s.x, s.y, s.values = newAxis(f.X, x), newAxis(f.Y, y), newAxis(f.Values, values)
	if f.Kind == figure.Heatmap {
		if f.X.Scale != figure.Categories {
			s.x = newOrdinal(f.X, allX)
		}
		if f.Y.Scale != figure.Categories {
			s.y = newOrdinal(f.Y, allY)
		}
		s.values.low, s.values.high = values.low, values.high
	}
	s.x.signed = f.Kind == figure.Forest
}

// addGuides has guides seen that are not far away from the marks.
func (s *sheet) addGuides(x, y *span) {
	for _, part := range s.parts {
		for _, g := range part.Guides {
			switch {
			case g.Along == figure.Vertical && s.figure.X.Scale != figure.Time:
				x.addNear(g.At, s.figure.Kind == figure.Forest)
				x.addNear(g.Until, s.figure.Kind == figure.Forest && g.Until > g.At)
			case g.Along == figure.Horizontal && s.figure.Y.Scale != figure.Time:
				y.addNear(g.At, false)
			}
		}
	}
}

// addNear adds a value that would not make the rest small.
func (s *span) addNear(v float64, anyway bool) {
	length := s.high - s.low
	if anyway || v >= s.low-length/2 && v <= s.high+length/2 && (v > 0 || !s.positive) {
		many, distinct := s.many, s.distinct
		s.add(v)
		s.many, s.distinct = many, distinct
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
		s.title = s.lines2(s.heading(), titleSize, room, s.figure.Title != "")
		for _, note := range s.figure.Notes {
			s.notes = append(s.notes, s.lines(note, smallSize, room, false)...)
		}
	}
	s.direct = s.namesAtEnds()
	s.legend = s.flow(s.entries(), room)

	above := edge + float64(len(s.title))*(titleSize+5) + 4
	above += float64(len(s.legend)) * (lineHeight + 2)
	left, right := edge, s.size.right-edge
	if s.nothing {
		s.plots = box{left, above + 8, right, above + 8 + 120}
		s.height = s.plots.bottom + 12 + s.notesHeight()
		return
	}
	hasPanels := len(s.figure.Panels) > 0
	s.grid(room)

	// The height comes first: how many ticks have room depends on it, and how wide their names are on them.
	s.panelHeight = s.wantedHeight()
	s.y.divide(int(s.panelHeight / 42))
	if s.y.title != "" {
		above += lineHeight + 2
	}
	left += s.namesLeft(room)
	right -= s.namesRight(room)
	s.plots = box{left: left, right: right}
	s.panelWidth = (right - left - panelGap*float64(s.columns-1)) / float64(s.columns)
	s.divideAlong()
	s.guideRows = s.rowsOfGuides()
	if hasPanels {
		above += panelTitle
	}
	above += float64(s.guideRows) * 15
	s.plots.top = above + 6
	fixed := s.plots.top + s.below + s.xTitleHeight() + s.notesHeight()
	if wanted := float64(s.options.Height); wanted > 0 {
		each := (wanted-fixed)/float64(s.rows) - s.betweenRows()*float64(s.rows-1)/float64(s.rows)
		s.panelHeight = max(each, s.leastHeight())
		s.y.ticks = nil
		s.y.divide(int(s.panelHeight / 42))
	}
	s.plots.bottom = s.plots.top + s.panelHeight*float64(s.rows) + s.betweenRows()*float64(s.rows-1)
	s.height = s.plots.bottom + s.below + s.xTitleHeight() + s.notesHeight()
}

// betweenRows is the distance of two rows of panels.
func (s *sheet) betweenRows() float64 { return panelTitle + float64(s.guideRows)*15 + 14 }

func (s *sheet) xTitleHeight() float64 {
	if s.x.title == "" {
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

// lines2 are at most two lines of a title.
func (s *sheet) lines2(text string, size, room float64, given bool) []string {
	if !given {
		return nil
	}
	lines := s.lines(text, size, room, true)
	if len(lines) > 2 {
		lines = []string{lines[0], s.fit(lines[1]+" … "+lines[len(lines)-1], size, room, true)}
	}
	return lines
}

// grid says how many panels stand beside each other.
func (s *sheet) grid(room float64) {
	const leastPanel = 190
	n := len(s.parts)
	most := max(int((room-60)/leastPanel), 1)
	if s.y.Scale == figure.Categories {
		most = max(int((room*.65)/leastPanel), 1)
	}
	s.columns = min(n, most)
	s.rows = (n + s.columns - 1) / s.columns
	s.columns = (n + s.rows - 1) / s.rows
}

// wantedHeight is how high a panel is where nothing else is said.
func (s *sheet) wantedHeight() float64 {
	if s.y.Scale == figure.Categories {
		return s.leastHeight()
	}
	if len(s.parts) > 1 {
		return 150
	}
	return min(max(s.size.right*.42, 220), 380)
}

// leastHeight is what a panel needs to be read.
func (s *sheet) leastHeight() float64 {
	n := math.Round(s.y.high - s.y.low)
	switch {
	case s.y.Scale != figure.Categories:
		return 90
	case s.figure.Kind == figure.Heatmap:
		return n * 28
	}
	return n * 24
}

// namesLeft is how much room the names on the left need.
func (s *sheet) namesLeft(room float64) float64 {
	widest := 0.0
	for i, t := range s.y.ticks {
		s.y.ticks[i].text = s.fit(t.text, textSize, s.longestName(room), false)
		widest = max(widest, s.width(s.y.ticks[i].text, textSize, false))
	}
	return widest + 8
}

// longestName is how wide the name of a category may be.
func (s *sheet) longestName(room float64) float64 {
	if len(s.parts) > 1 {
		return room * .3
	}
	return room * .38
}

// namesRight is how much room the right side needs: for names of lines, or for what stands at the end of rows.
func (s *sheet) namesRight(room float64) float64 {
	widest := 0.0
	switch {
	case s.direct:
		for _, series := range s.parts[0].Series {
			widest = max(widest, s.width(s.fit(series.Name, textSize, room*.25, false), textSize, false))
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

func eachMark(part figure.Panel, do func(figure.Series, figure.Mark)) {
	for _, series := range part.Series {
		for _, m := range series.Marks {
			do(series, m)
		}
	}
}

// divideAlong makes the ticks below, as many as have room beside each other, and says how high they are.
func (s *sheet) divideAlong() {
	for most := max(int(s.panelWidth/58), 2); ; most-- {
		s.x.ticks = nil
		s.x.divide(most)
		if s.x.Scale == figure.Categories || most <= 2 || s.apart(s.x.ticks) {
			break
		}
	}
	s.below = lineHeight + 2
	if s.x.Scale != figure.Categories {
		s.thin()
		return
	}
	each := s.panelWidth / max(s.x.high-s.x.low, 1)
	const longest = 110
	widest := 0.0
	for _, t := range s.x.ticks {
		widest = max(widest, s.width(whole(t.text), textSize, false))
	}
	if s.turned = widest > each-8; !s.turned {
		return
	}
	widest = 0
	for i, t := range s.x.ticks {
		s.x.ticks[i].text = s.fit(t.text, textSize, longest, false)
		widest = max(widest, s.width(s.x.ticks[i].text, textSize, false))
	}
	// Names that are turned are as far apart as their lines are high, at least.
	const turnedApart = 15
	if every := int(math.Ceil(turnedApart / each)); every > 1 {
		for i := range s.x.ticks {
			if i%every != 0 {
				s.x.ticks[i].text = ""
			}
		}
	}
	s.below = widest*math.Sin(turnedBy*math.Pi/180) + 16
}

// turnedBy is the angle of names that have no room side by side.
const turnedBy = 40

// apart tells whether all ticks have room for their names.
func (s *sheet) apart(ticks []tick) bool {
	last := math.Inf(-1)
	for _, t := range ticks {
		half := s.width(t.text, textSize, false) / 2
		at := s.x.share(t.at) * s.panelWidth
		if at-half < last+8 {
			return false
		}
		last = at + half
	}
	return true
}

// thin leaves out names of ticks until the rest has room.
func (s *sheet) thin() {
	for every := 2; !s.apart(named(s.x.ticks)) && every < 100; every++ {
		for i := range s.x.ticks {
			if i%every != 0 {
				s.x.ticks[i].text = ""
			}
		}
	}
}

func named(ticks []tick) []tick {
	return slices.DeleteFunc(slices.Clone(ticks), func(t tick) bool { return t.text == "" })
}

// panel is where one of the panels lies.
func (s *sheet) panel(i int) box {
	column, row := float64(i%s.columns), float64(i/s.columns)
	left := s.plots.left + column*(s.panelWidth+panelGap)
	top := s.plots.top + row*(s.panelHeight+s.betweenRows())
	return box{left, top, left + s.panelWidth, top + s.panelHeight}
}

// namesAtEnds tells whether lines are named where they end, rather than in a legend.
func (s *sheet) namesAtEnds() bool {
	const most = 8
	if s.figure.Kind != figure.Lines || len(s.parts) != 1 || len(s.parts[0].Series) > most || s.size.right < 420 {
		return false
	}
	return !slices.ContainsFunc(s.parts[0].Series, func(series figure.Series) bool {
		return series.Name == "" || series.Style != figure.Line || len(series.Marks) == 0
	})
}

// toneWords say what a tone means.
var toneWords = []struct {
	tone figure.Tone
	text string
}{
	{figure.Regressed, "worse"},
	{figure.Improved, "better"},
	{figure.Neutral, "unchanged or not decided"},
	{figure.Warned, "with a warning"},
	{figure.Failed, "failed: no value"},
}

// entries are what the legend explains: series by their names, and tones.
func (s *sheet) entries() []entry {
	var entries []entry
	tones, toned := map[figure.Tone]bool{}, map[figure.Tone]bool{}
	seen := map[string]bool{}
	const most = 12
	left := 0
	for _, part := range s.parts {
		for i, series := range part.Series {
			for _, m := range series.Marks {
				tones[toneOf(series, m)] = true
			}
			if series.Name == "" || s.direct || seen[series.Name] || len(series.Marks) == 0 {
				continue
			}
			seen[series.Name] = true
			if len(entries) == most {
				left++
				continue
			}
			toned[series.Tone] = true
			entries = append(entries, s.named(series, i))
		}
	}
	if left > 0 {
		entries = append(entries, entry{text: "and " + strconv.Itoa(left) + " more"})
	}
	for _, word := range toneWords {
		if tones[word.tone] && !toned[word.tone] {
			tone := word.tone
			entries = append(entries, entry{text: word.text, width: 12, sample: func(s *sheet, x, y float64) {
				s.shape(shapeOf(tone, 0), string(tone), x+5, y, 4)
			}})
		}
	}
	if s.figure.Kind == figure.Heatmap && s.values.low <= s.values.high {
		entries = append(entries, s.scale())
	}
	return entries
}

// named is the entry of a series.
func (s *sheet) named(series figure.Series, place int) entry {
	return entry{text: series.Name, width: swatch, sample: func(s *sheet, x, y float64) {
		look := s.look(series, place)
		switch series.Style {
		case figure.Band:
			s.fill(look.area, s.rectangle(box{x, y - 5, x + swatch - 2, y + 5}))
		case figure.Line, figure.Steps:
			s.line(look.line, point{x, y}, point{x + swatch - 2, y})
			if series.Style == figure.Line {
				s.shape(look.shape, look.ink, x+swatch/2-1, y, 3)
			}
		case figure.Intervals:
			s.line(style{ink: look.ink, width: 2}, point{x, y}, point{x + swatch - 2, y})
			s.shape(look.shape, look.ink, x+swatch/2-1, y, 3.5)
		default:
			s.shape(look.shape, look.ink, x+swatch/2-1, y, 3.5)
		}
	}}
}

// scale is the entry of the colours of a heat map.
func (s *sheet) scale() entry {
	const each = 16
	low, high := quantity(s.values.low, s.values.Unit), quantity(s.values.high, s.values.Unit)
	before := s.width(low, smallSize, false) + 6
	text := high
	if s.figure.Values.Label != "" {
		text += " " + whole(s.figure.Values.Label)
	}
	switch s.figure.Values.Better {
	case figure.Lower:
		text += " (lower is better)"
	case figure.Higher:
		text += " (higher is better)"
	}
	return entry{text: text, width: before + each*shades + 4, sample: func(s *sheet, x, y float64) {
		s.text(lettering{ink: "muted", size: smallSize}, x, y+4, low)
		for i := range shades {
			left := x + before + float64(i)*each
			s.fill("q"+strconv.Itoa(i), s.rectangle(box{left, y - 5, left + each - 1, y + 5}))
		}
	}}
}

const (
	entryGap     = 16.0
	longestEntry = 230.0
)

// flow puts entries into rows.
func (s *sheet) flow(entries []entry, room float64) [][]entry {
	var rows [][]entry
	used := room
	for _, e := range entries {
		e.text = s.fit(e.text, smallSize, min(longestEntry, room-e.width-4), false)
		w := e.width + 4 + s.width(e.text, smallSize, false) + entryGap
		if used+w-entryGap > room {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += w
	}
	return rows
}
