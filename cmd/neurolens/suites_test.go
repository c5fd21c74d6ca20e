//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// suite is a project in which something is wrong, as suites are, and what a sweep of a page about another system makes of it.
type suite struct {
	project  string // of testdata/suites
	page     string // of docs/moving, with the sweep
	shared   string // the same sweep beside the samples
	args     string // of bench
	bin      bool   // the programs in the folder bin are there
	exit     int
	statuses string // of the measurements, with their numbers
	optional string // the same where the page says that some implementations are optional
}

var suites = []suite{
	{
		project: "chapters", page: "benchmark-harness", shared: "001-benchmark-harness", args: "--quick --timeout-multiplier 0.2 --out-dir out --layout chapters", exit: 4,
		statuses: "crashed 1, error 6, ok 4, skipped 4, timeout 1",
	},
	{
		project: "chapters", page: "benchmark-harness", shared: "001-benchmark-harness", args: "--targets ch2 --targets ch4:gemm", exit: 4,
		statuses: "error 1, ok 1, skipped 2",
	},
	{
		project: "chapters", page: "benchmark-harness", shared: "001-benchmark-harness", args: "--targets ch4", exit: 0, statuses: "skipped 2",
	},
	{
		project: "kernels", page: "quasim", shared: "002-quasim", args: "--quick --fact gpu.count=0 --out-dir out --layout kernels", exit: 4,
		// good, named: 2 ok each; condition: 1 ok and 1 unclear; wrong: 1 ok and 1 wrong; nothing, jaxed, syntax, settings, scaled: 2 each
		statuses: "error 12, ok 6, skipped 18",
	},
	{project: "training", page: "swift-mnist", shared: "003-swift-mnist", args: "--quick --out-dir out --layout matrix", bin: true, exit: 0, statuses: "ok 2, skipped 4"},
	{project: "training", page: "swift-mnist", shared: "003-swift-mnist", args: "--quick --out-dir out --layout matrix", exit: 4, statuses: "error 2, skipped 4"},
	{project: "operations", page: "operation-grid", shared: "004-operation-grid", args: "--quick --out-dir out --layout grid", exit: 4, statuses: "error 20, ok 10", optional: "error 10, ok 10, skipped 10"},
}

// testSuites runs sweeps of other systems as they are on suites with broken files, missing packages and compilers, hangs and crashes. Each
// starts, and each of its points is in the store and in the files of its layout.
func testSuites(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	_, err := exec.LookPath("python3")
	programtest.Needs(t, "python3", err)
	if _, err := exec.LookPath("nvcc"); err == nil {
		t.Skip("nvcc is here")
	}
	for _, s := range suites {
		sweeps := map[string]string{"page": regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindStringSubmatch(programtest.RepositoryFile(t, "docs/moving/"+s.page+".md"))[1]}
		if text, err := os.ReadFile(filepath.Join(referenceSweeps(), s.shared+".yaml")); err == nil {
			sweeps["shared"] = string(text)
		}
		for from, text := range sweeps {
			t.Run(s.project+" "+from+" "+s.args, func(t *testing.T) {
				t.Parallel()
				s.run(t, text, from)
			})
		}
	}
}

// layOver writes the files of a suite into a folder.
func layOver(t *testing.T, dir, suite string) {
	t.Helper()
	archive := valuetest.Must(txtar.ParseFile(filepath.Join("testdata", "suites", suite+".txtar")))
	valuetest.OK(t, txtar.Write(archive, dir))
	for _, program := range []string{"bin/swift", "program.sh"} {
		if err := os.Chmod(filepath.Join(dir, program), 0o755); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func (s suite) run(t *testing.T, sweep, from string) {
	t.Helper()
	dir := t.TempDir()
	layOver(t, dir, s.project)
	programtest.WriteFile(t, dir, "sweep.yaml", sweep)
	cmd := exec.Command(programtest.Binary(t), append([]string{"bench", "sweep.yaml", "--python", "python3"}, strings.Fields(s.args)...)...)
	cmd.Dir, cmd.Env = dir, programtest.Environ(t)
	if s.bin {
		cmd.Env = append(cmd.Env, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	}
	out, err := cmd.CombinedOutput()
	valuetest.Equal(t, cmd.ProcessState.ExitCode(), s.exit, "exit", err, out)
	want := s.statuses
	if from == "page" && s.optional != "" {
		want = s.optional
	}
	query := func(text string) string { return programtest.Output(t, dir, "query", "--format", "csv", text) }
	lines := strings.Fields(query("SELECT status || '-' || count(*) AS n FROM runs WHERE purpose = 'measure' GROUP BY status ORDER BY status"))
	valuetest.Equal(t, strings.ReplaceAll(strings.Join(lines[1:], ", "), "-", " "), want, "runs", out)
	if text := query("SELECT count(*) FROM runs WHERE status NOT IN ('ok') AND (error IS NULL OR error_kind IS NULL)"); strings.TrimSpace(text[strings.IndexByte(text, '\n'):]) != "0" {
		t.Errorf("runs without a reason: %s", text)
	}
	if strings.Contains(s.args, "--out-dir out") {
		written := jsonIn(t, filepath.Join(dir, "out"))
		for _, id := range strings.Fields(query("SELECT run_id FROM runs WHERE purpose = 'measure'"))[1:] {
			valuetest.Contains(t, written, `"run_id": "`+id+`"`, "run", id, "is in no file of out")
		}
	}
}

// jsonIn returns the texts of all JSON files below a folder.
func jsonIn(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	valuetest.OK(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && !json.Valid(text) {
			err = fmt.Errorf("%s is not JSON: %s", path, text)
		}
		all.Write(text)
		return err
	}))
	return all.String()
}
