package chart

import (
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

const (
	edge       = 14.0
	titleSize  = 15.0
	textSize   = 11.5
	smallSize  = 11.0
	lineHeight = 16.0
)

// figureLayout is a figure on its way to a picture: what lies where.
type figureLayout struct {
	pen
	figure  *Figure
	options ImageOptions
	size    box     // of the picture
	xs, ys  []*axis // of each panel; all the same one, unless panels have ranges of their own
	values  *axis   // of the colours of a heat map
	parts   []Panel
	colours map[string]int // places of plain series, by name
	slots   []string       // names of the series of bars
	titles  []string       // of the panels, as they have room

	title  []string
	notes  []string
	legend [][]entry
	direct bool              // series are named at their ends
	ends   map[string]string // these names, as they have room there
	whole  bool              // rows of a forest end with the intervals in words

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
	list   bool // of words between commas, of which the last ones are left out where they have no room
	width  float64
	sample func(s *figureLayout, x, y float64)
}

const (
	swatch     = 20.0
	panelGap   = 18.0
	panelTitle = 18.0
)

func newSheet(f *Figure, o ImageOptions, slack float64) (*figureLayout, error) {
	if err := check(f, o); err != nil {
		return nil, err
	}
	parsed, err := fonts()
	if err != nil {
		return nil, err
	}
	s := &figureLayout{
		pen: pen{
			slack: slack, regular: parsed[0], bold: parsed[1], widths: map[letter]float64{},
		},
		figure: f, options: o, parts: f.Parts(), ends: map[string]string{},
	}
	if slack == drawnHere { // in the font of this program
		s.letters = &letters{font: parsed[0]}
	}
	if s.options.Width == 0 {
		s.options.Width = usualWidth
	}
	s.size = box{right: float64(max(s.options.Width, minWidth))}
	s.nothing = f.Marks() == 0
	s.colours, s.slots = coloursOf(s.parts), f.slots()
	s.measure()
	s.arrange()
	return s, nil
}

// coloursOf gives each name a place among the colours, the same in all panels.
func coloursOf(parts []Panel) map[string]int {
	places := map[string]int{}
	for _, part := range parts {
		for _, series := range part.Series {
			if _, known := places[series.Name]; !known && series.Tone == Plain && series.Name != "" {
				places[series.Name] = len(places)
			}
		}
	}
	return places
}

// arrange computes the positions of everything and the height of the picture.
func (s *figureLayout) arrange() {
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
	names := s.namesLeft(room)
	s.plots = box{left: edge, right: s.size.right - edge - s.namesRight(room, names)}
	if s.ys[0] != s.ys[len(s.ys)-1] {
		s.inset = names
	} else {
		s.plots.left += names
	}
	s.panelWidth = (s.plots.right-s.plots.left-panelGap*float64(s.columns-1))/float64(s.columns) - s.inset
	s.divideAlong()
	s.titles = s.names(term.Texts(s.parts, Panel.title), textSize, s.panelWidth+s.inset, true)
	s.nameGuides(room)
	for _, key := range s.keys {
		s.notes = append(s.notes, s.fit(key, smallSize, room, false))
	}
	if s.ys[0].title != "" {
		above += lineHeight + 2
	}
	if len(s.figure.Panels) > 0 {
		above += panelTitle
	}
	s.plots.top = above + float64(s.guideRows)*15 + 6
	if s.figure.Kind == Heatmap {
		s.sizeCells()
	}
	s.plots.bottom = s.plots.top + s.panelHeight*float64(s.rows) + s.betweenRows()*float64(s.rows-1)
	s.height = s.plots.bottom + s.below + s.xTitleHeight() + s.notesHeight()
}

// sizeCells finds the largest font size with which the values fit into the cells.
func (s *figureLayout) sizeCells() {
	w, h := s.xs[0].each(s.panelWidth)-6, s.ys[0].each(s.panelHeight)-4
	for _, size := range []float64{textSize, 10, 9} {
		fits := size <= h
		for _, part := range s.parts {
			for _, m := range part.All() {
				fits = fits && (!finite(m.Value) || s.width(s.figure.Values.quantity(m.Value), size, false) <= w)
			}
		}
		if fits {
			s.cellSize = size
			return
		}
	}
}

// divideUp makes the ticks of the y axes.
func (s *figureLayout) divideUp() {
	for _, y := range s.ys {
		y.divide(max(int(s.panelHeight/36), 3))
	}
}

// betweenRows returns the distance between two rows of panels.
func (s *figureLayout) betweenRows() float64 {
	between := panelTitle + float64(s.guideRows)*15 + 14
	if s.ownX() {
		between += s.below
	}
	return between
}

// ownX reports whether panels have x ranges of their own.
func (s *figureLayout) ownX() bool { return s.xs[0] != s.xs[len(s.xs)-1] }

func (s *figureLayout) xTitleHeight() float64 {
	if s.xs[0].title == "" {
		return 6
	}
	return lineHeight + 6
}

func (s *figureLayout) notesHeight() float64 {
	if len(s.notes) == 0 {
		return edge
	}
	return 6 + float64(len(s.notes))*(smallSize+4) + edge
}

// titleLines returns at most two.
func (s *figureLayout) titleLines(room float64) []string {
	if s.figure.Title == "" {
		return nil
	}
	lines := s.lines(s.figure.Title, titleSize, room, true)
	if len(lines) > 2 {
		lines = []string{lines[0], s.fit(strings.Join(lines[1:], " "), titleSize, room, true)}
	}
	return lines
}

// grid computes the numbers of rows and columns of panels.
func (s *figureLayout) grid(room float64) {
	const narrow, narrowest, many, around = 190, 150, 4, 60 // beside a title stand names of ticks
	n := len(s.parts)
	minPanel := float64(narrow)
	if n > many { // a narrow picture has two columns, so that it fits on a page of paper
		minPanel = min(minPanel, max(narrowest, (room-60)/2))
	}
	for _, part := range s.parts {
		minPanel = max(minPanel, min(s.width(whole(part.Title), textSize, true)+around, (room-60)/2))
	}
	most := max(int((room-60)/minPanel), 1)
	if s.ys[0].spec.Scale == Categories {
		most = max(int((room*.65)/minPanel), 1)
	}
	if s.figure.Kind == Telemetry { // what happened at the same time stands one above the other
		most = 1
	}
	s.columns = min(n, most)
	s.rows = (n + s.columns - 1) / s.columns
	s.columns = (n + s.rows - 1) / s.rows
}

// wantedHeight returns the height of a panel.
func (s *figureLayout) wantedHeight() float64 {
	categories := s.ys[0].spec.Scale == Categories
	switch n := s.ys[0].High - s.ys[0].Low; {
	case categories && s.figure.Kind == Heatmap:
		return n * 28
	case categories:
		return n * 24
	case s.figure.Kind == Telemetry:
		return 90
	case len(s.parts) > 1:
		return 150
	}
	return min(max(s.size.right*.42, 220), 380)
}

// divideAlong makes the ticks below, as many as have room beside each other, and says how high they are.
func (s *figureLayout) divideAlong() {
	s.below = lineHeight + 2
	if s.xs[0].spec.Scale == Categories {
		s.nameCategories(s.xs[0])
		return
	}
	for _, x := range s.xs {
		for most := max(int(s.panelWidth/58), min(len(x.spec.Measured), 30), 2); ; most-- {
			if x.divide(most); most <= 2 || s.apart(x) {
				break
			}
		}
		s.thin(x)
	}
}

// panel returns the box of a panel.
func (s *figureLayout) panel(i int) box {
	column, row := float64(i%s.columns), float64(i/s.columns)
	left := s.plots.left + s.inset + column*(s.panelWidth+panelGap+s.inset)
	top := s.plots.top + row*(s.panelHeight+s.betweenRows())
	return box{left, top, left + s.panelWidth, top + s.panelHeight}
}

// namesAtEnds reports whether lines are named at their ends rather than in a legend.
func (s *figureLayout) namesAtEnds() bool {
	const most = 8
	if s.figure.Kind != Lines || len(s.parts) != 1 || len(s.parts[0].Series) > most || s.size.right < 420 {
		return false
	}
	return !slices.ContainsFunc(s.parts[0].Series, func(series Series) bool {
		return series.Name == "" || series.Style != Line || len(series.Marks) == 0
	})
}

// entries returns the entries of the legend: series, tones, and the colours of a heat map.
func (s *figureLayout) entries() []entry {
	var entries []entry
	tones, toned := map[Tone]bool{}, map[Tone]bool{}
	seen := map[string]bool{}
	const most = 12
	left := 0
	for _, part := range s.parts {
		for i, series := range part.Series {
			i -= tonedBefore(part.Series[:i])
			for _, m := range series.Marks {
				tones[series.ToneOf(m)] = true
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
	for _, look := range toneLooks {
		if !tones[look.tone] || toned[look.tone] {
			continue
		}
		entries = append(entries, entry{text: s.figure.Explained(look.tone, look.pictured), list: true, width: 12, sample: func(s *figureLayout, x, y float64) {
			if look.tone == Warned {
				s.warned(disc, "paper", point{x + 5, y}, 2.5)
				return
			}
			s.shape(look.shape, string(look.tone), x+5, y, 4)
		}})
	}
	if s.figure.Kind == Heatmap && s.values.Low <= s.values.High {
		entries = append(entries, s.scale())
	}
	return entries
}

// named returns the entry of a series.
func (s *figureLayout) named(series Series, place int) entry {
	return entry{text: series.Name, width: swatch, sample: func(s *figureLayout, x, y float64) {
		look := s.look(series, place)
		switch series.Style {
		case Band:
			s.fill(look.area, s.rectangle(box{x, y - 5, x + swatch - 2, y + 5}))
		case Bars:
			s.fill(look.ink, s.rectangle(box{x + 3, y - 5, x + 13, y + 5}))
		case Line, Steps:
			s.line(look.line, point{x, y}, point{x + swatch - 2, y})
			if s.showsPoints(series) {
				s.shape(look.shape, look.ink, x+swatch/2-1, y, 3)
			}
		case Intervals:
			if series.Tone != Failed {
				s.line(style{ink: look.ink, width: 2}, point{x, y}, point{x + swatch - 2, y})
			}
			s.shape(look.shape, look.ink, x+swatch/2-1, y, 3.5)
		default:
			s.shape(look.shape, look.ink, x+swatch/2-1, y, 3.5)
		}
	}}
}

// scale returns the entry of the colours of a heat map.
func (s *figureLayout) scale() entry {
	const each = 16
	low, high := s.figure.Values.quantity(s.values.Low), s.figure.Values.quantity(s.values.High)
	before := s.width(low, smallSize, false) + 6
	text := high
	if s.figure.Values.Label != "" {
		text += " " + whole(s.figure.Values.Label)
	}
	text = s.figure.Values.Better.after(text)
	return entry{text: text, width: before + each*shades + 4, sample: func(s *figureLayout, x, y float64) {
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

// flow distributes entries over rows.
func (s *figureLayout) flow(entries []entry, room float64) [][]entry {
	var rows [][]entry
	used := room
	names := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.list })
	texts := s.names(term.Texts(names, func(e entry) string { return e.text }), smallSize, min(longestEntry, room-swatch-4), false)
	for _, e := range entries {
		if e.list {
			e.text = s.fit(cutList(whole(e.text), func(text string) bool { return s.width(text, smallSize, false) <= room-e.width-4 }), smallSize, room-e.width-4, false)
		} else {
			e.text, texts = s.fit(texts[0], smallSize, min(longestEntry, room-e.width-4), false), texts[1:]
		}
		w := e.width + 4 + s.width(e.text, smallSize, false) + entryGap
		if used+w-entryGap > room {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += w
	}
	return rows
}
