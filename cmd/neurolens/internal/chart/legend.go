package chart

import (
	"slices"
	"strconv"
)

// namesAtEnds tells whether lines are named where they end, rather than in a legend.
func (s *sheet) namesAtEnds() bool {
	const most = 8
	if s.figure.Kind != Lines || len(s.parts) != 1 || len(s.parts[0].Series) > most || s.size.right < 420 {
		return false
	}
	return !slices.ContainsFunc(s.parts[0].Series, func(series Series) bool {
		return series.Name == "" || series.Style != Line || len(series.Marks) == 0
	})
}

// toneWords say what a tone means.
var toneWords = []struct {
	tone Tone
	text string
}{
	{Regressed, "worse"},
	{Improved, "better"},
	{Neutral, "unchanged or inconclusive"},
	{Warned, "with a warning"},
	{Failed, "failed: no value"},
}

// entries are what the legend explains: series by their names, and tones.
func (s *sheet) entries() []entry {
	var entries []entry
	tones, toned := map[Tone]bool{}, map[Tone]bool{}
	seen := map[string]bool{}
	const most = 12
	left := 0
	for _, part := range s.parts {
		for i, series := range part.Series {
			i -= tonedBefore(part.Series[:i])
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
			entries = append(entries, entry{text: s.figure.Explained(tone, word.text), width: 12, sample: func(s *sheet, x, y float64) {
				if tone == Warned {
					s.warned("paper", point{x + 5, y}, 4)
					return
				}
				s.shape(shapeOf(tone, disc), string(tone), x+5, y, 4)
			}})
		}
	}
	if s.figure.Kind == Heatmap && s.values.Low <= s.values.High {
		entries = append(entries, s.scale())
	}
	return entries
}

// named is the entry of a series.
func (s *sheet) named(series Series, place int) entry {
	return entry{text: series.Name, width: swatch, sample: func(s *sheet, x, y float64) {
		look := s.look(series, place)
		switch series.Style {
		case Band:
			s.fill(look.area, s.rectangle(box{x, y - 5, x + swatch - 2, y + 5}))
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

// scale is the entry of the colours of a heat map.
func (s *sheet) scale() entry {
	const each = 16
	low, high := quantity(s.values.Low, s.figure.Values.Unit), quantity(s.values.High, s.figure.Values.Unit)
	before := s.width(low, smallSize, false) + 6
	text := high
	if s.figure.Values.Label != "" {
		text += " " + whole(s.figure.Values.Label)
	}
	switch s.figure.Values.Better {
	case Lower:
		text += ", lower is better"
	case Higher:
		text += ", higher is better"
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
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = e.text
	}
	texts = s.names(texts, smallSize, min(longestEntry, room-swatch-4), false)
	for i, e := range entries {
		e.text = s.fit(texts[i], smallSize, min(longestEntry, room-e.width-4), false)
		w := e.width + 4 + s.width(e.text, smallSize, false) + entryGap
		if used+w-entryGap > room {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += w
	}
	return rows
}
