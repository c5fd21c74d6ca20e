package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

const columns = 80

// TestHostileNames: names, errors and warnings of any runs do nothing in any chart, whatever it is written as.
func TestHostileNames(t *testing.T) {
	drawn := hostileFigures(t)
	valuetest.Equal(t, len(drawn), len(kinds))
	for kind, f := range drawn {
		for way, check := range map[string]func(*testing.T, []byte){
			"svg": checkSVG, "png": checkPNG, vegaLite: checkJSON, term.FormatTable: checkLines, term.FormatMD: checkBlock,
			term.FormatJSON: checkJSON, term.FormatJSONL: checkEachJSON, term.FormatCSV: checkCSV, term.FormatPlain: checkPlain,
		} {
			t.Run(kind+" "+way, func(t *testing.T) {
				if way == "png" && kind != "scatter" && os.Getenv("NEUROLENS_LONG") == "" {
					t.Skip("set NEUROLENS_LONG=1: the pictures of all kinds take more than a second")
				}
				got := writtenAs(t, f, way)
				if most := 6000 * (f.Marks() + 40); len(got) > most && way != "png" {
					t.Errorf("%d bytes for %d marks", len(got), f.Marks())
				}
				check(t, got)
			})
		}
	}
}

// hostileRuns returns runs of two sessions, in every place of which the texts stand. Some fail, some have a warning.
func hostileRuns() (runs []schema.Run) {
	began := time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)
	for session := range 2 {
		for i, text := range programtest.Hostile() {
			started := began.AddDate(0, 0, session).Add(time.Duration(i) * time.Second)
			id := func(n int) string { return schema.ULIDFrom(started, [10]byte{byte(n), 1: byte(i)}).String() }
			r := schema.Run{
				RunID: id(session), SessionID: schema.ULIDFrom(began.AddDate(0, 0, session), [10]byte{9: byte(session)}).String(), Purpose: schema.PurposeMeasure,
				Source: schema.SourceNeuroLens, Status: schema.StatusOK, Benchmark: "matmul", Variant: text, BatchSize: new(int64(1 + i%3)),
				Params: map[string]string{"text": text, "dim": fmt.Sprint(i % 4)}, StartedAt: started, TimeSource: schema.TimeClock,
				Env: schema.Env{Machine: text}, Primary: "latency", Warnings: []string{"drift"},
			}
			r.Metrics = []schema.Metric{
				{Name: "latency", Unit: "ns", Better: schema.BetterLower, Level: schema.LevelIteration, Clock: "monotonic", Tick: 1, Ticks: []int64{1000, 1010 + int64(i), 1020}},
				{Name: "accuracy", Unit: "ratio", Better: schema.BetterHigher, Reals: []float64{.5 + .001*float64(i)}},
			}
			if i%9 == 8 {
				r.Status, r.Stage, r.Error, r.Metrics, r.Primary = schema.StatusError, schema.StageMeasure, text, nil, ""
			}
			r.PointID = schema.PointID(&r)
			runs = append(runs, r)
			if r.Status == schema.StatusOK { // and a pass of a profiler
				p := r
				p.RunID, p.Purpose, p.Metrics, p.Primary = id(session+2), schema.PurposeProfile, nil, ""
				p.Ops = []schema.Op{{Index: 0, Name: text, DurationNS: new(int64(1000 + i))}, {Index: 1, Name: "gemm", DurationNS: new(int64(500))}}
				runs = append(runs, p)
			}
		}
	}
	return runs
}

// hostileFigures returns figures of every kind of these runs.
func hostileFigures(t *testing.T) map[string]*chart.Figure {
	t.Helper()
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "runs_store")
	programtest.NewStore(t, dir, hostileRuns()...)
	db := valuetest.Must(query.Open(ctx, []string{dir}, query.Options{}))
	t.Cleanup(func() { db.Close() })
	all := map[string]*chart.Figure{}
	keep := func(kind string) func(f *chart.Figure, err error) {
		return func(f *chart.Figure, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			all[kind] = f
		}
	}
	m := chartdata.Maker{Reader: views.Display{Width: columns, Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}}
	f, _, err := m.ECDF(ctx, db, chartdata.Sampled{})
	keep("ecdf")(f, err)
	f, _, err = m.Runs(ctx, db, chartdata.Sampled{By: "text"})
	keep("runs")(f, err)
	f, _, err = m.Strip(ctx, db, chartdata.Sampled{})
	keep("strip")(f, err)
	profiles := valuetest.Must(m.Profiles(ctx, db, ""))
	keep("ops")(m.Operators(profiles))
	f, _, err = m.History(ctx, db, history.Request{})
	keep("history")(f, err)
	c := valuetest.Must(compare.Compare(ctx, db, compare.Request{Base: "session=last~1", Head: "session=last", Worst: compare.Verdicts}))
	asked := chartdata.Selection{Selections: []string{"session=last~1", "session=last"}}
	keep("forest")(m.Forest(&c, asked))
	keep("scatter")(m.Scatter(&c, asked))
	points, _, err := summary.Points(ctx, db, "plot", "")
	if err != nil {
		t.Fatal(err)
	}
	keep("heatmap")(m.Heatmap(chartdata.Points{All: points, X: "dim", Y: "text"}))
	keep("lines")(m.Lines(chartdata.Points{All: points, X: "dim", By: "text"}))
	keep("pareto")(m.Pareto(chartdata.Points{All: points, X: "latency", Y: "accuracy"}))
	watched := runtest.Telemetry(hostileRuns()[0], 1980, 1410)
	keep("telemetry")(m.Telemetry(&query.Detail{Run: watched, Metrics: watched.Metrics}))
	profiled := hostileRuns()[0]
	for i, text := range programtest.Hostile() {
		profiled.Ops = append(profiled.Ops, schema.Op{Index: int64(i), Name: "main;" + text, Type: "stack", Count: new(int64(1 + i))})
	}
	keep("flame")(m.Flame(&profiled))
	return all
}

// writtenAs returns what plot writes of a figure.
func writtenAs(t *testing.T, f *chart.Figure, way string) []byte {
	t.Helper()
	var out bytes.Buffer
	d := &drawing{kind: f.Kind, app: &app{
		stdout: &out, stderr: io.Discard, format: way, width: columns, terminal: true, color: "never", getenv: func(string) string { return "" }, now: time.Now,
	}}
	if way == vegaLite || isImage(way) {
		d.to = target{file: stdoutFile, image: way}
	}
	valuetest.OK(t, d.write(f, nil))
	return out.Bytes()
}

// checkText checks that a text steers nothing, but for characters that are allowed.
func checkText(t *testing.T, text, allowed string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.ContainsFunc(line, func(r rune) bool { return term.IsControl(r) && !strings.ContainsRune(allowed, r) }) {
			t.Errorf("it steers: %.300q", line)
			return
		}
	}
}

func checkLines(t *testing.T, got []byte) {
	t.Helper()
	checkText(t, string(got), "\n")
	for line := range strings.Lines(string(got)) {
		if n := term.Width(strings.TrimRight(line, "\n")); n > columns {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

// checkBlock checks that nothing ends the block of code of Markdown but its end.
func checkBlock(t *testing.T, got []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(string(got), "\n"), "\n")
	fence := strings.TrimSuffix(lines[0], "text")
	if strings.Trim(fence, "`") != "" || len(fence) < 3 || lines[len(lines)-1] != fence {
		t.Errorf("the block begins with %q and ends with %q", lines[0], lines[len(lines)-1])
	}
	for _, line := range lines[1 : len(lines)-1] {
		if strings.HasPrefix(strings.TrimSpace(line), fence) {
			t.Errorf("%q ends the block", line)
		}
	}
	checkText(t, string(got), "\n")
}

func checkPNG(t *testing.T, got []byte) {
	t.Helper()
	valuetest.NoError(t, valuetest.Error(png.Decode(bytes.NewReader(got))))
}

func checkJSON(t *testing.T, got []byte) {
	t.Helper()
	var value any
	valuetest.NoError(t, json.Unmarshal(got, &value), got)
	checkText(t, string(got), "\n")
}

func checkEachJSON(t *testing.T, got []byte) {
	t.Helper()
	for line := range bytes.Lines(got) {
		checkJSON(t, line)
	}
}

func checkPlain(t *testing.T, got []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(string(got), "\n"), "\n")
	for _, line := range lines {
		valuetest.Equal(t, strings.Count(line, "\t"), strings.Count(lines[0], "\t"), "a row of other columns than the header", line)
	}
}

// checkCSV checks that a spreadsheet takes no text for a formula.
func checkCSV(t *testing.T, got []byte) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(got)).ReadAll() // it refuses rows of other lengths
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		for i, cell := range row {
			var number float64
			if cell == "" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				continue
			}
			if _, err := fmt.Sscan(cell, &number); err != nil {
				t.Errorf("%s is %.80q", rows[0][i], cell)
			}
		}
	}
}

// inSVG are the elements of a chart.
var inSVG = map[string]bool{"svg": true, "title": true, "desc": true, "style": true, "g": true, "path": true, "circle": true, "rect": true, "text": true}

func checkSVG(t *testing.T, got []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(got))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !inSVG[token.Name.Local] {
				t.Errorf("there is an element %s", token.Name.Local)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "style" {
					t.Errorf("<%s %s=%.80q>", token.Name.Local, a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			checkText(t, string(token), "\n")
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Errorf("there is %v", token)
		}
	}
}
