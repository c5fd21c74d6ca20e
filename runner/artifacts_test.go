package runner

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// sweepOf reads a sweep from its text.
func sweepOf(t *testing.T, text string) *sweep.Sweep {
	t.Helper()
	return valuetest.Must(sweep.Read("sweep.yaml", strings.NewReader(text), sweep.Overrides{}))
}

// TestBesideLatencies: checks that hold, metrics that are derived, and files change nothing of the latencies of a run, whatever
// these are.
func TestBesideLatencies(t *testing.T) {
	plain := sweepOf(t, "command: [x]\n")
	more := sweepOf(t, `
command: [x]
derived:
  training_time: {expr: cpu_user + 2 * latency, unit: s, better: lower}
  share: {expr: cpu_user / latency, unit: ratio}
check: [latency >= 0, cpu_user >= 0, share >= 0]
artifacts: [stdout, out]
primary: latency
`)
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		o := task.Outcome{Status: schema.StatusOK, Facts: map[string]string{}, Missing: map[string]string{}}
		n := 1 + random.IntN(50)
		for _, name := range []string{"latency", "cpu_user"} {
			m := schema.Metric{Name: name, Unit: "ns", Better: schema.BetterLower, Level: schema.LevelProcess, Tick: 1}
			for range n {
				m.Ticks = append(m.Ticks, 1+random.Int64N(1e9))
			}
			o.Metrics = append(o.Metrics, m)
		}
		without := assembled(plain, o, nil)
		want := *without.Metric("latency")
		run := assembled(more, o, func(io.Reader) (string, int64, error) { return strings.Repeat("ab", 32), 1, nil })
		if got := *run.Metric("latency"); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %+v\nwant %+v", seed, got, want)
		}
		if run.Status != schema.StatusOK || run.Primary != "latency" || len(run.Metrics) != 4 || len(run.Artifacts) != 1 {
			t.Fatalf("seed %d: %s, %s: %d metrics, %d files", seed, run.Status, run.Error, len(run.Metrics), len(run.Artifacts))
		}
	}
}

// assembled returns the run of the only point of a sweep, which printed something.
func assembled(s *sweep.Sweep, o task.Outcome, keep KeepFile) schema.Run {
	a := assembler{sweep: s, sides: make([]side, 1), env: schema.Env{Facts: map[string]string{}, Missing: map[string]string{}}}
	p := &s.Points[0]
	target := &prepare.Target{Point: p, Facts: map[string]string{}}
	run := a.run(sweep.Launch{Point: p}, target, o, nil)
	if keep != nil {
		v := leaving{keep: keep, wanted: p.Artifacts, missing: map[string]string{}, printed: map[string]string{sweep.Stdout: "text"}}
		v.finish(&run)
	}
	return run
}

// TestKeepFails: a run whose files cannot be kept is kept all the same, and says why.
func TestKeepFails(t *testing.T) {
	dir := t.TempDir()
	s := sweepOf(t, "command: [sh, -c, 'echo done; echo more > "+filepath.Join(dir, "file")+"; exit 1']\nrepeats: 1\nartifacts: ["+filepath.Join(dir, "f*")+"]\n")
	var kept []schema.Run
	_, err := Run(t.Context(), s, Options{
		Locks: t.TempDir(), Keep: func(io.Reader) (string, int64, error) { return "", 0, errors.New("no room") },
	}, func(run schema.Run) error {
		kept = append(kept, run)
		return nil
	})
	if err != nil || len(kept) != 1 {
		t.Fatalf("%d runs, %v", len(kept), err)
	}
	want := []schema.Artifact{
		{Kind: schema.ArtifactFile, Path: filepath.Join(dir, "file"), Bytes: new(int64(5))}, {Kind: schema.ArtifactStdout, Path: "stdout", Bytes: new(int64(5))},
	}
	valuetest.DeepEqual(t, kept[0].Artifacts, want)
	valuetest.DeepEqual(t, kept[0].Env.Missing["artifact."+filepath.Join(dir, "file")], "no room", "why")
}

// TestFilesOfRunsAlone: a file that lies there from an earlier run of the session is none of the next one.
func TestFilesOfRunsAlone(t *testing.T) {
	dir := t.TempDir()
	s := sweepOf(t, "command: [sh, -c, 'echo {k} > "+dir+"/{k}; test {k} = 1 || ls "+dir+" > "+dir+"/seen']\ngrid: {k: [1, 2]}\nrepeats: 1\norder: sequential\nartifacts: ["+dir+"]\n")
	files := map[string][]string{}
	valuetest.Must(Run(t.Context(), s, Options{
		Locks: t.TempDir(), Keep: func(content io.Reader) (string, int64, error) {
			n, err := io.Copy(io.Discard, content)
			return strings.Repeat("ab", 32), n, err
		},
	}, func(run schema.Run) error {
		for _, a := range run.Artifacts {
			files[run.Params["k"]] = append(files[run.Params["k"]], filepath.Base(a.Path))
		}
		return nil
	}))
	valuetest.DeepEqual(t, files, (map[string][]string{"1": {"1"}, "2": {"2", "seen"}}))
	valuetest.DeepEqual(t, string(valuetest.Must(os.ReadFile(filepath.Join(dir, "seen")))), "1\n2\nseen\n")
}
