package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// drawnMark is a mark as an SVG has it: its numbers, as they stand there.
type drawnMark struct {
	x, y, low, high, value *float64
	run, point             string
	series                 string
}

// drawnIn returns the marks of an SVG, or of the pictures of a page.
func drawnIn(t *testing.T, text string) (all []drawnMark) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var series string
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		element, is := token.(xml.StartElement)
		if !is {
			continue
		}
		data, found := map[string]string{}, false
		for _, a := range element.Attr {
			if name, own := strings.CutPrefix(a.Name.Local, "data-"); own {
				data[name] = a.Value
			}
		}
		if name, is := data["name"]; is {
			series = name
		}
		number := func(name string) *float64 {
			text, is := data[name]
			if !is {
				return nil
			}
			v, err := strconv.ParseFloat(text, 64)
			valuetest.NoError(t, err, "data-", name, text)
			found = true
			return &v
		}
		k := drawnMark{x: number("x"), y: number("y"), low: number("low"), high: number("high"), value: number("value"), run: data["run"], point: data["point"], series: series}
		if found {
			all = append(all, k)
		}
	}
}

// picturesStore has two sessions of four points, of runs with an odd and an even number of samples.
func picturesStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	for session := range 2 {
		for n := range 16 {
			point := n % 4
			var values []string
			for i := range 6 + n%3 {
				values = append(values, fmt.Sprint(1e6*float64(point+1)+float64(1000*((i*7+n*3)%11)+session*5000)+.5))
			}
			fmt.Fprintf(&lines, `{"benchmark": "matmul", "batch_size": %d, "params": {"dim": "%d", "layout": "%s"}, "session_id": "s%d", "started_at": "2026-02-0%dT00:00:%02dZ", "samples": [{"metric": "latency", "unit": "ns", "better": "lower", "values": [%s]}, {"metric": "peak_memory", "unit": "B", "values": [%d]}]}`+"\n",
				1<<(point%2), 64*(1+point/2), []string{"rows", "tiles"}[point/2], session, session+1, n, strings.Join(values, ", "), 1<<20+n+100*session)
		}
	}
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "runs.jsonl"), []byte(lines.String()), 0o644))
	programtest.Output(t, dir, "ingest", "--machine", "lab3", "runs.jsonl")
	return dir
}

// printedRows returns the rows of a query, or of another command with --format json.
func printedRows(t *testing.T, dir string, args ...string) (rows []map[string]any) {
	t.Helper()
	valuetest.OK(t, json.Unmarshal([]byte(programtest.Output(t, dir, args...)), &rows))
	return rows
}

// same tells whether two numbers are equal, up to the last digits of a sum that is computed in another order.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-11*max(math.Abs(a), math.Abs(b)) }

// TestPicturesShowTheStore: every number of a picture is one that SQL over the store gives.
func TestPicturesShowTheStore(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	dir := picturesStore(t)
	query := func(sql string) []map[string]any { return printedRows(t, dir, "query", "--format", "json", sql) }
	draw := func(args ...string) []drawnMark {
		t.Helper()
		marks := drawnIn(t, programtest.Output(t, dir, append(append([]string{"plot"}, args...), "--format", "svg")...))
		if len(marks) == 0 {
			t.Fatalf("%q draws nothing", args)
		}
		return marks
	}
	t.Run("runs", func(t *testing.T) {
		of := map[string][]float64{}
		for _, row := range query("SELECT run_id, value FROM samples_long WHERE metric = 'latency' ORDER BY run_id, i") {
			of[row["run_id"].(string)] = append(of[row["run_id"].(string)], row["value"].(float64))
		}
		seen := map[string]int{}
		for _, k := range draw("runs", "bs=1", "dim=64") {
			if at := seen[k.run]; at >= len(of[k.run]) || *k.y != of[k.run][at] {
				t.Fatalf("sample %d of %s is drawn at %v, stored are %v", at, k.run, *k.y, of[k.run])
			}
			seen[k.run]++
		}
		valuetest.Equal(t, len(seen), 8)
	})
	t.Run("ecdf", func(t *testing.T) {
		for _, k := range draw("ecdf", "session=last", "bs=1", "dim=64") {
			sql := fmt.Sprintf("SELECT count(*) FILTER (value <= %v) AS n, count(*) AS of FROM samples_long WHERE metric = 'latency' AND run_id = '%s'", strconv.FormatFloat(*k.x, 'g', -1, 64), k.run)
			if row := query(sql)[0]; *k.y != row["n"].(float64)/row["of"].(float64) {
				t.Fatalf("%v of samples up to %v, stored are %v", *k.y, *k.x, row)
			}
			if k.run != "" && *k.y == 1 {
				break // of one run all
			}
		}
	})
	medians := map[string]map[string]float64{}
	for _, row := range query("SELECT r.point_id, s.metric, median(s.p50) AS value FROM runs AS r JOIN samples AS s USING (run_id) WHERE r.session_id = (SELECT max(session_id) FROM runs) GROUP BY ALL") {
		id := row["point_id"].(string)
		if medians[id] == nil {
			medians[id] = map[string]float64{}
		}
		medians[id][row["metric"].(string)] = row["value"].(float64)
	}
	for kind, of := range map[string]func(k drawnMark) (number, metric string, v *float64){
		"lines":   func(k drawnMark) (string, string, *float64) { return "y", "latency", k.y },
		"heatmap": func(k drawnMark) (string, string, *float64) { return "value", "latency", k.value },
	} {
		t.Run(kind, func(t *testing.T) {
			for _, k := range draw(kind, "session=last", "--x", "bs") {
				if name, metric, v := of(k); !same(*v, medians[k.point][metric]) {
					t.Errorf("%s of %s is %v, the store has %v", name, k.point, *v, medians[k.point][metric])
				}
			}
		})
	}
	t.Run("bars", func(t *testing.T) {
		wants := map[string]map[string]any{}
		for _, row := range query("SELECT point_id, median(p50) AS median, min(p50) AS low, max(p50) AS high, count(*) AS n FROM runs GROUP BY ALL") {
			valuetest.Equal(t, row["n"].(float64), 8) // of 8 runs, the least and the largest are the ends of the interval
			wants[row["point_id"].(string)] = row
		}
		var report struct {
			Points []struct {
				PointID string `json:"point_id"`
				Metrics []struct {
					Metric string
					Low    float64 `json:"median_low"`
					High   float64 `json:"median_high"`
				}
			}
		}
		valuetest.OK(t, json.Unmarshal([]byte(programtest.Output(t, dir, "report", "--all", "--json", "-")), &report))
		for _, p := range report.Points {
			for _, v := range p.Metrics {
				if want := wants[p.PointID]; v.Metric == "latency" && (!same(v.Low, want["low"].(float64)) || !same(v.High, want["high"].(float64))) {
					t.Errorf("the interval of %s in the report is %v to %v, the store has %v", p.PointID, v.Low, v.High, want)
				}
			}
		}
		marks := draw("lines", "--x", "layout", "--by", "bs")
		valuetest.Equal(t, len(marks), 4)
		for _, k := range marks {
			if want := wants[k.point]; !same(*k.y, want["median"].(float64)) || !same(*k.low, want["low"].(float64)) || !same(*k.high, want["high"].(float64)) {
				t.Errorf("%s is at %v, %v to %v, the store has %v", k.point, *k.y, *k.low, *k.high, want)
			}
		}
	})
	t.Run("strip", func(t *testing.T) {
		own := map[string]float64{}
		for _, row := range query("SELECT run_id, p50 FROM runs") {
			own[row["run_id"].(string)] = row["p50"].(float64)
		}
		marks := draw("strip")
		valuetest.Equal(t, len(marks), len(own))
		for _, k := range marks {
			if *k.x != own[k.run] {
				t.Errorf("run %s is at %v, the store has %v", k.run, *k.x, own[k.run])
			}
		}
	})
	t.Run("pareto", func(t *testing.T) {
		for _, k := range draw("pareto", "session=last", "--x", "latency", "--y", "peak_memory") {
			if k.point != "" && (!same(*k.x, medians[k.point]["latency"]) || !same(*k.y, medians[k.point]["peak_memory"])) {
				t.Errorf("%s is at %v, %v, the store has %v", k.point, *k.x, *k.y, medians[k.point])
			}
		}
	})
	locations := map[string][]float64{} // of each session
	for _, row := range query("SELECT point_id, session_id, median(p50) AS value FROM runs GROUP BY ALL ORDER BY session_id") {
		locations[row["point_id"].(string)] = append(locations[row["point_id"].(string)], row["value"].(float64))
	}
	t.Run("history", func(t *testing.T) {
		sessions := 0
		for _, k := range draw("history") {
			if k.series != "sessions" {
				continue
			}
			sessions++
			if !slices.ContainsFunc(locations[k.point], func(v float64) bool { return same(v, *k.y) }) {
				t.Errorf("%s is at %v, the store has %v", k.point, *k.y, locations[k.point])
			}
		}
		valuetest.Equal(t, sessions, 8)
	})
	t.Run("scatter", func(t *testing.T) {
		for _, k := range draw("scatter", "session=last~1", "session=last") {
			if own := locations[k.point]; !same(*k.x, own[0]) || !same(*k.y, own[1]) {
				t.Errorf("%s is at %v, %v, the store has %v", k.point, *k.x, *k.y, own)
			}
		}
	})
	t.Run("forest", func(t *testing.T) {
		rows := printedRows(t, dir, "compare", "session=last~1", "session=last", "--all", "--format", "json")
		marks := draw("forest", "session=last~1", "session=last")
		for _, row := range rows {
			at := slices.IndexFunc(marks, func(k drawnMark) bool { return k.point == row["head_point_id"] })
			if at < 0 {
				t.Fatalf("no mark of %v", row["head_point_id"])
			}
			if k := marks[at]; math.Abs(*k.x-row["change"].(float64)) > 1e-11 {
				t.Errorf("%s changed by %v, compare says %v", k.point, *k.x, row["change"])
			}
		}
	})
}
