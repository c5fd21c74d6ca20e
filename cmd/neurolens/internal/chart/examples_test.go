package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var none = math.NaN()

func mark(x, y float64) Mark {
	return Mark{X: x, Y: y, Low: none, High: none, Value: none}
}

// examples returns figures of every kind.
func examples() map[string]*Figure {
	return map[string]*Figure{
		"ecdf": ecdfExample(), "runs": runsExample(), "history": historyExample(), "forest": forestExample(), "scatter": scatterExample(),
		"heatmap": heatmapExample(), "lines": linesExample(), "pareto": paretoExample(), "panels": panelsExample(),
	}
}

func ecdfExample() *Figure {
	random := rand.New(rand.NewPCG(1, 2))
	f := &Figure{
		Kind: ECDF, Title: "latency of tiny_linear batch_size=16 seq_len=128 fp32",
		Notes: []string{"2 runs × 200 samples on lab3"},
		X:     Axis{Label: "latency", Unit: "ns"}, Y: Axis{Label: "share of samples", Unit: "ratio"},
	}
	for i, name := range []string{"base M9F3QA7K", "head B2X8N4TE"} {
		values := make([]float64, 200)
		for n := range values {
			values[n] = 4.02e6 + float64(i)*.4e6 + math.Abs(random.NormFloat64())*.3e6
		}
		slices.Sort(values)
		s := Series{Name: name, Style: Steps, Marks: []Mark{mark(values[0], 0)}}
		for n, v := range values {
			s.Marks = append(s.Marks, mark(v, float64(n+1)/200))
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func runsExample() *Figure {
	random := rand.New(rand.NewPCG(3, 4))
	f := &Figure{
		Kind: Runs, Title: "samples in the order in which they were taken, run M9F3QA7K",
		Notes: []string{"drift: samples got slower in the order in which they were taken"},
		X:     Axis{Label: "sample"}, Y: Axis{Label: "latency", Unit: "ns"},
	}
	s := Series{Style: Points}
	for n := range 300 {
		m := mark(float64(n+1), 103e3+float64(n)*40+random.NormFloat64()*2e3)
		if n%97 == 50 {
			m.Y, m.Tone = m.Y+25e3, Warned
		}
		if n > 120 && n < 135 {
			m.Y = none
		}
		s.Marks = append(s.Marks, m)
	}
	f.Series = []Series{s}
	f.Guides = []Guide{{Along: Horizontal, At: 108e3, Text: "median 108 µs"}}
	return f
}

func historyExample() *Figure {
	random := rand.New(rand.NewPCG(5, 6))
	f := &Figure{
		Kind: History, Title: "latency of tiny_linear batch_size=16 seq_len=128 fp32 on lab3",
		Notes: []string{"41 sessions since 2026-08-02"},
		X:     Axis{Label: "session", Scale: Time}, Y: Axis{Label: "latency", Unit: "ns"},
	}
	const day, begin = 86400., 1785628800.
	band := Series{Name: "95 % of the sessions", Style: Band}
	levels := []Series{{Name: "level", Style: Line, Tone: Neutral}}
	values := Series{Name: "median of a session", Style: Points}
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
			m.Tone = Failed
		}
		values.Marks = append(values.Marks, m)
		if n == 14 || n == 31 {
			levels = append(levels, Series{Style: Line, Tone: Neutral})
			band.Marks = append(band.Marks, mark(x-day, none))
		}
		last := &levels[len(levels)-1]
		last.Marks = append(last.Marks, mark(x, level))
		b := mark(x, none)
		b.Low, b.High = level-.06e6, level+.06e6
		band.Marks = append(band.Marks, b)
	}
	f.Series = append(append([]Series{values}, levels...), band)
	f.Guides = []Guide{
		{Along: Vertical, At: begin + 27*day, Text: "2026-08-29 +11.8 % 81cc0fe..9a01b3d driver 570.86 → 575.51"},
		{Along: Vertical, At: begin + 61*day, Text: "2026-10-02 −4.1 % c0ffee1..77ab210"},
	}
	return f
}

func forestExample() *Figure {
	f := &Figure{
		Kind: Forest, Title: "change of latency from session=last~1 to session=last",
		Notes: []string{"4 points: 1 regressed, 1 improved, 1 unchanged, 1 inconclusive; 1 failed"},
		X:     Axis{Label: "change", Unit: "ratio"},
		Y: Axis{Scale: Categories, Categories: []string{
			"bs=16 seq=128 fp32", "bs=8 seq=64 fp64", "bs=1 seq=64 fp32", "bs=4 seq=64 fp32", "bs=32 seq=64 fp32 a long name of a point",
		}},
		Guides: []Guide{
			{Along: Vertical, At: 0, Text: "no change"},
			{Along: Vertical, At: -.05, Until: .05, Text: "equivalence margin ±5 %"},
		},
	}
	add := func(y, x, low, high float64, tone Tone, word string) {
		f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: x, Y: y, Low: low, High: high, Value: none, Tone: tone, Word: word})
	}
	f.Series = []Series{{Style: Intervals}}
	add(0, .147, .121, .172, Regressed, "REGRESSED")
	add(1, .054, -.01, .122, Neutral, "inconclusive")
	add(2, -.019, -.036, -.002, Neutral, "unchanged")
	add(3, -.112, -.13, -.09, Improved, "improved")
	add(4, none, none, none, Failed, "failed on head")
	return f
}

func scatterExample() *Figure {
	random := rand.New(rand.NewPCG(7, 8))
	f := &Figure{
		Kind: Scatter, Title: "latency of 40 points, base against head",
		X: Axis{Label: "base", Unit: "ns", Scale: Log}, Y: Axis{Label: "head", Unit: "ns", Scale: Log},
		Guides: []Guide{{Along: Diagonal, Text: "equal"}},
	}
	s := Series{Style: Points}
	for n := range 40 {
		base := 1e4 * math.Pow(10, float64(n)/10)
		m := mark(base, base*math.Exp(random.NormFloat64()*.05))
		m.Tone = Neutral
		if n%9 == 3 {
			m.Y, m.Tone = m.Y*1.8, Regressed
		}
		if n%11 == 5 {
			m.Y, m.Tone = m.Y*.5, Improved
		}
		s.Marks = append(s.Marks, m)
	}
	f.Series = []Series{s}
	return f
}

func heatmapExample() *Figure {
	f := &Figure{
		Kind: Heatmap, Title: "median latency of tiny_linear fp32 on lab3",
		X:      Axis{Label: "seq_len", Scale: Categories, Categories: []string{"64", "128", "256", "512", "1024"}},
		Y:      Axis{Label: "batch_size", Scale: Categories, Categories: []string{"1", "2", "4", "8", "16"}},
		Values: Axis{Label: "latency", Unit: "ns", Scale: Log},
	}
	s := Series{Style: Cells}
	for x := range 5 {
		for y := range 5 {
			m := mark(float64(x), float64(y))
			m.Value = 103e3 * math.Pow(2, float64(x+y)) * (1 + .1*float64(x*y%3))
			if x == 4 && y == 4 {
				m.Value, m.Tone = none, Failed
			}
			if x != 3 || y != 4 {
				s.Marks = append(s.Marks, m)
			}
		}
	}
	f.Series = []Series{s}
	return f
}

func linesExample() *Figure {
	f := &Figure{
		Kind: Lines, Title: "throughput over batch_size",
		X: Axis{Label: "batch_size", Scale: Log}, Y: Axis{Label: "throughput", Unit: "1/s"},
	}
	for i, name := range []string{"fp32", "fp16", "int8"} {
		s := Series{Name: "precision=" + name, Style: Line}
		for n := range 9 {
			batch := math.Pow(2, float64(n))
			m := mark(batch, 4000*float64(i+1)*batch/(batch+20))
			if i == 1 && n == 5 {
				m.Y, m.Tone = none, Failed
			}
			s.Marks = append(s.Marks, m)
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func paretoExample() *Figure {
	random := rand.New(rand.NewPCG(9, 10))
	f := &Figure{
		Kind: Pareto, Title: "latency against peak memory: what no other point beats in both",
		X: Axis{Label: "peak memory", Unit: "B"}, Y: Axis{Label: "latency", Unit: "ns"},
	}
	rest := Series{Name: "beaten", Style: Points}
	front := Series{Name: "not beaten", Style: Steps}
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
	f.Series = []Series{front, rest}
	return f
}

func panelsExample() *Figure {
	f := linesExample()
	f.Title = "throughput over batch_size, by seq_len"
	for i := range 3 {
		panel := Panel{Title: fmt.Sprintf("seq_len=%d", 64<<i)}
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

// ok ends a test at an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
