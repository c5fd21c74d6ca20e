package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestMain(m *testing.M) {
	if code, handled := Main(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func parse(t *testing.T, text string) *sweep.Sweep {
	t.Helper()
	return valuetest.Must(sweep.Read("test.yaml", strings.NewReader(text), sweep.Overrides{}))
}

const smallSweep = `
backend: builtin
model: builtin:tiny_linear
grid: {batch_size: [1, 2], precision: [fp32, fp16], dim: 4}
repeats: 2
warmup: 1
iterations: 3
tags: {note: small}
baseline: precision=fp32
`

// TestRunHandsOverEveryLaunch: each run is valid, says where it stood in the session, and has what was measured.
func TestRunHandsOverEveryLaunch(t *testing.T) {
	s := parse(t, smallSweep)
	var runs []schema.Run
	var observed, stages int
	result := valuetest.Must(Run(t.Context(), s, Options{
		Version: "test", Machine: "lab3", Sweep: "test.yaml", Locks: t.TempDir(),
		Observe: func(e Event) {
			if e.Run != nil {
				observed++
			} else if e.Progress != nil && e.Progress.Stage != "" {
				stages++
			}
		},
	}, func(r schema.Run) error { runs = append(runs, r); return nil }))
	if len(runs) != 8 || observed != 8 || stages == 0 || result.Runs() != 8 || result.Failed() != 0 {
		t.Fatalf("%d runs, %d observed, %d stages, %+v", len(runs), observed, stages, result)
	}
	seed := valuetest.Must(strconv.ParseUint(runs[0].Env.Facts[factOrderSeed], 10, 64))
	launches := s.Launches(sweep.LaunchOptions{Seed: seed})
	for i, r := range runs {
		if err := r.Validate(); err != nil {
			t.Error(err)
		}
		l := launches[i]
		if r.PointID != l.Point.PointID || *r.RepeatIndex != int64(l.Repeat) || *r.BlockIndex != int64(l.Block) || *r.PositionIndex != int64(l.Position) {
			t.Errorf("run %d is not launch %d: %+v", i, i, r)
		}
		if r.SessionID != result.Session || r.Suite != "test" || r.Tags["note"] != "small" || r.Env.Machine != "lab3" || r.Env.Facts["sweep.file"] != "test.yaml" {
			t.Errorf("run %d lacks what its session says: %+v", i, r)
		}
		if r.Env.Facts["runner.iterations"] != "3" || r.Env.Facts["runner.warmup"] != "1" || r.Env.Facts["load.1m"] == "" {
			t.Errorf("run %d does not say how it was launched: %v", i, r.Env.Facts)
		}
		checkMeasured(t, &r)
	}
}

func checkMeasured(t *testing.T, r *schema.Run) {
	t.Helper()
	if r.Precision == "fp16" {
		if r.Status != schema.StatusUnsupported || r.Primary != "" || r.Error == "" {
			t.Errorf("fp16 is %s (%s), with %d metrics", r.Status, r.Error, len(r.Metrics))
		}
		return
	}
	m := r.Metric("latency")
	if r.Status != schema.StatusOK || r.Primary != "latency" || m == nil || len(m.Ticks) != 3 || len(m.WarmupTicks) != 1 || m.Unit != "ns" {
		t.Errorf("fp32 is %s (%s): %+v", r.Status, r.Error, m)
	}
	if r.Stages.Setup == nil || r.Stages.Measure == nil || r.Work.Flops == nil || r.Applied["precision"] != "fp32" {
		t.Errorf("stages %+v, work %+v, applied %v", r.Stages, r.Work, r.Applied)
	}
}

func TestRunEndsWhenARunCannotBeKept(t *testing.T) {
	full := errors.New("disk full")
	kept := 0
	result, err := Run(t.Context(), parse(t, smallSweep), Options{Locks: t.TempDir()}, func(schema.Run) error {
		if kept == 2 {
			return full
		}
		kept++
		return nil
	})
	if !errors.Is(err, full) || result.Runs() != 2 {
		t.Errorf("%v after %d runs", err, result.Runs())
	}
}

func TestRunKeepsWhatFinishedWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := parse(t, "command: [sleep, \"{s}\"]\ngrid: {s: [0, 600, 601]}\nrepeats: 1\nwarmup: 0\niterations: 1\n")
	var statuses []schema.Status
	var command string
	_, err := Run(ctx, s, Options{Locks: t.TempDir(), Observe: func(e Event) {
		if e.Index == 1 && e.Progress != nil && e.Progress.Stage == schema.StageMeasure {
			cancel()
		}
	}}, func(r schema.Run) error {
		statuses, command = append(statuses, r.Status), r.Env.Facts["runner.command"]
		return nil
	})
	valuetest.DeepEqual(t, command, `["sleep","600"]`, "the command is stored as")
	if err != nil || len(statuses) != 2 || statuses[0] != schema.StatusOK || statuses[1] != schema.StatusCancelled {
		t.Errorf("%v, %v", statuses, err)
	}
}

// TestSuiteTimeout: what the deadline of the suite leaves no time for is handed over all the same.
func TestSuiteTimeout(t *testing.T) {
	pool := valuetest.Must(task.New())
	start := time.Now()
	clock := start
	var runs []schema.Run
	s := newSession(t.Context(), parse(t, smallSweep), Options{Observe: func(Event) {}}, func(r schema.Run) error {
		runs = append(runs, r)
		clock = start.Add(time.Duration(len(runs)) * 100 * time.Minute) // the third launch begins at 3 h 20 min
		return nil
	})
	s.launcher.pool, s.lanes = pool, []*lane{{watch: probe.Watch(s.assembler.env)}}
	s.limits.now = func() time.Time { return clock }
	valuetest.OK(t, s.run(t.Context()))
	s.lanes[0].watch.Close()
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	if len(runs) != 8 || s.result.Runs() != 8 || s.result.Statuses[schema.StatusSkipped] != 5 {
		t.Fatalf("%d runs, %+v", len(runs), s.result)
	}
	launches := s.sweep.Launches(sweep.LaunchOptions{Seed: s.assembler.orderSeed})
	for i, r := range runs {
		if err := r.Validate(); err != nil {
			t.Error(err)
		}
		if r.PointID != launches[i].Point.PointID || (r.Status == schema.StatusSkipped) != (i >= 3) {
			t.Errorf("run %d is %s, of point %s", i, r.Status, r.PointID)
		}
	}
	last, at := runs[7], start.Add(700*time.Minute).UTC().Truncate(time.Microsecond)
	if last.ErrorKind != "suite_timeout" || last.Error != "the suite took more than 4h0m0s; raise timeouts.suite" ||
		last.Stage != "" || last.Purpose != schema.PurposeMeasure || !last.StartedAt.Equal(at) || last.Metrics != nil {
		t.Errorf("%+v", last)
	}
}

// TestRunHidesSecrets: neither the arguments of a command that failed nor what it said tell a secret; what is a parameter
// stays what it is.
func TestRunHidesSecrets(t *testing.T) {
	t.Setenv("SERVICE_PASSWORD", "correct-horse-battery")
	s := parse(t, "command: [sh, -c, \"echo $SERVICE_PASSWORD >&2; exit 3\", x, \"--api-key={k}\", --password, hunter2secret, --tokens, 128]\n"+
		"grid: {k: [abcdefgh]}\nrepeats: 1\nwarmup: 0\niterations: 1\n")
	var run schema.Run
	options := Options{Locks: t.TempDir(), Flags: `{"line":"[\"./p.sh --token=cliSECRET1 --hf-token cliSECRET2 --url https://u:urlSECRET4@h/x\"]","set":"[\"env.HF_TOKEN=abcdefgh\"]"}`}
	valuetest.Must(Run(t.Context(), s, options, func(r schema.Run) error { run = r; return nil }))
	if got := run.Env.Facts["runner.flags"]; got != `{"line":"[\"./p.sh --token=<hidden> --hf-token <hidden> --url https://<hidden>@h/x\"]","set":"[\"env.HF_TOKEN=<hidden>\"]"}` {
		t.Errorf("the options are stored as %s", got)
	}
	if got := run.Env.Facts["runner.command"]; !strings.HasSuffix(got, `"--api-key=<hidden>","--password","<hidden>","--tokens","128"]`) {
		t.Errorf("the command is stored as %s", got)
	}
	if got := run.Env.Facts["runner.stderr_tail"]; !strings.Contains(got, "<hidden>") || strings.Contains(got, "horse") {
		t.Errorf("standard error is stored as %q", got)
	}
	if !strings.HasSuffix(run.Error, ": <hidden>") {
		t.Errorf("the error is stored as %q", run.Error)
	}
	said := task.Outcome{Facts: map[string]string{}}
	for _, fact := range []string{"runner.stack", "runner.traceback", "runner.cleanup_error"} {
		said.Facts[fact] = "it said correct-horse-battery"
	}
	hideSecrets(&said, probe.NewMask(os.Environ()))
	for fact, text := range said.Facts {
		valuetest.DeepEqual(t, text, "it said <hidden>", fact)
	}
	if run.Params["k"] != "abcdefgh" || run.PointID != schema.PointID(&run) {
		t.Errorf("the parameter is stored as %q", run.Params["k"])
	}
}

// TestHideFlags: secrets in options are hidden, the JSON stays JSON, and what has no secret stays as it is.
func TestHideFlags(t *testing.T) {
	m := probe.NewMask([]string{"MY_PASSWORD=correct-horse"})
	for flags, want := range map[string]string{
		`{"iterations":"1","line":"[\"sort <a.txt\"]","setup":"echo 'a'","warmup":"0"}`: `{"iterations":"1","line":"[\"sort <a.txt\"]","setup":"echo 'a'","warmup":"0"}`,
		`{"line":"[\"curl --token=abcdefghij\"]","stdin":"correct-horse.txt"}`:          `{"line":"[\"curl --token=<hidden>\"]","stdin":"<hidden>.txt"}`,
		`{"set":"[\"env={HF_TOKEN: abcdefghijk, MODE: a}\",\"env.API_KEY=abcdefgh\"]"}`: `{"set":"[\"env={HF_TOKEN: <hidden>, MODE: a}\",\"env.API_KEY=<hidden>\"]"}`,
		`{"setup":"login --password hunter2secret"}`:                                    `{"setup":"login --password <hidden>"}`,
	} {
		valuetest.DeepEqual(t, hideFlags(flags, m), want, flags)
	}
}

// factName finds the names of facts in code: of one that ends with a dot a name follows.
var factName = regexp.MustCompile(`"((?:runner|timer)\.[a-z_0-9.]+)"`)

// TestStoredHasEveryFact: STORED.md lists the facts that runs have beside those of the machine, and no others.
func TestStoredHasEveryFact(t *testing.T) {
	text := valuetest.Must(os.ReadFile("STORED.md"))
	_, list, found := strings.Cut(string(text), "\n## Facts of a run\n")
	if list, _, _ = strings.Cut(list, "\n## "); !found {
		t.Fatal("no section on facts of a run")
	}
	want := factsInCode(t)
	for _, key := range sweep.Keys() {
		if key.Stored {
			want = append(want, "runner."+key.Name)
		}
	}
	for _, fact := range want {
		one := func(many string) bool { // many.NAME is listed
			return many != "runner." && many != fact && strings.HasSuffix(many, ".") && strings.HasPrefix(fact, many)
		}
		if slices.ContainsFunc(want, one) {
			continue
		}
		if !strings.Contains(list, "`"+fact) {
			t.Errorf("%s is not there", fact)
		}
	}
	for _, m := range regexp.MustCompile("`((?:runner|timer)\\.[a-z_0-9.]+)[A-Z]*`").FindAllStringSubmatch(list, -1) {
		if !slices.Contains(want, m[1]) && m[1] != "runner." {
			t.Errorf("%s is there, and no run has it", m[1])
		}
	}
}

// factsInCode returns the names of facts in the code that launches runs and in the workers, and in what it shares with readers.
func factsInCode(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "task/*.go", "prepare/*.go", "sweep/*.go", "python/*.py", "../schema/facts.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text := valuetest.Must(os.ReadFile(name))
			for _, m := range factName.FindAllStringSubmatch(string(text), -1) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// TestBuildOnce: a command runs once for all points at which it reads the same, whatever env says of their axes. It
// sees the variables without one.
func TestBuildOnce(t *testing.T) {
	s := parse(t, `benchmark: b
build:
  - [sh, -c, 'test "$FLAGS $N" = "-O2 none"']
  - [echo, "{n}"]
command: [sh, -c, 'test "$FLAGS $N" = "-O2 {k}"']
env: {FLAGS: -O2, N: "{k}"}
grid: {n: [1, 2], k: [3, 4]}
repeats: 1
warmup: 0
iterations: 1
`)
	t.Setenv("N", "none")
	var built []string
	result := valuetest.Must(Run(t.Context(), s, Options{Locks: t.TempDir(), Observe: func(e Event) {
		if e.Build != nil {
			built = append(built, e.Build[len(e.Build)-1])
		}
	}}, func(r schema.Run) error {
		valuetest.DeepEqual(t, r.Status, schema.StatusOK, r.Error)
		return nil
	}))
	if want := []string{`test "$FLAGS $N" = "-O2 none"`, "1", "2"}; !slices.Equal(built, want) || result.Runs() != 4 {
		t.Errorf("built %q, want %q; %d runs", built, want, result.Runs())
	}
}

// TestOptionalBuild: where the program of a build is not there, an optional point is skipped; one that fails is an error all the same.
func TestOptionalBuild(t *testing.T) {
	for text, want := range map[string]schema.Status{
		"build: [[no-such-compiler]]\noptional: true": schema.StatusSkipped,
		"build: [[no-such-compiler]]":                 schema.StatusError,
		"build: [['false']]\noptional: true":          schema.StatusError,
	} {
		s := parse(t, "command: ['true']\nrepeats: 1\nwarmup: 0\niterations: 1\n"+text+"\n")
		valuetest.Must(Run(t.Context(), s, Options{Locks: t.TempDir()}, func(r schema.Run) error {
			if r.Status != want || r.Stage != schema.StageBuild && want == schema.StatusError {
				t.Errorf("%s: %s in %s: %s", text, r.Status, r.Stage, r.Error)
			}
			return nil
		}))
	}
}

// TestCommandWarmsUpOnce: the first run of a point of a session has a warm-up process, the others have none, unless
// warmup says how many each has. What iterations says is exact.
func TestCommandWarmsUpOnce(t *testing.T) {
	t.Parallel()
	const text = "command: [sleep, '0.04']\nrepeats: 3\niterations: 1\n"
	for _, c := range []struct {
		more string
		want string // whether each run of a point had a warm-up
		fact string
	}{{"", "yes no no ", "1 per session"}, {"warmup: 1\n", "yes yes yes ", "1"}, {"warmup: 0\n", "no no no ", "0"}, {"cold_start: true\n", "no no no ", "0"}} {
		warm := map[string]string{}
		valuetest.Must(Run(t.Context(), parse(t, text+c.more), Options{Locks: t.TempDir()}, func(r schema.Run) error {
			if r.Stages.Warmup != nil {
				warm[r.PointID] += "yes "
			} else {
				warm[r.PointID] += "no "
			}
			if n := len(r.Metric("latency").Ticks); n != 1 || r.Env.Facts["runner.warmup"] != c.fact {
				t.Errorf("%q: %d samples, runner.warmup is %q", c.more, n, r.Env.Facts["runner.warmup"])
			}
			return nil
		}))
		for point, got := range warm {
			valuetest.DeepEqual(t, got, c.want, c.more, point)
		}
	}
}

// TestCommandDefaultsResume: a session that was interrupted within the 10 repeats of a command goes on with the others, of
// which the first one warms up again.
func TestCommandDefaultsResume(t *testing.T) {
	const text = "command: ['true', '{n}']\ngrid: {n: [1]}\nbudget: 1ns\n"
	k := &shelf{}
	k.bench(t, parse(t, text), 4, nil)
	result := k.bench(t, parse(t, text), 0, nil)
	if len(k.runs) != 10 || result.Plan.Done != 4 || result.Plan.Resumes != k.runs[0].SessionID {
		t.Fatalf("%d runs, %d done, resumes %q", len(k.runs), result.Plan.Done, result.Plan.Resumes)
	}
	warm := ""
	for _, r := range k.runs {
		warm += strconv.FormatBool(r.Stages.Warmup != nil) + " "
	}
	valuetest.DeepEqual(t, warm, "true false false false true false false false false false ", "warm-ups")
}

// TestPassAfterFailure: a profiler pass is not launched for a point whose measurement failed, in this session or an earlier one. It is
// for one whose result is wrong, and for one that was measured at least once.
func TestPassAfterFailure(t *testing.T) {
	path := valuetest.Python(t, "os", "os")
	dir := t.TempDir()
	const text = `
import os
class Bench:
    def __init__(self, case): self.case = case
    def setup(self):
        with open("calls.txt", "a") as f: f.write(self.case + "\n")
        if self.case == "setup" or self.case == "once" and open("calls.txt").read().count("once") == 1: raise ValueError(self.case)
        if self.case == "skip": raise RuntimeError("SKIPPED: no TMA")
    def benchmark_fn(self):
        if self.case == "crash": os.abort()
    def validate_result(self): return self.case != "wrong"
`
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "b.py"), []byte(text), 0o600))
	s := valuetest.Must(sweep.Read("s.yaml", strings.NewReader("file: b.py\ncwd: "+dir+"\npython: "+path+
		"\ngrid: {case: [ok, setup, crash, skip, wrong, once]}\nrepeats: 2\nwarmup: 0\niterations: 1\nprofile: torch\norder: sequential\n"), sweep.Overrides{}))
	k := &shelf{}
	result := k.bench(t, s, 0, nil)
	passes := map[string]string{}
	for _, r := range k.runs {
		if r.Purpose == schema.PurposeProfile {
			passes[r.Params["case"]] = string(r.Status) + " " + r.ErrorKind + " " + r.Error
		}
	}
	calls := valuetest.Must(os.ReadFile(filepath.Join(dir, "calls.txt")))
	for name, want := range map[string]struct {
		calls int
		pass  string
	}{
		"ok": {3, "unsupported not_applied profiler torch"}, "wrong": {3, "unsupported not_applied profiler torch"}, "once": {3, "unsupported not_applied profiler torch"},
		"setup": {2, "skipped after_failure the measurement ended with error: ValueError: setup"}, "skip": {1, "skipped skip no TMA"},
		"crash": {2, "skipped after_failure the measurement ended with crashed: killed by SIGABRT"},
	} {
		if n := strings.Count(string(calls), name+"\n"); n != want.calls || !strings.HasPrefix(passes[name], want.pass) {
			t.Errorf("%s: set up %d times, its pass is %q; want %d, %q", name, n, passes[name], want.calls, want.pass)
		}
	}
	valuetest.DeepEqual(t, result.Failed(), 2+2+2+1, result.Statuses)
	left := k.runs[:0]
	for _, r := range k.runs { // a session that ended before its passes
		if r.Purpose != schema.PurposeProfile {
			left = append(left, r)
		}
	}
	k.runs = left
	if more := k.bench(t, s, 0, nil); more.Plan.Done != 12 || more.Statuses[schema.StatusSkipped] != 3 || more.Failed() != 0 {
		t.Errorf("continued: %d done, %v", more.Plan.Done, more.Statuses)
	}
}
