package progress

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

const progressSweep = `suite: quickstart
backend: builtin
model: builtin:tiny_linear
grid:
  batch_size: [1, 16]
  precision: [fp32, fp64]
repeats: 2
`

func parsed(t testing.TB, text string) *sweep.Sweep {
	t.Helper()
	s, err := sweep.Read("sweep.yaml", strings.NewReader(text), sweep.Overrides{})
	ok(t, err)
	return s
}

// played is a clock that moves a second with every event of a session.
type played struct{ now time.Time }

func (p *played) time() time.Time { return p.now }

// play has a session of every kind of event observed, in the order of a session: a wait, a build, a plan, four runs of
// eight.
func (p *played) play(s *sweep.Sweep, observe func(runner.Event)) runner.Result {
	launches := s.Launches(sweep.LaunchOptions{})
	env := &schema.Env{Machine: "lab3", CPUCount: new(int64(2)), Facts: map[string]string{"load.1m": "1.80"}}
	result := runner.Result{Session: "01KAJ3V2Z00000000007Q4K2M9F", Statuses: map[schema.Status]int{}}
	send := func(e runner.Event) {
		e.Session, e.Env, e.Launches = result.Session, env, len(launches)
		p.now = p.now.Add(time.Second)
		observe(e)
	}
	send(runner.Event{Waiting: "cpu is being measured by pid 7"})
	send(runner.Event{Build: []string{"make", "-C", "a b"}})
	send(runner.Event{Plan: &runner.Plan{
		Launches: make([]runner.Planned, 8), Resumes: "01KAJ3V2Z00000000008Q4K2M9F", Done: 3,
		Changes: []runner.Change{{What: "driver_version", To: "575.51", Runs: 1}},
	}})
	for i, end := range []schema.Run{
		{Status: schema.StatusOK, Primary: "latency", Metrics: []schema.Metric{{Name: "latency", Unit: "ns", Tick: 1, Ticks: []int64{411000, 412000, 413000}}}},
		{Status: schema.StatusUnsupported, Stage: schema.StageSetup, ErrorKind: "precision", Error: "builtin has fp32 and fp64"},
		{Status: schema.StatusTimeout, Stage: schema.StageMeasure, ErrorKind: "timeout", Error: "measure took more than 15 s; raise timeouts.measure\nstack\x1b[2J"},
		{Status: schema.StatusCancelled, Stage: schema.StageMeasure, Error: "cancelled"},
	} {
		e := runner.Event{Index: i, Launch: launches[i], Remaining: time.Duration(20-i) * time.Second}
		e.Progress = &task.Progress{Stage: schema.StageMeasure, Done: 41, Total: 100}
		send(e)
		end.RunID, end.Purpose = "01KAJ3V2Z0000000000000RUN"+string(rune('A'+i)), schema.PurposeMeasure
		e.Progress, e.Run = nil, &end
		send(e)
		result.Statuses[end.Status]++
	}
	return result
}

// reported returns what a session writes on standard error.
func reported(t *testing.T, json bool) string {
	t.Helper()
	var stderr bytes.Buffer
	clock := &played{now: time.Date(2026, 11, 21, 6, 45, 0, 0, time.UTC)}
	c := Console{W: &stderr, JSON: json, Now: clock.time}
	s := parsed(t, progressSweep)
	p := NewProgress(c, Session{Sweep: s})
	p.Close(clock.play(s, p.Observe))
	return stderr.String()
}

func TestPlainProgress(t *testing.T) {
	want := `quickstart · builtin:tiny_linear · builtin · 4 points × 2 repeats = 8 runs · lab3
load 1.8 on 2 cores: expect noise
waiting  cpu is being measured by pid 7
build  make -C 'a b'
continues session 8Q4K2M9F: 3 of 8 runs are stored already (--rerun all measures them again)
driver_version changed from – to 575.51: 1 run to repeat
1/8  0000RUNA  bs=1 fp32  repeat 1  412 µs  median of 3
2/8  0000RUNB  bs=1 fp64  repeat 1  unsupported in setup: builtin has fp32 and fp64
3/8  0000RUNC  bs=16 fp32  repeat 1  timeout in measure: measure took more than 15 s; raise timeouts.measure
4/8  0000RUND  bs=16 fp64  repeat 1  cancelled in measure
`
	if got := reported(t, false); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestJSONProgress(t *testing.T) {
	got := reported(t, true)
	want := []string{
		`{"event": "session", "session_id": "01KAJ3V2Z00000000007Q4K2M9F", "suite": "quickstart", "machine": "lab3", "points": 4, "repeats": 2, "launches": 8, "load": 1.8, "seeable_change": null}`,
		`{"event": "waiting", "reason": "cpu is being measured by pid 7"}`,
		`{"event": "build", "command": ["make","-C","a b"]}`,
		`{"event": "plan", "launches": 8, "resumes": "01KAJ3V2Z00000000008Q4K2M9F", "done": 3, "changes": [{"files":null,"from":null,"runs":1,"to":"575.51","what":"driver_version"}], "ignored": [], "sides": [], "failing": []}`,
		`{"event": "run", "index": 0, "launches": 8, "run_id": "01KAJ3V2Z0000000000000RUNA", "point_id": "POINT", "point": {"backend":"builtin","batch_size":1,"benchmark":"builtin:tiny_linear","model":"builtin:tiny_linear","params":{},"precision":"fp32","seq_len":null,"variant":null}, "side": null, "purpose": "measure", "control": false, "repeat_index": 0, "status": "ok", "stage": null, "error_kind": null, "error": null, "metric": "latency", "unit": "ns", "median": 412000, "n_samples": 3, "remaining_ns": 20000000000}`,
	}
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != 9 {
		t.Fatalf("%d lines, want 9:\n%s", len(lines), got)
	}
	for i, line := range want {
		line = strings.Replace(line, "POINT", parsed(t, progressSweep).Points[0].PointID, 1)
		if lines[i] != line {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, lines[i], line)
		}
	}
	if want := `{"event": "end", "session_id": "01KAJ3V2Z00000000007Q4K2M9F", "runs": 4, "statuses": {"cancelled":1,"ok":1,"timeout":1,"unsupported":1}, "elapsed_ns": 11000000000}`; lines[8] != want {
		t.Errorf("the last line is\n%s\nwant\n%s", lines[8], want)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	var timeout map[string]any
	if err := json.Unmarshal([]byte(lines[6]), &timeout); err != nil || timeout["median"] != nil || !strings.HasSuffix(timeout["error"].(string), "\nstack\x1b[2J") {
		t.Errorf("a failure is %v, %v", timeout, err)
	}
}

// TestJSONProgressHasNoNumberForInfinity: what JSON cannot say does not silence the line.
func TestJSONProgressHasNoNumberForInfinity(t *testing.T) {
	var b bytes.Buffer
	(&jsonReporter{w: &b}).write([]member{{"median", math.Inf(1)}})
	if b.String() != `{"median": "Infinity"}`+"\n" {
		t.Errorf("infinity is %s", b.String())
	}
}

func TestDescribe(t *testing.T) {
	for text, want := range map[string]string{
		"model: builtin:tiny_linear\nbackend: builtin\ngrid: {batch_size: [1, 2]}":           "bs=1, bs=2",
		"model: builtin:tiny_linear\nbackend: builtin\ngrid: {batch_size: [2], dim: [8, 4]}": "dim=8, dim=4",
		"model: builtin:tiny_linear\nbackend: builtin\nbenchmark: gemm":                      "gemm",
		"command: [sleep, '{s}']\nrepeats: 1\ngrid: {s: [1, \"2\\n3\"]}":                     "s=1, s=2 3",
	} {
		s := parsed(t, text)
		d := describe(s)
		var names []string
		for _, l := range s.Launches(sweep.LaunchOptions{}) {
			names = append(names, d.launch(l))
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s\nis named %s, want %s", text, got, want)
		}
	}
	d := describe(parsed(t, progressSweep))
	d.against = true
	if got := d.launch(sweep.Launch{Point: &d.sweep.Points[3], Side: 1, Profile: "ort"}); got != "bs=16 fp64 head profile ort" {
		t.Errorf("a pass of a profiler on head is named %s", got)
	}
	if got := d.headline(runner.Event{Env: &schema.Env{}, Launches: 16}); !strings.Contains(got, "4 points × 2 repeats × 2 sides = 16 runs") {
		t.Errorf("two sides: %s", got)
	}
	if got := d.headline(runner.Event{Env: &schema.Env{}, Launches: 3}); !strings.Contains(got, "× 2 sides, 3 runs") {
		t.Errorf("a rest of 3 runs: %s", got)
	}
}

// BenchmarkDescribe names as many points as a sweep may have launches.
func BenchmarkDescribe(b *testing.B) {
	values := strings.TrimSuffix(strings.Repeat("N, ", 316), ", ")
	for i := range 316 {
		values = strings.Replace(values, "N", string(schema.CanonicalFloat(float64(i+1))), 1)
	}
	s := parsed(b, "model: builtin:tiny_linear\nbackend: builtin\ngrid: {a: ["+values+"], b: ["+values+"]}")
	b.ReportMetric(float64(len(s.Points)), "points")
	for b.Loop() {
		describe(s)
	}
}

// TestDescribeCalibration: the points of calibrate change neither what a sweep is called nor its other points.
func TestDescribeCalibration(t *testing.T) {
	const text = "command: [dd, '{k}']\ngrid: {k: [1, 2]}\nrepeats: 3\n"
	e := runner.Event{Env: &schema.Env{Machine: "lab3"}, Launches: 15}
	for more, want := range map[string][]string{
		"": {"sweep · dd · 2 points × 3 repeats, 15 runs · lab3", "k=1", "k=2"},
		"calibrate: true": {
			"sweep · dd · (2 points + 3 of calibrate) × 3 repeats = 15 runs · lab3",
			"k=1", "k=2", "calibration integer-v1", "calibration memory-v1", "calibration branch-v1",
		},
	} {
		d := describe(parsed(t, text+more))
		got := []string{d.headline(e)}
		for _, p := range d.sweep.Points {
			got = append(got, d.names[p.PointID])
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	var b strings.Builder
	s := parsed(t, text+"calibrate: true")
	j := &jsonReporter{w: &b, description: describe(s)}
	for i := range s.Points {
		j.finished(runner.Event{Run: &schema.Run{}, Launch: sweep.Launch{Point: &s.Points[i]}})
	}
	if n := strings.Count(b.String(), `"control": true`); n != 3 || strings.Count(b.String(), `"control": false`) != 2 {
		t.Errorf("%d runs of control points, want 3:\n%s", n, b.String())
	}
}

// TestDescribeEmpty: a point is named by an empty text as well.
func TestDescribeEmpty(t *testing.T) {
	d := describe(parsed(t, "command: ['true', '{weird}']\ngrid: {weird: [x, '']}\n"))
	if got := d.names[d.sweep.Points[1].PointID]; got != `weird=""` {
		t.Errorf("the point is called %s", got)
	}
}

// TestSidesLine: what is compared is said, and what no commit has of it.
func TestSidesLine(t *testing.T) {
	p := &runner.Plan{Sides: []runner.Side{{Name: "base", Commit: "1f552b0d7"}, {Name: "head", Commit: "4668a7e08", Dirty: true}}}
	if got := strings.Join(planLines(p), "\n"); got != "base 1f552b0 · head 4668a7e + uncommitted changes" {
		t.Error(got)
	}
	var out strings.Builder
	(&jsonReporter{w: &out}).plan(p)
	want := `"sides": [{"git_commit":"1f552b0d7","git_dirty":false,"side":"base"},{"git_commit":"4668a7e08","git_dirty":true,"side":"head"}], "failing": []}`
	if !strings.HasSuffix(strings.TrimSpace(out.String()), want) {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

// ok ends a test at an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
