package task

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestReadEvents(t *testing.T) {
	read := func(text string) (names []string, err error) {
		err = readEvents(strings.NewReader(text), func(e event) { names = append(names, e.Event) })
		return names, err
	}
	hello, stage := `{"event":"hello","proto":1}`+"\n", `{"event":"stage","stage":"measure","at":5}`+"\n"
	for _, c := range []struct {
		text string
		want []string
		ok   bool
	}{
		{"", nil, true},
		{hello + stage, []string{"hello", "stage"}, true},
		{hello + `{"event":"moon","phase":{"x":[1]}}` + "\n", []string{"hello", "moon"}, true},
		{hello + stage[:20], []string{"hello"}, true}, // the sender was killed
		{hello + "\n" + stage, []string{"hello"}, false},
		{`{"event":"hello","proto":2}` + "\n", nil, false},
		{`{"event":"stage","stage":"lunch"}` + "\n", nil, false},
		{`{"event":7}` + "\n", nil, false},
		{`[]` + "\n", nil, false},
		{`{}` + "\n", nil, false},
		{hello + strings.Repeat("x", maxLine) + "\n", []string{"hello"}, false},
	} {
		if got, err := read(c.text); !reflect.DeepEqual(got, c.want) || (err == nil) != c.ok {
			t.Errorf("%.60q: %q, %v", c.text, got, err)
		}
	}
}

func TestSendCuts(t *testing.T) {
	var b bytes.Buffer
	s := sender{w: &b}
	s.send(event{Event: eventError, Message: strings.Repeat("é", maxLine)})
	s.send(event{Event: eventFact, Value: strings.Repeat("x", maxLine)}) // dropped, not torn
	n := 0
	err := readEvents(&b, func(e event) {
		if n++; !utf8.ValidString(e.Message) || len(e.Message) > offRows {
			t.Errorf("message of %d B", len(e.Message))
		}
	})
	if n != 1 || err != nil {
		t.Errorf("%d events, %v", n, err)
	}
}

// TestHeldEvents: events that are held are one write, in their order, and before one that is sent.
func TestHeldEvents(t *testing.T) {
	w := &countingWriter{}
	s := sender{w: w}
	s.flush()
	s.hold(event{Event: eventHello, Proto: proto})
	s.hold(event{Event: eventStage, Stage: schema.StageSetup})
	s.flush()
	s.hold(event{Event: eventResult})
	s.send(event{Event: eventDone})
	s.flush()
	var got []string
	if err := readEvents(&w.Buffer, func(e event) { got = append(got, e.Event) }); err != nil {
		t.Error(err)
	}
	if want := []string{eventHello, eventStage, eventResult, eventDone}; !slices.Equal(got, want) || w.writes != 2 {
		t.Errorf("%v in %d writes: want %v in 2", got, w.writes, want)
	}
}

// countingWriter counts its writes.
type countingWriter struct {
	bytes.Buffer
	writes int
}

func (w *countingWriter) Write(b []byte) (int, error) {
	w.writes++
	return w.Buffer.Write(b)
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"event":"stage","stage":"measure","at":5}`))
	f.Add([]byte(`{"event":"result","applied":{"a":"b"},"items":1e3}`))
	f.Add([]byte(`{"event":"exit","exit_code":-1}`))
	f.Add([]byte("\x00{}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := parseEvent(line)
		if err == nil && (e.Event == "" || e.Event == eventStage && stageNumber(e.Stage) == 0) {
			t.Errorf("%q: %+v", line, e)
		}
	})
}

func FuzzParseShape(f *testing.F) {
	f.Add(shape{columns: 4, capacity: 12, warmup: 2}.header())
	f.Add([]byte("NLSAMPLE"))
	f.Fuzz(func(t *testing.T, head []byte) {
		s, err := parseShape(head)
		if err != nil {
			return
		}
		valuetest.DeepEqual(t, valuetest.Must(parseShape(s.header())), s)
		if s.size() < offRows || s.warmup > s.capacity || s.capacity > maxRows {
			t.Errorf("%+v", s)
		}
	})
}

// FuzzDamagedSamples: whatever a benchmark does to the file, the runner reads something.
func FuzzDamagedSamples(f *testing.F) {
	f.Add(shape{columns: 1, capacity: 3, warmup: 1}.header())
	f.Add(bytes.Repeat([]byte{0xff}, offRows+24))
	f.Fuzz(func(t *testing.T, file []byte) {
		r := &sampleReader{f: closer{bytes.NewReader(file)}, shape: shape{columns: 1, capacity: 3, warmup: 1}}
		warmup, measured := r.counts()
		if warmup > 1 || measured > 2 || len(r.rows(0, 1, measured)) > measured {
			t.Errorf("%d and %d rows", warmup, measured)
		}
		if stage, at := r.progress(); stage < 0 || at < 0 {
			t.Errorf("progress %d %d", stage, at)
		}
		if e := r.end(); !utf8.ValidString(e.kind + e.message) {
			t.Errorf("end %+v", e)
		}
		for number := range stageNumber(schema.StageProfile) {
			if at := r.begun(number + 1); at < 0 && at != unset {
				t.Errorf("stage %d began at %d", number+1, at)
			}
		}
	})
}

type closer struct{ *bytes.Reader }

func (closer) Close() error { return nil }

func FuzzOOMKills(f *testing.F) {
	f.Add("0::/a/b\n", "low 0\noom_kill 3\n")
	f.Add("4:memory:/\n0::/\n", "oom_kill -3\n")
	f.Fuzz(func(t *testing.T, groups, events string) {
		root := fstest.MapFS{
			"proc/self/cgroup":                 {Data: []byte(groups)},
			"sys/fs/cgroup/a/b/memory.events":  {Data: []byte(events)},
			"sys/fs/cgroup/memory/oom_control": {Data: []byte(events)},
		}
		if n, ok := oomKills(root); ok && n < 0 {
			t.Errorf("%q %q: %d", groups, events, n)
		}
	})
}

func TestOOMKills(t *testing.T) {
	for _, c := range []struct {
		groups, file, text string
		want               int64
		ok                 bool
	}{
		{"0::/user.slice/x\n", "sys/fs/cgroup/user.slice/x/memory.events", "low 0\noom 4\noom_kill 3\n", 3, true},
		{"0::/x\n", "sys/fs/cgroup/memory.events", "oom_kill 5\n", 5, true}, // a container's root
		{"9:name=systemd:/\n4:memory:/a\n0::/\n", "sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", 2, true},
		{"4:cpu:/a\n", "sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill 2\n", 0, false},
		{"0::/x\n", "elsewhere", "oom_kill 5\n", 0, false},
		{"nonsense\n", "elsewhere", "", 0, false},
	} {
		n, ok := oomKills(fstest.MapFS{"proc/self/cgroup": {Data: []byte(c.groups)}, c.file: {Data: []byte(c.text)}})
		if n != c.want || ok != c.ok {
			t.Errorf("%q %s: %d %t, want %d %t", c.groups, c.file, n, ok, c.want, c.ok)
		}
	}
}

func TestSamplesRoundTrip(t *testing.T) {
	dir := t.TempDir()
	s := shape{columns: 4, capacity: 7, warmup: 2}
	r := valuetest.Must(createSamples(filepath.Join(dir, samplesFile), s))
	defer r.close()
	m := valuetest.Must(mapSamples(filepath.Join(dir, samplesFile)))
	if w, n := r.counts(); w != 0 || n != 0 || r.word(offFloor) != unset || r.word(offPeak) != unset {
		t.Errorf("a new file has %d and %d rows", w, n)
	}
	m.count(0, 11) // row 1 stays empty: a traced iteration
	for row := 2; row < 5; row++ {
		m.column(columnCPUUser)[row] = int64(row)
		m.count(row, int64(10*row))
	}
	m.begin(schema.StageMeasure, 300)
	m.begin(schema.StageMeasure, 12345) // another process of it
	m.finish(stateError, "validate", "result 3: want 4")
	if w, n := r.counts(); w != 1 || n != 3 {
		t.Errorf("%d and %d rows, want 1 and 3", w, n)
	}
	valuetest.DeepEqual(t, r.rows(columnLatency, 2, 3), []int64{20, 30, 40}, "latencies")
	valuetest.DeepEqual(t, r.rows(columnCPUUser, 2, 3), []int64{2, 3, 4}, "user times")
	if stage, at := r.progress(); stage != stageNumber(schema.StageMeasure) || at != 12345 {
		t.Errorf("progress %d %d", stage, at)
	}
	if measure := stageNumber(schema.StageMeasure); r.begun(measure) != 300 || r.begun(measure-1) != unset {
		t.Errorf("measure began at %d, warmup at %d", r.begun(measure), r.begun(measure-1))
	}
	valuetest.DeepEqual(t, r.end(), ending{stateError, schema.StageMeasure, "validate", "result 3: want 4"}, "end")
	// the layout that PROTOCOL.md promises
	raw := valuetest.Must(os.ReadFile(filepath.Join(dir, samplesFile)))
	if string(raw[:8]) != "NLSAMPLE" || raw[8] != 1 || raw[12] != 4 || raw[16] != 7 || raw[24] != 2 ||
		raw[39] != 4 || raw[56] != 2 || raw[58] != 4 || raw[60] != 25 || string(raw[64:72]) != "validate" || raw[4032+3*8+1] != 1 || raw[4096+2*8] != 20 ||
		raw[4096+7*8+2*8] != 2 || len(raw) != 4096+8*4*7 {
		t.Errorf("layout: % x", raw[:128])
	}
	valuetest.OK(t, os.Truncate(filepath.Join(dir, samplesFile), 5000))
	if _, err := mapSamples(filepath.Join(dir, samplesFile)); err == nil {
		t.Error("a short file was mapped")
	}
}

func TestEnviron(t *testing.T) {
	valuetest.DeepEqual(t, environ([]string{"A=1", "B=2"}, []string{"C=3", "A=4", "C=5=6"}), []string{"A=4", "B=2", "C=5=6"})
}

func TestMainLeavesOthersAlone(t *testing.T) {
	for _, argv := range [][]string{nil, {"neurolens"}, {"neurolens", "ls"}, {"neurolens", "ls", "a"}, {"neurolens", roleSupervise}} {
		if code, handled := Main(argv, nil); handled {
			t.Errorf("%q was handled, exit %d", argv, code)
		}
	}
}

// TestShortenedDeadlines: a worker can make deadlines shorter in setup, and none longer. What is no deadline breaks the protocol.
func TestShortenedDeadlines(t *testing.T) {
	deadlines := Deadlines{Setup: 9, Warmup: 9, Measure: 9, Validate: 9, Teardown: 9}
	for name, c := range map[string]struct {
		stage     schema.Stage
		line      string
		want      Deadlines
		shortened int
		breach    string
	}{
		"shorter and longer": {"setup", `{"measure":4,"warmup":10,"setup":9}`, Deadlines{Setup: 9, Warmup: 9, Measure: 4, Validate: 9, Teardown: 9}, 1, ""},
		"none":               {"setup", `{}`, deadlines, 0, ""},
		"too late":           {"warmup", `{"measure":4}`, deadlines, 0, "event deadlines in warmup: want it in setup"},
		"zero":               {"setup", `{"measure":0}`, deadlines, 0, `deadline 0 ns of stage "measure"`},
		"negative":           {"setup", `{"measure":-1}`, deadlines, 0, `deadline -1 ns of stage "measure"`},
		"no stage":           {"setup", `{"lunch":4}`, deadlines, 0, `of stage "lunch"`},
	} {
		e := valuetest.Must(parseEvent([]byte(`{"event":"deadlines","deadlines":` + c.line + `}`)))
		r := &run{spec: Spec{Deadlines: deadlines}, stage: c.stage, phase: phaseDraining}
		valuetest.ErrorText(t, r.receive(e), "…"+c.breach+"…", name)
		if r.spec.Deadlines != c.want || len(r.reports.shortened) != c.shortened {
			t.Errorf("%s: %+v, shortened %v", name, r.spec.Deadlines, r.reports.shortened)
		}
	}
	if _, err := parseEvent([]byte(`{"event":"deadlines","deadlines":{"measure":1.5}}`)); err == nil {
		t.Error("a fraction of a nanosecond is taken")
	}
}
