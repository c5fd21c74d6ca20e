package report

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

func TestMain(m *testing.M) { os.Exit(runtest.InMemory{M: m}.Run()) }

var morning = time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)

const hostileTexts = `<script>alert(1)</script>`

// measuredRun returns a run of a variant, with samples of latency and its peak of memory.
func measuredRun(n int, variant string, latency, memory int64) schema.Run {
	r := schema.Run{
		RunID: schema.ULIDFrom(morning.Add(time.Duration(n)*time.Second), [10]byte{9: byte(n)}).String(), SessionID: schema.ULIDFrom(morning, [10]byte{}).String(),
		Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens, Status: schema.StatusOK, Suite: "s", Benchmark: "attend", Variant: variant,
		StartedAt: morning.Add(time.Duration(n) * time.Second), TimeSource: schema.TimeClock, Env: schema.Env{Machine: "lab3"}, Primary: "latency",
	}
	r.Metrics = []schema.Metric{
		{Name: "latency", Unit: "ns", Better: schema.BetterLower, Level: schema.LevelIteration, Clock: "monotonic", Tick: 1, Ticks: []int64{latency, latency + 3, latency + 5}},
		{Name: "peak_memory", Unit: "B", Better: schema.BetterLower, Reals: []float64{float64(memory)}},
	}
	r.PointID = schema.PointID(&r)
	return r
}

// profiledRun returns a pass of a profiler over a variant, with operators in their order.
func profiledRun(n int, variant string, ops ...schema.Op) schema.Run {
	r := measuredRun(n, variant, 1000, 0)
	r.Purpose, r.Metrics, r.Primary = schema.PurposeProfile, nil, ""
	for i := range ops {
		ops[i].Index = int64(i)
	}
	r.Ops = ops
	return r
}

func op(kind string, took int64) schema.Op {
	return schema.Op{Name: kind + "_0", Type: kind, DurationNS: &took, Count: new(int64(2))}
}

// failedRun returns a run that failed with some error, and left facts.
func failedRun(n int, variant, text string, facts map[string]string) schema.Run {
	r := measuredRun(n, variant, 1000, 0)
	r.Status, r.Stage, r.Error, r.Metrics, r.Primary = schema.StatusError, schema.StageMeasure, text, nil, ""
	r.Env.Facts = facts
	return r
}

// storedRuns returns runs in a store, with what a run has written on its standard error.
func storedRuns(t *testing.T, runs []schema.Run, wrote map[int]string, said ...ingest.Annotation) *query.DB {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	ok(t, ingest.Init(dir))
	s, err := ingest.Open(dir, "test")
	ok(t, err)
	for i, text := range wrote {
		hash, size, err := s.KeepArtifact(strings.NewReader(text))
		ok(t, err)
		runs[i].Artifacts = []schema.Artifact{{Kind: "stderr", Path: "stderr", SHA256: hash, Bytes: &size}}
	}
	if _, err := s.AppendAll(runtest.Each(runs...)); err != nil {
		t.Fatal(err)
	}
	for _, a := range said {
		if _, err := s.Annotate(a); err != nil {
			t.Fatal(err)
		}
	}
	ok(t, s.Close())
	db, err := query.Open(t.Context(), []string{dir}, query.Options{})
	ok(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// writtenPage returns the page of a report of all runs.
func writtenPage(t *testing.T, db *query.DB) string {
	t.Helper()
	return writtenOf(t, db, summary.Request{})
}

// writtenOf is that of a report that is asked for.
func writtenOf(t *testing.T, db *query.DB, req summary.Request) string {
	t.Helper()
	r, _, err := summary.Read(t.Context(), db, req)
	ok(t, err)
	m := Maker{Reader: views.Display{Now: morning.AddDate(0, 0, 1)}, By: "neurolens test"}
	path := filepath.Join(t.TempDir(), "page.html")
	ok(t, WriteHTML(t.Context(), db, HTMLPage{Maker: m, Report: r, Document: m.Document(r), Path: path}))
	text, err := os.ReadFile(path)
	ok(t, err)
	if strings.Contains(string(text), hostileTexts) {
		t.Error("a name is part of the page")
	}
	return string(text)
}

// tableRows returns the rows of a table of a page: the key and the stored values, and then the texts of the cells.
func tableRows(page, name string) (all [][]string) {
	_, rest, found := strings.Cut(page, ` data-name="`+name+`"`)
	if !found {
		return nil
	}
	body, _, _ := strings.Cut(rest, "</table>")
	for _, row := range strings.Split(body, "\n<tr")[1:] {
		data := regexp.MustCompile(`^ data-v="?([^">]*)"?>`).FindStringSubmatch(row)
		cells := strings.Split(row, "<td")[1:]
		parts := strings.Split(data[1], ";")
		for _, c := range cells {
			_, text, _ := strings.Cut(c, ">")
			parts = append(parts, text)
		}
		all = append(all, parts)
	}
	return all
}

// marksOf returns the values of an attribute of the marks behind a text in its section, by their runs.
func marksOf(page, section, attribute string) map[string]float64 {
	_, rest, _ := strings.Cut(page, section)
	body, _, _ := strings.Cut(rest, "</section>")
	all := map[string]float64{}
	for _, tag := range regexp.MustCompile(`<[a-z]+ [^>]*data-run="[^>]*>`).FindAllString(body, -1) {
		run, value := regexp.MustCompile(`data-run="([^"]*)"`).FindStringSubmatch(tag), regexp.MustCompile(attribute+`="([^"]*)"`).FindStringSubmatch(tag)
		if value != nil {
			all[run[1]], _ = strconv.ParseFloat(value[1], 64)
		}
	}
	return all
}

// TestOperatorsOfPage: the tables have what query says of the newest profiled run of each point, with the rest summed; of a point and its
// baseline that comes first in which they differ most.
func TestOperatorsOfPage(t *testing.T) {
	var many []schema.Op
	for i := range 11 {
		many = append(many, op(fmt.Sprintf("op%02d", i), int64(1+i)))
	}
	base := append([]schema.Op{op("MatMul", 700), op("Gone"+hostileTexts, 200)}, many...)
	head := append([]schema.Op{op("MatMul", 300), op("New", 40)}, many...)
	runs := []schema.Run{
		measuredRun(0, "baseline", 1000, 1), measuredRun(1, "fast", 500, 1), profiledRun(2, "baseline", op("Old", 5)),
		profiledRun(3, "baseline", base...), profiledRun(4, "fast", head...), profiledRun(5, "alone", op("MatMul", 9)),
	}
	db := storedRuns(t, runs, nil)
	page := writtenPage(t, db)
	parts, err := summary.OperatorMixes(t.Context(), db, []string{runs[3].RunID, runs[4].RunID, runs[5].RunID})
	ok(t, err)
	sums, shares, rows := map[string]int64{}, map[string]float64{}, map[string]int{}
	for _, row := range tableRows(page, "operators") {
		took, _ := strconv.ParseInt(row[1], 10, 64)
		share, _ := strconv.ParseFloat(row[2], 64)
		if k := rows[row[0]]; k < maxOperators && (took != parts[row[0]][k].DurationNS || share != parts[row[0]][k].Share) {
			t.Errorf("row %d is %q, want %+v", k, row, parts[row[0]][k])
		}
		sums[row[0]], shares[row[0]] = sums[row[0]]+took, shares[row[0]]+share
		rows[row[0]]++
	}
	for run, want := range map[string]int64{runs[3].RunID: 966, runs[4].RunID: 406, runs[5].RunID: 9} {
		if sums[run] != want || shares[run] < .999999 || shares[run] > 1.000001 {
			t.Errorf("run %s: %d ns, share %v, want %d", run, sums[run], shares[run], want)
		}
	}
	if rows[runs[3].RunID] != maxOperators+1 || rows[runs[5].RunID] != 1 || rows[runs[2].RunID] != 0 {
		t.Errorf("rows: %v", rows)
	}
	var seen []string
	var change int64
	for _, row := range tableRows(page, "operators-1") {
		by, _ := strconv.ParseInt(row[3], 10, 64)
		change += by
		seen = append(seen, row[0][len(row[0])-2:]+" "+strings.Join(row[1:4], " ")+" "+row[5]+" "+row[9]+" "+row[10])
	}
	want := []string{
		"04 700 300 -400 MatMul −57.1 % 2", "04 200  -200 Gone&lt;script&gt;alert(1)&lt;/script&gt; gone 2 → –", "04  40 40 New new – → 2",
	}
	for i := range want {
		if len(seen) != maxOperators+1 || seen[i] != want[i] {
			t.Errorf("%d rows; row %d is %q, want %q", len(seen), i, seen[i], want[i])
		}
	}
	if change != 406-966 {
		t.Errorf("all changes are %d ns", change)
	}
	if !strings.Contains(page, "neurolens show KEY --ops") || !strings.Contains(page, "neurolens plot ops") || len(marksOf(page, `<section id="operators"`, "data-value")) != 3 {
		t.Error("a command or the chart is missing")
	}
}

// TestOperatorsOfTwoSelections: of a base and a head each point has the operators of both, and in what these differ.
func TestOperatorsOfTwoSelections(t *testing.T) {
	next := func(r schema.Run) schema.Run { // a day later, in a session of its own
		r.StartedAt = r.StartedAt.AddDate(0, 0, 1)
		r.RunID, r.SessionID = schema.ULIDFrom(r.StartedAt, [10]byte{8: 1}).String(), schema.ULIDFrom(morning.AddDate(0, 0, 1), [10]byte{}).String()
		return r
	}
	runs := []schema.Run{
		measuredRun(0, "a", 1000, 1), profiledRun(1, "a", op("MatMul", 700), op("Gone", 200)), next(measuredRun(0, "a", 900, 1)), next(profiledRun(1, "a", op("MatMul", 400))),
	}
	page := writtenOf(t, storedRuns(t, runs, nil), summary.Request{Base: "session=" + runs[0].SessionID, Filter: "session=" + runs[2].SessionID})
	var seen []string
	for _, row := range tableRows(page, "operators-1") {
		seen = append(seen, strings.Join(row[1:4], " ")+" "+row[5])
	}
	if want := []string{"700 400 -300 MatMul", "200  -200 Gone"}; !slices.Equal(seen, want) {
		t.Errorf("rows are %q, want %q", seen, want)
	}
	for _, want := range []string{"Operators against the base", " base<td>MatMul", " head<td>MatMul"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// TestOutputsOfPage: of each reason for which runs failed there are the last lines of one of them: of its stack, its standard error or what
// is kept of it; as text, and no more than some.
func TestOutputsOfPage(t *testing.T) {
	long := strings.Repeat("noise\n\n", 20) + "\n" + hostileTexts + "\x1b[2J\nthe end" + strings.Repeat("!", 5000) + "\n\n\n"
	runs := []schema.Run{
		measuredRun(0, "ok", 1000, 1),
		failedRun(1, "a", "first", map[string]string{"runner.stderr_tail": "an older run"}),
		failedRun(2, "b", "first", map[string]string{"runner.stderr_tail": long}),
		failedRun(3, "c", "first", nil), // wrote nothing
		failedRun(4, "d", "second", map[string]string{"runner.stack": "File x\nValueError: no", "runner.stderr_tail": "not this"}),
		failedRun(5, "e", "third", nil),
		failedRun(6, "f", "fourth", nil),
	}
	page := writtenPage(t, storedRuns(t, runs, map[int]string{5: "kept on disk\n" + hostileTexts}))
	_, rest, _ := strings.Cut(page, `<section id="failures"`)
	failures, _, _ := strings.Cut(rest, "</section>")
	for _, want := range []string{
		"<pre tabindex=\"0\">noise\n\nnoise\n\nnoise\n\nnoise\n\n\n&lt;script&gt;alert(1)&lt;/script&gt;·[2J\nthe end!!!", "(first) ended with this standard error:", "neurolens show " + views.ShortRun(runs[2].RunID) + "<",
		"(second) ended with this stack of calls:", "ValueError: no</pre>", "kept on disk\n&lt;script&gt;",
	} {
		if !strings.Contains(failures, want) {
			t.Errorf("%q is not there", want)
		}
	}
	for _, not := range []string{"an older run", "not this", strings.Repeat("!", 400), "(fourth) ended"} {
		if strings.Contains(failures, not) {
			t.Errorf("%q is there", not)
		}
	}
	if n := strings.Count(failures, "noise"); n != 4 { // with the empty lines between them, and two lines more, eleven: the twelfth is empty
		t.Errorf("%d lines", n)
	}
}

// TestMemoryOfPage: what runs took at most is drawn as query has it, where they differ in it.
func TestMemoryOfPage(t *testing.T) {
	runs := []schema.Run{measuredRun(0, "a", 1000, 100), measuredRun(1, "a", 1001, 120), measuredRun(2, "b", 900, 300)}
	db := storedRuns(t, runs, nil)
	page := writtenPage(t, db)
	list, err := db.List(t.Context(), query.ListRequest{Metrics: []string{"peak_memory"}})
	ok(t, err)
	drawn := marksOf(page, "peak_memory of each run", "data-x")
	for _, r := range list.Runs {
		if drawn[r.RunID] != *r.Median {
			t.Errorf("%s is at %v, want %v", r.RunID, drawn[r.RunID], *r.Median)
		}
	}
	if !strings.Contains(page, "neurolens plot strip <span class=whole>--metric</span> peak_memory") {
		t.Error("no command draws it")
	}
	same := []schema.Run{measuredRun(0, "a", 1000, 1000), measuredRun(1, "b", 1001, 1001)}
	if page := writtenPage(t, storedRuns(t, same, nil)); strings.Contains(page, "peak_memory of each run") {
		t.Error("equal values are drawn")
	}
}

// TestNotesOfPage: what was said about sessions stands on the page, as text.
func TestNotesOfPage(t *testing.T) {
	runs := []schema.Run{measuredRun(0, "a", 1000, 1), measuredRun(1, "b", 900, 1)}
	page := writtenPage(t, storedRuns(t, runs, nil, ingest.Annotation{Kind: schema.EventNote, Value: "fan " + hostileTexts, Runs: []string{runs[0].RunID}},
		ingest.Annotation{Kind: schema.EventTag, Key: "release", Value: "1.4", Runs: []string{runs[0].RunID, runs[1].RunID}},
		ingest.Annotation{Kind: schema.EventTag, Key: "cooling", Value: "water", Runs: []string{runs[1].RunID}}))
	var got []string
	for _, row := range tableRows(page, "notes") {
		got = append(got, row[0]+" "+strings.Join(row[2:5], " "))
	}
	session := runs[0].SessionID
	want := []string{session + " 1 note fan &lt;script&gt;alert(1)&lt;/script&gt;", session + " 1 tag cooling=water", session + " 2 release 1.4"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	if page := writtenPage(t, storedRuns(t, runs, nil)); tableRows(page, "notes") != nil {
		t.Error("there are notes of nothing")
	}
}

// nightlyRuns returns runs of so many nights and points with long names; all got 20 % slower halfway.
func nightlyRuns(nights, points int) (runs []schema.Run) {
	for night := range nights {
		began := morning.AddDate(0, 0, night-nights)
		for i := range points {
			latency := int64(1_000_000 + 1000*i + 700*((night*7+i)%9))
			if night >= nights/2 {
				latency += latency / 5
			}
			r := measuredRun(0, strings.Repeat("long ", 30)+strconv.Itoa(i), latency, 0)
			r.Metrics, r.StartedAt = r.Metrics[:1], began.Add(time.Duration(i)*time.Second)
			r.RunID, r.SessionID = schema.ULIDFrom(r.StartedAt, [10]byte{9: byte(i)}).String(), schema.ULIDFrom(began, [10]byte{8: 1}).String()
			runs = append(runs, r)
		}
	}
	return runs
}

// TestHistoryComesFirst: however many sessions and long names there are, the chart over sessions is the first of the page, and nothing is
// left out for it.
func TestHistoryComesFirst(t *testing.T) {
	page := writtenPage(t, storedRuns(t, nightlyRuns(80, 14), nil))
	first, _, _ := strings.Cut(page, "</section>\n<section id=\"next\"")
	if !strings.Contains(first, `<section id="trends"`) || strings.Count(first, "<svg") != 1 || strings.Contains(page, "Left out to keep") || strings.Count(page, "<svg") != 1 {
		t.Errorf("the page has %d charts, %d of them first", strings.Count(page, "<svg"), strings.Count(first, "<svg"))
	}
	if most := pageRoom + pointRoom*14; len(page) > most {
		t.Errorf("the page has %d bytes, want %d at most", len(page), most)
	}
	if rows := tableRows(page, "trends"); len(rows) != 14 || !strings.Contains(page, "Slower: attend long ") || !strings.Contains(page, "A mark combines up to ") {
		t.Errorf("%d rows of trends", len(rows))
	}
}
