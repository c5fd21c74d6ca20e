package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// samples returns figures with numbers as they come of benchmarks, one of each kind at least.
func samples() map[string]*Figure {
	return map[string]*Figure{
		"forest": forest(12), "forest-30": forest(30), "ecdf": ecdf(50), "runs": runs(70), "ecdf-200": ecdf(200), "runs-200": runs(200), "history": history(), "scatter": scatter(),
		"heatmap": heatmap(), "lines": lines(), "pareto": pareto(), "panels": panels(), "one": one(), "none": {Kind: Lines, Title: "p50 latency by batch size"},
		"many": many(), "forest-panels": forestPanels(), "heatmap-categories": heatmapCategories(), "histories": histories(), "releases": releases(), "forest-ratios": forestRatios(), "heatmap-small": heatmapSmall(),
	}
}

var nan = Unknown()

func random() *rand.Rand { return rand.New(rand.NewPCG(7, 11)) }

func forest(n int) *Figure {
	r := random()
	var names []string
	marks := []Mark{}
	models := []string{"resnet50", "bert-base-uncased", "llama-3-8b-instruct", "whisper-large-v3", "stable-diffusion-xl-base-1.0"}
	for i := range n {
		names = append(names, fmt.Sprintf("%s bs=%d seq=%d %s", models[i%len(models)], 1<<(i%6), 128<<(i%4), []string{"fp16", "bf16", "fp32"}[i%3]))
		change := r.NormFloat64() * .04
		half := .004 + .02*r.Float64()
		m := Mark{
			X: change, Y: float64(i), Low: change - half, High: change + half, Tone: Neutral, Run: fmt.Sprintf("%016x", r.Uint64()),
			Label: fmt.Sprintf("%+.1f %%", 100*change),
		}
		switch {
		case m.Low > .02:
			m.Tone = Regressed
		case m.High < -.02:
			m.Tone = Improved
		}
		m.Text = fmt.Sprintf("%s: %+.1f %%, 95 %% interval %+.1f to %+.1f %%", names[i], 100*change, 100*m.Low, 100*m.High)
		marks = append(marks, m)
	}
	marks[3].High = math.Inf(1)
	marks[5] = Mark{X: nan, Y: 5, Low: nan, High: nan, Tone: Failed, Label: "failed", Text: names[5] + ": failed in head"}
	return &Figure{
		Kind: Forest, Title: "Change of p50 latency, v1.4.0 against v1.3.2",
		Notes:  []string{"5 runs × 100 samples each side. Intervals are of 95 %; the margin within which nothing counts as a change is ±2 %."},
		X:      Axis{Label: "change of latency", Unit: "ratio", Better: Lower},
		Y:      Axis{Scale: Categories, Categories: names},
		Series: []Series{{Style: Intervals, Marks: marks}},
		Guides: []Guide{{Along: Vertical, At: -.02, Until: .02, Text: "no change: ±2 %"}, {Along: Vertical, At: 0}},
	}
}

func forestPanels() *Figure {
	f := forest(6)
	f.Panels = []Panel{{Title: "A100", Series: f.Series, Guides: f.Guides}, {Title: "H100", Series: f.Series, Guides: f.Guides}}
	f.Series, f.Guides = nil, nil
	return f
}

func ecdf(n int) *Figure {
	r := random()
	f := &Figure{
		Kind: ECDF, Title: "Latency of resnet50, batch_size 8, fp16",
		Notes: []string{fmt.Sprintf("Each line is a run of %d samples. 3 runs of the base, 2 of the head.", n)},
		X:     Axis{Label: "latency", Unit: "ns", Better: Lower}, Y: Axis{Label: "share of samples", Unit: "ratio", Low: 0, High: 1},
	}
	for i, name := range []string{"v1.3.2, run 5f3a91c2", "v1.3.2, run 77b0e1d4", "v1.3.2, run 90aa17fe", "v1.4.0, run c1d2e3f4", "v1.4.0, run d00dfeed"} {
		var values []float64
		for range n {
			v := 1.42e6 + float64(i/3)*6e4 + r.NormFloat64()*1.6e4
			if r.Float64() < .07 {
				v += r.ExpFloat64() * 9e4
			}
			values = append(values, math.Round(v))
		}
		slices.Sort(values)
		s := Series{Name: name, Style: Steps}
		for j, v := range values {
			s.Marks = append(s.Marks, Mark{X: v, Y: float64(j+1) / float64(n), Run: name[len(name)-8:], Text: fmt.Sprintf("%.3f ms: %.1f %% of samples", v/1e6, 100*float64(j+1)/float64(n))})
		}
		f.Series = append(f.Series, s)
	}
	f.Guides = []Guide{{Along: Horizontal, At: .5, Text: "median"}, {Along: Horizontal, At: .99, Text: "p99"}}
	return f
}

func runs(n int) *Figure {
	r := random()
	f := &Figure{
		Kind: Runs, Title: "Samples in the order in which they were taken",
		Notes: []string{"Run d00dfeed has a warning: the clock of the GPU fell from 1.98 GHz to 1.41 GHz (throttle) at sample 130."},
		X:     Axis{Label: "sample"}, Y: Axis{Label: "latency", Unit: "ns", Better: Lower},
	}
	for i, name := range []string{"run c1d2e3f4", "run d00dfeed"} {
		s := Series{Name: name, Style: Points}
		for j := range n {
			m := Mark{X: float64(j + 1), Y: 1.42e6 + float64(i)*4e4 + r.NormFloat64()*1.2e4, Run: name}
			if i == 1 && j >= n*6/10 && j < n*8/10 {
				m.Y += 2.5e5 * (1 - math.Exp(-float64(j-n*6/10+1)/4))
				m.Tone = Warned
			}
			m.Text = fmt.Sprintf("sample %d: %.2f ms", j+1, m.Y/1e6)
			s.Marks = append(s.Marks, m)
		}
		f.Series = append(f.Series, s)
	}
	f.Guides = []Guide{{Along: Vertical, At: float64(n*6/10 + 1), Until: float64(n * 8 / 10), Text: "throttle"}}
	return f
}

func history() *Figure {
	r := random()
	const day = 86400
	start := 1767225600.0
	f := &Figure{
		Kind: History, Title: "p50 latency of bert-base-uncased, batch_size 16, seq_len 512",
		Notes: []string{"48 sessions from 1 January to 19 March. 2 changes found; 1 session failed."},
		X:     Axis{Label: "session", Scale: Time}, Y: Axis{Label: "latency", Unit: "ns", Better: Lower},
	}
	points := Series{Style: Points}
	levels := []float64{8.31e6, 9.02e6, 7.74e6}
	bounds := []int{0, 17, 36, 48}
	line := Series{Name: "level between changes", Style: Line, Tone: Neutral}
	at := func(i int) float64 { return start + float64(i)*1.6*day }
	for k, level := range levels {
		for i := bounds[k]; i < bounds[k+1]; i++ {
			v := level + r.NormFloat64()*6e4
			m := Mark{X: at(i), Y: v, Low: v - 8e4, High: v + 8e4, Text: fmt.Sprintf("session %d: %.2f ms", i, v/1e6), Run: fmt.Sprintf("%016x", r.Uint64())}
			switch {
			case i == 25:
				m.Y, m.Low, m.High, m.Tone = nan, nan, nan, Failed
			case i == bounds[k] && k == 1:
				m.Tone = Regressed
			case i == bounds[k] && k == 2:
				m.Tone = Improved
			case i == 30:
				m.Tone = Warned
			}
			points.Marks = append(points.Marks, m)
		}
		line.Marks = append(line.Marks,
			Mark{X: at(bounds[k]), Y: level, Low: nan, High: nan, Text: "level"},
			Mark{X: at(bounds[k+1] - 1), Y: level, Low: nan, High: nan, Text: "level"},
			Mark{X: at(bounds[k+1] - 1), Y: nan, Low: nan, High: nan})
	}
	f.Series = []Series{line, points}
	f.Guides = []Guide{
		{Along: Vertical, At: at(17), Text: "+8.5 % at 9f2c1aa"},
		{Along: Vertical, At: at(36), Text: "−14.2 % at 03be77d"},
		{Along: Vertical, At: at(20), Text: "v1.3.0"},
		{Along: Vertical, At: at(38), Text: "v1.4.0"},
	}
	return f
}

func scatter() *Figure {
	r := random()
	f := &Figure{
		Kind: Scatter, Title: "p50 latency of 60 points, head against base",
		Notes: []string{"Below the line, the head is quicker."},
		X:     Axis{Label: "latency of v1.3.2", Unit: "ns", Scale: Log}, Y: Axis{Label: "latency of v1.4.0", Unit: "ns", Scale: Log, Better: Lower},
		Guides: []Guide{{Along: Diagonal, Text: "no change"}},
	}
	s := Series{Style: Points}
	for i := range 60 {
		v := math.Exp(math.Log(4e4) + r.Float64()*math.Log(2e4))
		m := Mark{X: v, Y: v * math.Exp(r.NormFloat64()*.05), Tone: Neutral}
		switch {
		case i%11 == 3:
			m.Y, m.Tone, m.Label = v*1.5, Regressed, fmt.Sprintf("bs=%d fp32", 1<<(i%6))
		case i%13 == 5:
			m.Y, m.Tone, m.Label = v*.6, Improved, fmt.Sprintf("bs=%d fp16", 1<<(i%6))
		}
		m.Text = fmt.Sprintf("point %d", i)
		s.Marks = append(s.Marks, m)
	}
	f.Series = []Series{s}
	return f
}

func heatmap() *Figure {
	f := &Figure{
		Kind: Heatmap, Title: "p50 latency over batch_size and seq_len, llama-3-8b, bf16",
		Notes: []string{"5 runs × 50 samples each. × failed: out of memory."},
		X:     Axis{Label: "batch_size", Scale: Log}, Y: Axis{Label: "seq_len", Scale: Log},
		Values: Axis{Label: "latency", Unit: "ns", Scale: Log, Better: Lower},
	}
	s := Series{Style: Cells}
	for _, bs := range []float64{1, 2, 4, 8, 16, 32, 64} {
		for _, seq := range []float64{128, 256, 512, 1024, 2048, 4096} {
			m := Mark{X: bs, Y: seq, Value: math.Round(3.1e6 + 1.7e4*bs*math.Pow(seq, .93)), Text: fmt.Sprintf("batch_size %v, seq_len %v", bs, seq)}
			if bs*seq > 131072 {
				m.Value, m.Tone = nan, Failed
			}
			s.Marks = append(s.Marks, m)
		}
	}
	f.Series = []Series{s}
	return f
}

func heatmapCategories() *Figure {
	r := random()
	f := &Figure{
		Kind: Heatmap, Title: "Throughput by kernel and device",
		X:      Axis{Label: "device", Scale: Categories, Categories: []string{"NVIDIA A100-SXM4-80GB", "NVIDIA H100 PCIe", "NVIDIA H200", "AMD Instinct MI300X", "Intel Gaudi 3", "NVIDIA RTX 4090"}},
		Y:      Axis{Label: "kernel", Scale: Categories},
		Values: Axis{Label: "throughput", Unit: "flop/s", Better: Higher},
	}
	s := Series{Style: Cells}
	for j := range 8 {
		f.Y.Categories = append(f.Y.Categories, fmt.Sprintf("attention_flash_v%d_causal_head%d", j%3+1, 32<<(j%3)))
		for i := range 6 {
			s.Marks = append(s.Marks, Mark{X: float64(i), Y: float64(j), Value: 1e12 * (20 + 600*r.Float64()), Text: "cell"})
		}
	}
	f.Series = []Series{s}
	return f
}

func lineSeries(name string, scale float64) Series {
	s := Series{Name: name, Style: Line}
	for _, bs := range []float64{1, 2, 4, 8, 16, 32, 64, 128} {
		m := Mark{X: bs, Y: scale * (1.2e6 + 2.1e5*math.Pow(bs, .9)), Low: nan, High: nan, Text: fmt.Sprintf("%s, batch_size %v", name, bs)}
		m.Low, m.High = m.Y*.97, m.Y*1.03
		if name == "fp32" && bs == 16 {
			m.Y, m.Low, m.High, m.Tone = nan, nan, nan, Failed
		}
		s.Marks = append(s.Marks, m)
	}
	return s
}

func lines() *Figure {
	return &Figure{
		Kind: Lines, Title: "p50 latency by batch_size, a line for each dtype",
		Notes: []string{"5 runs × 100 samples each, with intervals of 95 %."},
		X:     Axis{Label: "batch_size", Scale: Log}, Y: Axis{Label: "latency", Unit: "ns", Better: Lower},
		Series: []Series{lineSeries("fp32", 2.3), lineSeries("tf32", 1.25), lineSeries("bf16", 1.05), lineSeries("fp16", 1), lineSeries("int8", .62)},
	}
}

func panels() *Figure {
	f := lines()
	f.Series = nil
	for i, model := range []string{"resnet50", "bert-base-uncased", "llama-3-8b-instruct", "whisper-large-v3", "stable-diffusion-xl-base-1.0"} {
		k := 1 + float64(i)*.4
		f.Panels = append(f.Panels, Panel{Title: model, Series: []Series{lineSeries("fp32", 2.3*k), lineSeries("tf32", 1.25*k), lineSeries("fp16", k)}})
	}
	return f
}

func pareto() *Figure {
	r := random()
	f := &Figure{
		Kind: Pareto, Title: "Throughput against memory: what no other point beats in both",
		X: Axis{Label: "peak memory", Unit: "B", Better: Lower}, Y: Axis{Label: "throughput", Unit: "1/s", Better: Higher},
	}
	front := Series{Name: "best", Style: Steps}
	rest := Series{Name: "beaten", Style: Points, Tone: Neutral}
	for i := range 7 {
		gib := 4 + 9*float64(i)
		front.Marks = append(front.Marks, Mark{
			X: math.Round(gib * (1 << 30)), Y: 900 * math.Pow(float64(i+1), .8), Label: fmt.Sprintf("bs=%d %s", 1<<i, []string{"int8", "fp16", "bf16"}[i%3]), Text: "best",
		})
	}
	for range 50 {
		gib := 6 + 56*r.Float64()
		rest.Marks = append(rest.Marks, Mark{X: math.Round(gib * (1 << 30)), Y: 900 * math.Pow((gib-4)/9+1, .8) * (.25 + .65*r.Float64()), Text: "beaten"})
	}
	f.Series = []Series{rest, front}
	return f
}

func one() *Figure {
	return &Figure{
		Kind: History, Title: "p50 latency", X: Axis{Label: "session", Scale: Time}, Y: Axis{Label: "latency", Unit: "ns"},
		Series: []Series{{Style: Points, Marks: []Mark{{X: 1767225600, Y: 1.42e6, Text: "1.42 ms"}}}},
	}
}

func many() *Figure {
	r := random()
	f := &Figure{
		Kind: Runs, Title: strings.Repeat("A long title that goes on ", 8),
		X: Axis{Label: "sample"}, Y: Axis{Label: "latency", Unit: "ns", Scale: Log},
	}
	for i := range 20 {
		s := Series{Name: fmt.Sprintf("run %08x of llama-3-8b-instruct in a session with a long name", r.Uint32()), Style: Points}
		for j := range 100 {
			s.Marks = append(s.Marks, Mark{X: float64(i*100 + j), Y: math.Exp(11+r.NormFloat64()) * float64(i+1), Text: "sample"})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func histories() *Figure {
	f := history()
	one := Panel{Series: f.Series, Guides: f.Guides}
	f.Series, f.Guides = nil, nil
	f.Y.Own = true
	f.Title = "p50 latency of 4 points of bert-base-uncased"
	for i, name := range []string{"batch_size 1", "batch_size 8", "batch_size 32", "batch_size 128"} {
		p := Panel{Title: name}
		for _, s := range one.Series {
			s.Marks = slices.Clone(s.Marks)
			for j := range s.Marks {
				m := &s.Marks[j]
				factor := math.Pow(7, float64(i))
				m.Y, m.Low, m.High = m.Y*factor, m.Low*factor, m.High*factor
			}
			p.Series = append(p.Series, s)
		}
		if i%2 == 0 {
			p.Guides = one.Guides
		}
		f.Panels = append(f.Panels, p)
	}
	return f
}

func releases() *Figure {
	f := history()
	f.Guides = nil
	for i := range 24 {
		f.Guides = append(f.Guides, Guide{Along: Vertical, At: f.Series[1].Marks[2*i].X, Text: fmt.Sprintf("release v1.%d.0 of the engine", i)})
	}
	return f
}

func heatmapSmall() *Figure {
	r := random()
	f := heatmap()
	f.Series[0].Marks = nil
	for i := range 40 {
		for j := range 30 {
			f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: float64(i + 1), Y: float64(j + 1), Value: 1e6 * math.Exp(r.NormFloat64()*2), Text: "cell"})
		}
	}
	return f
}

// forestRatios has changes by several times, and a series for each verdict.
func forestRatios() *Figure {
	f := forest(9)
	f.X = Axis{Label: "latency, head / base", Scale: Log, Better: Lower}
	f.Guides = []Guide{
		{Along: Vertical, At: 1, Until: 1, Text: "no change"}, {Along: Vertical, At: .9, Until: 1 / .9, Text: "below 10 % counts as none"},
	}
	marks := f.Series[0].Marks
	f.Series = nil
	for _, verdict := range []struct {
		tone Tone
		name string
	}{{Regressed, "regressed"}, {Improved, "improved"}, {Neutral, "inconclusive"}, {Failed, "failed"}} {
		s := Series{Style: Intervals, Tone: verdict.tone, Name: verdict.name}
		for _, m := range marks {
			if m.Tone == verdict.tone {
				m.X, m.Low, m.High, m.Tone = math.Exp(14*m.X), math.Exp(14*m.Low), math.Exp(14*m.High), Plain
				if finite(m.X) {
					m.Label = fmt.Sprintf("×%.2f", m.X)
				}
				s.Marks = append(s.Marks, m)
			}
		}
		f.Series = append(f.Series, s)
	}
	return f
}
