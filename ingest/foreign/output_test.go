package foreign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// fake yields runs whatever the file.
func fake(runs ...schema.Run) *Format {
	return &Format{Name: "fake", Read: func(_ *Input, out *Output) error {
		for _, r := range runs {
			if err := out.Run("here", r); err != nil {
				return err
			}
		}
		return nil
	}}
}

func readAll(t *testing.T, f *Format, added Added) ([]schema.Run, Report) {
	t.Helper()
	in := opened(t, "x")
	var runs []schema.Run
	report, err := NewReader(added, nil).Read(in, f, func(valid schema.Valid) bool { runs = append(runs, valid.Run()); return true })
	if err != nil {
		t.Fatal(err)
	}
	return runs, report
}

func measured(benchmark string, ns ...int64) schema.Run {
	return schema.Run{Benchmark: benchmark, Metrics: []schema.Metric{{Name: "latency", Unit: "ns", Tick: 1, Ticks: ns}}}
}

// TestIDs: the same content has the same ids, each of two equal records its own, and another value another one. The first
// runs of a file make its session.
func TestIDs(t *testing.T) {
	same := func() []schema.Run {
		return []schema.Run{measured("a", 1, 2), measured("a", 1, 2), measured("b", 1, 2)}
	}
	first, report := readAll(t, fake(same()...), Added{})
	second, _ := readAll(t, fake(same()...), Added{Tags: map[string]string{"k": "v"}})
	if report.Runs != 3 || report.Samples != 6 || report.Refused != 0 {
		t.Errorf("report %+v", report)
	}
	ids := map[string]bool{}
	for i := range first {
		ids[first[i].RunID] = true
		if first[i].RunID != second[i].RunID || first[i].SessionID != second[i].SessionID || first[i].SessionID != first[0].SessionID {
			t.Errorf("%d: %s %s, then %s %s", i, first[i].RunID, first[i].SessionID, second[i].RunID, second[i].SessionID)
		}
		if second[i].Tags["k"] != "v" || first[i].Source != "fake" || first[i].Primary != "latency" || first[i].Status != schema.StatusOK {
			t.Errorf("%d: %+v", i, second[i])
		}
	}
	if len(ids) != 3 {
		t.Errorf("%d ids for 3 runs", len(ids))
	}
	other, _ := readAll(t, fake(measured("a", 1, 3)), Added{})
	if ids[other[0].RunID] || other[0].SessionID == first[0].SessionID {
		t.Error("other samples, the same id")
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC)
	later := measured("a", 1, 2)
	SetStart(&later, at, schema.TimeFile)
	timed, _ := readAll(t, fake(later), Added{})
	if id, err := schema.ParseULID(timed[0].RunID); err != nil || !id.Time().Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("id of %v, %v", id.Time(), err)
	}
}

// TestFailuresOfTwoFiles: failures that say the same in two files are two runs, as their files are two.
func TestFailuresOfTwoFiles(t *testing.T) {
	failure := schema.Run{Benchmark: "b", Status: schema.StatusError, Error: "out of memory"}
	monday, _ := readAll(t, fake(measured("a", 1), failure), Added{})
	again, _ := readAll(t, fake(measured("a", 1), failure), Added{})
	tuesday, _ := readAll(t, fake(measured("a", 2), failure), Added{})
	if monday[1].RunID != again[1].RunID || monday[1].RunID == tuesday[1].RunID {
		t.Errorf("%s, again %s, on another day %s", monday[1].RunID, again[1].RunID, tuesday[1].RunID)
	}
}

// TestAdded: values of the user apply where the file has none.
func TestAdded(t *testing.T) {
	silent, said := measured("a", 1), measured("b", 1)
	said.Params = map[string]string{"m": "8"}
	said.BatchSize, said.Env.Machine = new(int64(4)), "theirs"
	SetStart(&said, time.Unix(1000, 0), schema.TimeFile)
	runs, report := readAll(t, fake(silent, said), Added{
		Params: map[string]string{"m": "16", "bs": "32", "dtype": "float16"}, Machine: "mine", Start: StartAt(time.Unix(2000, 0)),
	})
	if r := runs[0]; r.Params["m"] != "16" || *r.BatchSize != 32 || r.Precision != "fp16" || r.Env.Machine != "mine" || r.StartedAt.Unix() != 2000 {
		t.Errorf("nothing was said: %+v", r)
	}
	if r := runs[1]; r.Params["m"] != "8" || *r.BatchSize != 4 || r.Precision != "fp16" || r.Env.Machine != "theirs" || r.StartedAt.Unix() != 1000 {
		t.Errorf("it was said: %+v", r)
	}
	if want := map[string]int{"--machine was not used: the file names theirs": 1}; !maps.Equal(report.Notes, want) {
		t.Errorf("notes %v, want %v", report.Notes, want)
	}
}

// TestRefused: a run that no store would take is counted, with its reason, and ends nothing.
func TestRefused(t *testing.T) {
	bad, twice := measured("a", 1), measured("a", 1)
	bad.Metrics[0].Name = "no name"
	twice.Metrics = append(twice.Metrics, twice.Metrics[0])
	runs, report := readAll(t, fake(bad, measured("b", 2), twice), Added{})
	if len(runs) != 1 || report.Runs != 1 || report.Refused != 2 || len(report.Refusals) != 2 || !strings.Contains(report.Refusals[1].Why, "twice") {
		t.Errorf("%d runs, %+v", len(runs), report)
	}
}

// TestRefusedAlike: a reason of many records is named once, with the first of them; of more reasons than are named the
// records are counted.
func TestRefusedAlike(t *testing.T) {
	reader := &Format{Name: "fake", Read: func(_ *Input, o *Output) error {
		for i := range 240 {
			o.Refuse(fmt.Sprint("line ", i+1), errors.New("unknown name"))
		}
		for i := range 30 {
			o.Refuse("", fmt.Errorf("reason %d", i))
		}
		return nil
	}}
	_, report := readAll(t, reader, Added{})
	if report.Refused != 270 || len(report.Refusals) != maxRefusals || report.Unnamed() != 30-maxRefusals+1 {
		t.Errorf("%d refused, %d reasons, %d without one", report.Refused, len(report.Refusals), report.Unnamed())
	}
	for i, want := range []string{"line 1 and 239 more: unknown name", "reason 0"} {
		if got := report.Refusals[i].String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStopped: when nobody wants more, the reader ends, and that is no error.
func TestStopped(t *testing.T) {
	in := opened(t, "x")
	n := 0
	report, err := NewReader(Added{}, nil).Read(in, fake(measured("a", 1), measured("b", 1)), func(schema.Valid) bool { n++; return false })
	if n != 1 || report.Runs != 1 || err != nil {
		t.Errorf("%d runs, %+v, %v", n, report, err)
	}
}

func TestSetAxis(t *testing.T) {
	var r schema.Run
	SetParam(&r, "bs", "8")
	SetParam(&r, "sequence_length", "128")
	SetParam(&r, "dtype", "bfloat16")
	SetParam(&r, "m", "1e3")
	SetParam(&r, "status", "x")
	SetParam(&r, "none", "")
	if *r.BatchSize != 8 || *r.SeqLen != 128 || r.Precision != "bf16" || r.Params["m"] != "1000" || r.Params["status"] != "x" || len(r.Params) != 2 {
		t.Errorf("%+v", r)
	}
	r = schema.Run{}
	SetParam(&r, "batch_size", "8x2")
	SetParam(&r, "precision", "Q4_K_M")
	if r.BatchSize != nil || r.Precision != "" || r.Params["batch"] != "8x2" || r.Params["dtype"] != "Q4_K_M" {
		t.Errorf("%+v", r)
	}
}

// TestAxesBesideOneAnother: two axes of a file that are one here do not replace one another.
func TestAxesBesideOneAnother(t *testing.T) {
	r := schema.Run{Backend: "torch"}
	SetParam(&r, "batch_size", "8")
	SetParam(&r, "bs", "16")
	SetParam(&r, "backend", "nccl")
	SetParam(&r, "backend", "torch")
	if *r.BatchSize != 8 || r.Params["bs"] != "16" || r.Backend != "torch" || r.Params["backend_param"] != "nccl" {
		t.Errorf("%+v", r)
	}
	r = schema.Run{}
	SetParam(&r, "bs", "16")
	SetParam(&r, "batch_size", "8")
	if *r.BatchSize != 16 || r.Params["batch"] != "8" {
		t.Errorf("%+v", r)
	}
}

func TestRecognize(t *testing.T) {
	yes := func(*Head) bool { return true }
	all := []Format{{Name: "a", Recognize: yes}, {Name: "b", Recognize: func(h *Head) bool { return h.Has("x") }}, {Name: "by name alone"}}
	formatOf := func(formats []Format, head *Head) (*Format, error) {
		return oneOf(Recognize(formats, head), formats, head)
	}
	if f, err := formatOf(all, newHead("n", []byte("text"), true)); err != nil || f.Name != "a" {
		t.Errorf("%v, %v", f, err)
	}
	if _, err := formatOf(all, newHead("n", []byte(`{"x": 1}`), true)); err == nil || !strings.Contains(err.Error(), "it matches the formats a and b: choose one with --from") {
		t.Errorf("two formats: %v", err)
	}
	for content, want := range map[string]string{"": "empty", `{"y": 1}`: "its JSON keys match no known format", "text": "its text matches no known format", "BZh91AY": "bzip2: unpack it first"} {
		if _, err := formatOf(all[1:], newHead("n", []byte(content), true)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func TestHead(t *testing.T) {
	h := newHead("n", []byte("== text ==\n[2026] not JSON\n[{\"a\": {\"b\": [1, {\"c\": NaN}]}}, {\"d\": 1}]"), true)
	if h.JSONAt != 27 || h.Values != 1 || !h.Has("[].a", "[].a.b", "[].a.b[].c", "[].d") || h.Has("[].x") || !h.HasAny("x", "[].d") {
		t.Errorf("at %d, %d values, %v", h.JSONAt, h.Values, h.paths)
	}
	if h := newHead("n", []byte("{\"a\": 1}\n{\"b\": 2}\n{\"c\": "), false); h.Values != 3 || !h.Has("a", "b", "c") {
		t.Errorf("%d values, %v", h.Values, h.paths)
	}
	if h := newHead("n", []byte("no JSON at all\n"), true); h.JSONAt != -1 || h.Has() || h.FirstLine() != "no JSON at all" {
		t.Errorf("%+v", h)
	}
}

func TestSeveralReasons(t *testing.T) {
	var o Output
	o.LeaveOut("b", 2)
	o.LeaveOut("a", 1)
	o.LeaveOut("b", 1)
	o.LeaveOutNamed("c", "e1", "e2", "e3", "e1", "e4", "e5")
	o.LeaveOutNamed("c", "e6", "e7")
	o.LeaveOutNamed("c")
	if got := fmt.Sprint(LeftOuts(&o.Report)); got != "[1 left out: a 3 left out: b 8 left out: c (e1, e2, e3, e4, e5 and 2 more)]" {
		t.Error(got)
	}
	if err := o.RefuseMismatch(errors.New("no mismatch")); err == nil {
		t.Error("an error that is no Mismatch ends the file")
	}
	if err := o.RefuseMismatch(&Mismatch{"/a", errors.New("x")}); err != nil || o.Report.Refused != 1 {
		t.Errorf("%v, %+v", err, o.Report)
	}
}

// TestPlaces: runs without a start have their place in the file, also behind a record that is refused, and nothing of what
// they are known by is made of it. Runs with a start have none.
func TestPlaces(t *testing.T) {
	t.Parallel()
	began := measured("b", 2)
	SetStart(&began, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), schema.TimeFile)
	refused := measured("c", 3)
	refused.Status = "odd"
	given := measured("e", 5)
	given.PositionIndex = new(int64(7))
	runs, report := readAll(t, fake(measured("a", 1), began, refused, measured("d", 4), given), Added{})
	want := []*int64{new(int64(0)), nil, new(int64(2)), new(int64(7))}
	if len(runs) != len(want) || report.Refused != 1 {
		t.Fatalf("%d runs, %+v", len(runs), report)
	}
	chain := newChain("")
	for i, r := range runs {
		if got := r.PositionIndex; (got == nil) != (want[i] == nil) || got != nil && *got != *want[i] {
			t.Errorf("%s: position %v", r.Benchmark, schema.RunRow(&r, "")[5])
		}
		if r.Benchmark != "e" {
			r.PositionIndex = nil
		}
		said := r
		said.RunID, said.SessionID, said.Warnings = "", "", nil
		chain.next(keyOf(schema.DigestOf(&said)), i == 0)
		if id := chain.id(r.StartedAt).String(); id != r.RunID {
			t.Errorf("%s: the id is %s, without its place %s", r.Benchmark, r.RunID, id)
		}
	}
}

// TestPath: the path of a file is a fact of its runs and makes parameters, and the same file of another path has the same
// ids. Runs that share their facts go on sharing them, and the reader's stay as they are.
func TestPath(t *testing.T) {
	facts := map[string]string{"k": "v"}
	read := func(path string, added Added) []schema.Run {
		t.Helper()
		in, err := Open(context.Background(), fstest.MapFS{"x": {Data: []byte("x")}}, "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		in.Given = path
		a, b, c := measured("a", 1), measured("b", 1), measured("c", 1)
		a.Env.Facts, b.Env.Facts = facts, facts
		b.Params = map[string]string{"isl": "7"}
		var runs []schema.Run
		if _, err := NewReader(added, nil).Read(in, fake(a, b, c), func(valid schema.Valid) bool { runs = append(runs, valid.Run()); return true }); err != nil {
			t.Fatal(err)
		}
		return runs
	}
	here, there := read("m1/isl128/r.json", Added{}), read("\xff.json", Added{})
	for i := range here {
		if here[i].RunID != there[i].RunID || here[i].SessionID != there[i].SessionID {
			t.Errorf("run %d: the path is of what it is", i)
		}
		if here[i].Env.Facts[schema.FactPath] != "m1/isl128/r.json" || there[i].Env.Facts[schema.FactPath] != "\ufffd.json" {
			t.Errorf("run %d: %v, %v", i, here[i].Env.Facts, there[i].Env.Facts)
		}
	}
	if len(facts) != 1 || here[1].Env.Facts["k"] != "v" || here[2].Env.Facts["k"] != "" {
		t.Errorf("%v, %v, %v", facts, here[1].Env.Facts, here[2].Env.Facts)
	}
	expression := regexp.MustCompile(`(?P<model>[^/]+)/isl(?P<isl>[0-9]+)`)
	params := read("m1/isl0128/r.json", Added{FromPath: expression, Params: map[string]string{"isl": "5", "osl": "6"}})
	if r := params[0]; r.Model != "m1" || r.Params["isl"] != "0128" || r.Params["osl"] != "6" {
		t.Errorf("%s %v", r.Model, r.Params)
	}
	if params[1].Params["isl"] != "7" {
		t.Errorf("the file says it itself: %v", params[1].Params)
	}
}

// TestNULRemoved: a name with a NUL character, which nobody can type, loses it, and that is said. Other characters stay.
func TestNULRemoved(t *testing.T) {
	t.Parallel()
	format := &Format{Name: "x", Read: func(_ *Input, out *Output) error {
		r := schema.Run{Benchmark: "SUT\x00\x00", Params: map[string]string{"scenario\x00": "ser\x00ver", "plain": "a\tb"}, Env: schema.Env{Machine: "lab3\x00"}}
		return out.Run("", r)
	}}
	in := opened(t, "text")
	var got schema.Run
	report, err := NewReader(Added{}, nil).Read(in, format, func(valid schema.Valid) bool { got = valid.Run(); return true })
	if err != nil {
		t.Fatal(err)
	}
	if got.Benchmark != "SUT" || got.Params["scenario"] != "server" || got.Params["plain"] != "a\tb" || got.Env.Machine != "lab3" || len(got.Params) != 2 {
		t.Errorf("the run is %q %q %q", got.Benchmark, got.Params, got.Env.Machine)
	}
	if !slices.Contains(got.Warnings, nulRemoved) || report.Notes[nulRemoved] != 1 {
		t.Errorf("the warnings are %q, the notes %v", got.Warnings, report.Notes)
	}
	if got.PointID != schema.PointID(&got) {
		t.Error("the point is that of the names with NUL characters")
	}
}
