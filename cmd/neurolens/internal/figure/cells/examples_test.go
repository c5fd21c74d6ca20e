package cells

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
)

var none = math.NaN()

func mark(x, y float64) figure.Mark {
	return figure.Mark{X: x, Y: y, Low: none, High: none, Value: none}
}

// examples are figures of every kind.
func examples() map[string]*figure.Figure {
	return map[string]*figure.Figure{
		"ecdf": ecdfExample(), "runs": runsExample(), "history": historyExample(), "forest": forestExample(), "scatter": scatterExample(),
		"heatmap": heatmapExample(), "lines": linesExample(), "pareto": paretoExample(), "panels": panelsExample(),
	}
}

func ecdfExample() *figure.Figure {
	random := rand.New(rand.NewPCG(1, 2))
	f := &figure.Figure{
		Kind: figure.ECDF, Title: "latency of tiny_linear batch_size=16 seq_len=128 fp32",
		Notes: []string{"2 runs × 200 samples on lab3"},
		X:     figure.Axis{Label: "latency", Unit: "ns"}, Y: figure.Axis{Label: "share of samples", Unit: "ratio"},
	}
	for i, name := range []string{"base M9F3QA7K", "head B2X8N4TE"} {
		values := make([]float64, 200)
		for n := range values {
			values[n] = 4.02e6 + float64(i)*.4e6 + math.Abs(random.NormFloat64())*.3e6
		}
		slices.Sort(values)
		s := figure.Series{Name: name, Style: figure.Steps, Marks: []figure.Mark{mark(values[0], 0)}}
		for n, v := range values {
			s.Marks = append(s.Marks, mark(v, float64(n+1)/200))
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func runsExample() *figure.Figure {
	random := rand.New(rand.NewPCG(3, 4))
	f := &figure.Figure{
		Kind: figure.Runs, Title: "samples in the order in which they were taken, run M9F3QA7K",
		Notes: []string{"drift: samples got slower in the order in which they were taken"},
		X:     figure.Axis{Label: "sample"}, Y: figure.Axis{Label: "latency", Unit: "ns"},
	}
	s := figure.Series{Style: figure.Points}
	for n := range 300 {
		m := mark(float64(n+1), 103e3+float64(n)*40+random.NormFloat64()*2e3)
		if n%97 == 50 {
			m.Y, m.Tone = m.Y+25e3, figure.Warned
		}
		if n > 120 && n < 135 {
			m.Y = none
		}
		s.Marks = append(s.Marks, m)
	}
	f.Series = []figure.Series{s}
	f.Guides = []figure.Guide{{Along: figure.Horizontal, At: 108e3, Text: "median 108 µs"}}
	return f
}

func historyExample() *figure.Figure {
	random := rand.New(rand.NewPCG(5, 6))
	f := &figure.Figure{
		Kind: figure.History, Title: "latency of tiny_linear batch_size=16 seq_len=128 fp32 on lab3",
		Notes: []string{"41 sessions since 2026-08-02"},
		X:     figure.Axis{Label: "session", Scale: figure.Time}, Y: figure.Axis{Label: "latency", Unit: "ns"},
	}
	const day, begin = 86400., 1785628800.
	band := figure.Series{Name: "95 % of the sessions", Style: figure.Band}
	levels := []figure.Series{{Name: "level", Style: figure.Line, Tone: figure.Neutral}}
	values := figure.Series{Name: "median of a session", Style: figure.Points}
	for n := range 41 {
		level := 4e6
		if n > 13 {
			level = 4.47e6
		}
		if n > 30 {
			level = 4.29e6
		}
		x := begin + float64(n)*2*day
		m := mark(x, level+random.NormFloat64()*.03e6)
		if n == 20 || n == 21 {
			m = mark(x, none)
			m.Tone = figure.Failed
		}
		values.Marks = append(values.Marks, m)
		if n == 14 || n == 31 {
			levels = append(levels, figure.Series{Style: figure.Line, Tone: figure.Neutral})
			band.Marks = append(band.Marks, mark(x-day, none))
		}
		last := &levels[len(levels)-1]
		last.Marks = append(last.Marks, mark(x, level))
		b := mark(x, none)
		b.Low, b.High = level-.06e6, level+.06e6
		band.Marks = append(band.Marks, b)
	}
	f.Series = append(append([]figure.Series{values}, levels...), band)
	f.Guides = []figure.Guide{
		{Along: figure.Vertical, At: begin + 27*day, Text: "2026-08-29 +11.8 % 81cc0fe..9a01b3d driver 570.86 → 575.51"},
		{Along: figure.Vertical, At: begin + 61*day, Text: "2026-10-02 −4.1 % c0ffee1..77ab210"},
	}
	return f
}

func forestExample() *figure.Figure {
	f := &figure.Figure{
		Kind: figure.Forest, Title: "change of latency from session=last~1 to session=last",
		Notes: []string{"4 points: 1 regressed, 1 improved, 1 unchanged, 1 inconclusive; 1 failed"},
		X:     figure.Axis{Label: "change", Unit: "ratio"},
		Y: figure.Axis{Scale: figure.Categories, Categories: []string{
			"bs=16 seq=128 fp32", "bs=8 seq=64 fp64", "bs=1 seq=64 fp32", "bs=4 seq=64 fp32", "bs=32 seq=64 fp32 a long name of a point",
		}},
		Guides: []figure.Guide{
			{Along: figure.Vertical, At: 0, Text: "no change"},
			{Along: figure.Vertical, At: -.05, Until: .05, Text: "equivalence margin ±5 %"},
		},
	}
	add := func(y, x, low, high float64, tone figure.Tone, word string) {
		f.Series[0].Marks = append(f.Series[0].Marks, figure.Mark{X: x, Y: y, Low: low, High: high, Value: none, Tone: tone, Word: word})
	}
	f.Series = []figure.Series{{Style: figure.Intervals}}
	add(0, .147, .121, .172, figure.Regressed, "REGRESSED")
	add(1, .054, -.01, .122, figure.Neutral, "inconclusive")
	add(2, -.019, -.036, -.002, figure.Neutral, "unchanged")
	add(3, -.112, -.13, -.09, figure.Improved, "improved")
	add(4, none, none, none, figure.Failed, "failed on head")
	return f
}

func scatterExample() *figure.Figure {
	random := rand.New(rand.NewPCG(7, 8))
	f := &figure.Figure{
		Kind: figure.Scatter, Title: "latency of 40 points, base against head",
		X: figure.Axis{Label: "base", Unit: "ns", Scale: figure.Log}, Y: figure.Axis{Label: "head", Unit: "ns", Scale: figure.Log},
		Guides: []figure.Guide{{Along: figure.Diagonal, Text: "equal"}},
	}
	s := figure.Series{Style: figure.Points}
	for n := range 40 {
		base := 1e4 * math.Pow(10, float64(n)/10)
		m := mark(base, base*math.Exp(random.NormFloat64()*.05))
		m.Tone = figure.Neutral
		if n%9 == 3 {
			m.Y, m.Tone = m.Y*1.8, figure.Regressed
		}
		if n%11 == 5 {
			m.Y, m.Tone = m.Y*.5, figure.Improved
		}
		s.Marks = append(s.Marks, m)
	}
	f.Series = []figure.Series{s}
	return f
}

func heatmapExample() *figure.Figure {
	f := &figure.Figure{
		Kind: figure.Heatmap, Title: "median latency of tiny_linear fp32 on lab3",
		X:      figure.Axis{Label: "seq_len", Scale: figure.Categories, Categories: []string{"64", "128", "256", "512", "1024"}},
		Y:      figure.Axis{Label: "batch_size", Scale: figure.Categories, Categories: []string{"1", "2", "4", "8", "16"}},
		Values: figure.Axis{Label: "latency", Unit: "ns", Scale: figure.Log},
	}
	s := figure.Series{Style: figure.Cells}
	for x := range 5 {
		for y := range 5 {
			m := mark(float64(x), float64(y))
			m.Value = 103e3 * math.Pow(2, float64(x+y)) * (1 + .1*float64(x*y%3))
			if x == 4 && y == 4 {
				m.Value, m.Tone = none, figure.Failed
			}
			if x != 3 || y != 4 {
				s.Marks = append(s.Marks, m)
			}
		}
	}
	f.Series = []figure.Series{s}
	return f
}

func linesExample() *figure.Figure {
	f := &figure.Figure{
		Kind: figure.Lines, Title: "throughput over batch_size",
		X: figure.Axis{Label: "batch_size", Scale: figure.Log}, Y: figure.Axis{Label: "throughput", Unit: "1/s"},
	}
	for i, name := range []string{"fp32", "fp16", "int8"} {
		s := figure.Series{Name: "precision=" + name, Style: figure.Line}
		for n := range 9 {
			batch := math.Pow(2, float64(n))
			m := mark(batch, 4000*float64(i+1)*batch/(batch+20))
			if i == 1 && n == 5 {
				m.Y, m.Tone = none, figure.Failed
			}
			s.Marks = append(s.Marks, m)
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func paretoExample() *figure.Figure {
	random := rand.New(rand.NewPCG(9, 10))
	f := &figure.Figure{
		Kind: figure.Pareto, Title: "latency against peak memory: what no other point beats in both",
		X: figure.Axis{Label: "peak memory", Unit: "B"}, Y: figure.Axis{Label: "latency", Unit: "ns"},
	}
	rest := figure.Series{Name: "beaten", Style: figure.Points}
	front := figure.Series{Name: "not beaten", Style: figure.Steps}
	best := math.Inf(1)
	for n := range 24 {
		memory := (1 + float64(n)/8) * (1 << 30)
		latency := 9e6/(1+float64(n)/6) + random.Float64()*3e6
		if latency < best {
			best = latency
			front.Marks = append(front.Marks, mark(memory, latency))
		} else {
			rest.Marks = append(rest.Marks, mark(memory, latency))
		}
	}
	f.Series = []figure.Series{front, rest}
	return f
}

func panelsExample() *figure.Figure {
	f := linesExample()
	f.Title = "throughput over batch_size, by seq_len"
	for i := range 3 {
		panel := figure.Panel{Title: fmt.Sprintf("seq_len=%d", 64<<i)}
		for _, s := range f.Series {
			s.Marks = slices.Clone(s.Marks)
			for n := range s.Marks {
				s.Marks[n].Y /= float64(i + 1)
			}
			panel.Series = append(panel.Series, s)
		}
		f.Panels = append(f.Panels, panel)
	}
	f.Series = nil
	return f
}
