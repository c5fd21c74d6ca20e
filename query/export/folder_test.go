package export

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// pairStore returns a store with a baseline and an optimization, which left files.
func pairStore(t *testing.T) (dir string, runs []schema.Run) {
	t.Helper()
	dir = querytest.NewStore(t)
	s := valuetest.Must(ingest.Open(dir, "test"))
	defer s.Close()
	for i, variant := range []string{"baseline", "fast"} {
		r := runtest.Small()
		r.StartedAt = time.Date(2026, 3, 1, 12, i, 0, 0, time.UTC)
		r.RunID, r.Benchmark, r.Variant, r.Artifacts = schema.NewULID(r.StartedAt).String(), "ch1/x", variant, nil
		for _, a := range []struct{ kind, path string }{
			{schema.ArtifactProfile, "run_dir/trace.nsys-rep"}, {schema.ArtifactStderr, "stderr"}, {schema.ArtifactFile, "../out.bin"},
		} {
			hash, size, err := s.KeepArtifact(strings.NewReader(variant + a.path))
			valuetest.OK(t, err)
			r.Artifacts = append(r.Artifacts, schema.Artifact{Kind: a.kind, Path: a.path, SHA256: hash, Bytes: &size})
		}
		r.Artifacts = append(r.Artifacts, schema.Artifact{Kind: schema.ArtifactFile, Path: "not kept"})
		r.PointID = schema.PointID(&r)
		valuetest.OK(t, s.Append(r))
		runs = append(runs, r)
	}
	return dir, runs
}

// TestArtifacts: the files that runs have left are beside the results, which name those of profilers.
func TestArtifacts(t *testing.T) {
	store, runs := pairStore(t)
	db, dir := querytest.Open(t, store), t.TempDir()
	for range 2 { // the second time they are there
		done, err := WriteFolder(t.Context(), db, FolderRequest{Layout: layout.Chapters, Dir: dir})
		if err != nil || done.Runs != 2 || len(done.Files) != 2 || done.Where() == "" {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	for _, r := range runs {
		for _, name := range []string{"profiles/run_dir/trace.nsys-rep", "logs/stderr", "files/out.bin"} {
			text, err := os.ReadFile(filepath.Join(dir, "artifacts", r.RunID, name))
			if err != nil || !strings.HasPrefix(string(text), r.Variant) {
				t.Errorf("%s of %s: %q, %v", name, r.Variant, text, err)
			}
		}
	}
	text := valuetest.Must(os.ReadFile(filepath.Join(dir, "benchmark_test_results.json")))
	for member, r := range map[string]schema.Run{"baseline_nsys_rep": runs[0], "optimized_nsys_rep": runs[1]} {
		if want := `"` + member + `": "artifacts/` + r.RunID + `/profiles/run_dir/trace.nsys-rep"`; !strings.Contains(string(text), want) {
			t.Errorf("the results have no %s", want)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "artifacts")); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestArtifactsFail: if a file cannot be written, there is no partial file, and files written before remain.
func TestArtifactsFail(t *testing.T) {
	store, runs := pairStore(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "artifacts", "."+runs[1].RunID+".part", "old"), 0o777); err != nil { // of a call that was killed
		t.Fatal(err)
	}
	name := valuetest.Must(schema.FindArtifact(schema.Dir(store), runs[0].Artifacts[2].SHA256))
	stored := filepath.Join(store, name)
	content := valuetest.Must(os.ReadFile(stored))
	content[len(content)-1] ^= 1
	valuetest.OK(t, os.Chmod(stored, 0o644))
	valuetest.OK(t, os.WriteFile(stored, content, 0o644))
	if _, err := WriteFolder(t.Context(), querytest.Open(t, store), FolderRequest{Layout: layout.Chapters, Dir: dir}); !errors.Is(err, schema.ErrDamaged) {
		t.Errorf("with a damaged file: %v", err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "artifacts"))
	if err != nil || len(left) != 1 || left[0].Name() != runs[1].RunID { // the newest comes first
		t.Errorf("%v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "benchmark_test_results.json")); err == nil {
		t.Error("the results were written all the same")
	}
}

// TestRequests: options that a layout does not have are refused, and so is a selection without runs, before anything is written.
func TestRequests(t *testing.T) {
	store, _ := pairStore(t)
	db := querytest.Open(t, store)
	for want, req := range map[string]FolderRequest{
		"layout grid has no comparison: only kernels takes a filter of runs to compare with": {Layout: layout.Grid, Against: "variant=fast"},
		"no run matches": {Layout: layout.Matrix, Filter: "variant=fast variant=baseline"},
		"nothing":        {Layout: layout.Kernels, Against: "nothing=1"},
	} {
		req.Dir = filepath.Join(t.TempDir(), "out")
		_, err := WriteFolder(t.Context(), db, req)
		if !errors.Is(err, answer.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", req, err, want)
		}
		if _, err := os.Stat(req.Dir); err == nil {
			t.Errorf("%s: a folder was made", want)
		}
	}
}

// TestNames: the two summary files of every layout may have other names, and are written alone.
func TestNames(t *testing.T) {
	store, _ := pairStore(t)
	db := querytest.Open(t, store)
	for _, l := range layout.All {
		dir, named := filepath.Join(t.TempDir(), "dir"), t.TempDir()
		req := FolderRequest{Layout: l, Dir: dir, JSON: filepath.Join(named, "all.json"), SummaryOnly: true}
		if done, err := WriteFolder(t.Context(), db, req); err != nil || len(done.Files) != 1 || done.Files[0] != req.JSON {
			t.Errorf("%s: %+v, %v", l, done, err)
		}
		req.JSON, req.Markdown = "", filepath.Join(named, "all.md")
		if done, err := WriteFolder(t.Context(), db, req); err != nil || len(done.Files) != 1 || done.Files[0] != req.Markdown {
			t.Errorf("%s: %+v, %v", l, done, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a folder was made", l)
		}
	}
}

// TestInsideStore: no directory is made inside a store, not even by another name of the store.
func TestInsideStore(t *testing.T) {
	store, _ := pairStore(t)
	link := filepath.Join(t.TempDir(), "link")
	valuetest.OK(t, os.Symlink(store, link))
	for _, dir := range []string{store, filepath.Join(store, "runs", "out"), filepath.Join(link, "out")} {
		if _, err := WriteFolder(t.Context(), querytest.Open(t, store), FolderRequest{Layout: layout.Grid, Dir: dir}); !errors.Is(err, answer.ErrInput) || !strings.Contains(err.Error(), "inside the store") {
			t.Errorf("%s: %v", dir, err)
		}
		for _, l := range []layout.Layout{layout.Runs, layout.Grid} {
			if _, err := OpenFolder(l, dir); err == nil || !strings.Contains(err.Error(), "inside the store") {
				t.Errorf("%s of a session: %v", dir, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "fp")); err == nil {
			t.Errorf("%s has folders", dir)
		}
	}
}

// TestAgainst: the runs to compare with are in regressions.md, and in no other file.
func TestAgainst(t *testing.T) {
	store, runs := pairStore(t)
	dir := t.TempDir()
	if _, err := WriteFolder(t.Context(), querytest.Open(t, store), FolderRequest{Layout: layout.Kernels, Dir: dir, Filter: "variant=fast", Against: "variant=baseline"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "regressions.md"))
	if err != nil || !strings.Contains(string(text), "missing, only the baseline has it") {
		t.Errorf("%s, %v", text, err)
	}
	text, err = os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil || strings.Contains(string(text), runs[0].RunID) || !strings.Contains(string(text), runs[1].RunID) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestSession: the directory of a session has the runs of the session; a nil session writes nothing.
func TestSession(t *testing.T) {
	store, runs := pairStore(t)
	dir := filepath.Join(t.TempDir(), "out")
	s, err := OpenFolder(layout.Grid, dir)
	if err == nil {
		err = s.Begin(t.Context(), runs[:1], nil)
	}
	if err == nil {
		err = s.Add(runs[1])
	}
	valuetest.OK(t, err)
	open := func(ctx context.Context) (*query.DB, error) { return query.Open(ctx, []string{store}, query.Options{}) }
	ended, end := context.WithCancel(t.Context())
	end() // an interrupt
	valuetest.Must(s.Close(ended, open))
	text, err := os.ReadFile(filepath.Join(dir, "benchmark_results.json"))
	if err != nil || !strings.Contains(string(text), runs[0].RunID) || !strings.Contains(string(text), runs[1].RunID) {
		t.Errorf("%s, %v", text, err)
	}
	var none *FolderSession
	if _, err := none.Close(t.Context(), nil); none.Begin(t.Context(), runs, nil) != nil || none.Add(runs[0]) != nil || err != nil {
		t.Error("a session without a folder fails")
	}
	empty := valuetest.Must(OpenFolder(layout.Matrix, filepath.Join(dir, "empty")))
	if _, err := empty.Close(t.Context(), nil); err != nil {
		t.Errorf("without runs: %v", err)
	}
	if _, err := OpenFolder(layout.Chapters, filepath.Join(dir, "benchmark_results.json")); err == nil {
		t.Error("a file in place of the folder is taken")
	}
	if names := FolderOutputs(layout.Kernels, "reports"); !slices.Contains(names, filepath.Join("reports", "kernels")) {
		t.Errorf("%q", names)
	}
}

// TestResumed: a session into another folder than the sessions that it resumes writes the files that those wrote, and reads no run that is
// there. The operators of a profiled run of an earlier session are in the documents of its point.
func TestResumed(t *testing.T) {
	n := 0
	runs := querytest.RunsOf(&n, 1, func(r *schema.Run) {
		r.Backend, r.Precision, r.Params = []string{"onnxrt", "onnxrt", "torch", "", "onnxrt", "onnxrt"}[n%6], "fp32", map[string]string{"x": strconv.Itoa(n % 4)}
		r.Env.MemoryBytes, r.Env.Facts = new(int64(8e9)), map[string]string{"gpu.0.memory": "1000000000"}
		op := schema.Op{Name: "MatMul_0", Type: "MatMul", StartNS: new(int64(5)), DurationNS: new(int64(3)), Count: new(int64(2)), Kernels: []string{"gemm"}}
		switch n % 6 {
		case 1:
			r.Ops = []schema.Op{op, {Index: 1, Name: "Add_0", DurationNS: new(int64(4))}}
		case 2:
			r.Status, r.Stage, r.Error = schema.StatusError, schema.StageMeasure, "exit status 1"
		case 0: // of the point of the first and the fifth
			r.Purpose, r.Params, r.Ops, r.Metrics, r.Primary = schema.PurposeProfile, map[string]string{"x": "1"}, []schema.Op{op}, nil, ""
		}
	}, 10, 20, 30, 40, 50, 60)
	store := querytest.NewStore(t, runs...)
	if len(runs) != 6 {
		t.Fatal(len(runs))
	}
	opened := 0
	open := func(ctx context.Context) (*query.DB, error) {
		opened++
		return query.Open(ctx, []string{store}, query.Options{})
	}
	var earlier []schema.Run
	for _, r := range runs {
		earlier = append(earlier, schema.Run{RunID: r.RunID, PointID: r.PointID, Purpose: r.Purpose, Status: r.Status, Backend: r.Backend})
	}
	one, two := t.TempDir(), t.TempDir()
	session := func(dir string, earlier, add []schema.Run) map[string]string {
		t.Helper()
		s, err := OpenFolder(layout.Runs, dir)
		if err == nil {
			err = s.Begin(t.Context(), earlier, open)
		}
		for _, r := range add {
			if err == nil {
				err = s.Add(r)
			}
		}
		if err == nil {
			_, err = s.Close(t.Context(), nil)
		}
		valuetest.OK(t, err)
		files := map[string]string{}
		paths, err := below(dir, dir)
		for _, path := range paths {
			text := valuetest.Must(os.ReadFile(filepath.Join(dir, path)))
			files[path] = string(text)
		}
		valuetest.OK(t, err)
		return files
	}
	want := session(one, nil, runs)
	if session(one, earlier, nil); opened != 0 {
		t.Error("the store was read for runs that are in the folder")
	}
	prints := 0
	for name := range want {
		if strings.HasPrefix(name, "fp/") {
			prints++
		}
	}
	if len(want) != 7 || prints != 2 {
		t.Errorf("the files are %q", slices.Sorted(maps.Keys(want)))
	}
	slices.Reverse(earlier) // a plan has an order of its own
	got := session(two, earlier, nil)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is\n%s\nwant\n%s", name, got[name], text)
		}
	}
	if len(got) != len(want) || opened != 1 {
		t.Errorf("%d times opened, the files are %q", opened, slices.Sorted(maps.Keys(got)))
	}
}

// TestMachines: a layout refuses runs of several machines and writes nothing, because its tables do not name the machine of a row.
func TestMachines(t *testing.T) {
	n := 0
	var runs []schema.Run
	for i, machine := range []string{"lab3", "lab4"} {
		runs = append(runs, querytest.RunsOf(&n, i+1, func(r *schema.Run) { r.Env.Machine = machine }, 10)...)
	}
	db, dir := querytest.Open(t, querytest.NewStore(t, runs...)), filepath.Join(t.TempDir(), "out")
	_, err := WriteFolder(t.Context(), db, FolderRequest{Layout: layout.Chapters, Dir: dir})
	querytest.WantInput(t, err, "layout chapters mixes machines in one table: lab3, lab4; add machine=lab3")
	if _, err := os.Stat(dir); err == nil {
		t.Error("something was written")
	}
	if _, err := WriteFolder(t.Context(), db, FolderRequest{Layout: layout.Chapters, Dir: dir, Filter: "machine=lab4"}); err != nil {
		t.Error(err)
	}
}
