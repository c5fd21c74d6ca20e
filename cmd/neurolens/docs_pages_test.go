//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// elsewhere are the pages whose blocks of shell another test runs, in the projects that they are about.
var elsewhere = map[string]string{
	"docs/sql.md":                            "TestSQLPage",
	"docs/spark.md":                          "TestSparkAnswers",
	"docs/moving/items.md":                   "TestMovingItems",
	"docs/moving/neurolens-bench-harness.md": "TestMovingPages",
	"docs/moving/benchmark-harness.md":       "TestMovingPages",
	"docs/moving/quasim.md":                  "TestMovingPages",
	"docs/moving/swift-mnist.md":             "TestMovingPages",
	"docs/moving/operation-grid.md":          "TestMovingPages",
}

// ownTest are the pages of which another test runs every block.
var ownTest = map[string]string{"docs/troubleshooting.md": "TestTroubleshooting"}

// TestDocsPages runs the commands of the pages in docs, block by block, in a folder for each page. A command of a console block has to
// print what the block shows, as far as that is the same on every machine; a block of shell that calls neurolens has to be accepted. A
// page gives a file its name in the first line of a block: `# sweep.yaml`.
func TestDocsPages(t *testing.T) {
	needsLong(t)
	t.Parallel()
	_, err := exec.LookPath("python3")
	needs(t, "python3", err)
	store := storeOfReader(t)
	for _, name := range docsPages(t) {
		page := ofRepository(t, name)
		blocks, err := blocksOf(page)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if elsewhere[name] != "" {
			blocks = slices.DeleteFunc(blocks, func(b pageBlock) bool { return b.kind == shellBlock })
		}
		if ownTest[name] != "" || !slices.ContainsFunc(blocks, func(b pageBlock) bool { return b.runs() }) {
			continue
		}
		t.Run(strings.TrimPrefix(name, "docs/"), func(t *testing.T) {
			t.Parallel()
			runPage(t, page, blocks, store)
		})
	}
}

// withStore is a line of a page whose folder has a store of two sessions from the beginning.
const withStore = "<!-- a store with two sessions is there -->"

// runPage runs the blocks of a page in their order. Where the first of them makes no store, the folder has one.
func runPage(t *testing.T, page string, blocks []pageBlock, store string) {
	dir := folderOfReader(t, blocks)
	first := slices.IndexFunc(blocks, pageBlock.runs)
	if !makesStore.MatchString(blocks[first].text) || strings.Contains(page, "\n"+withStore+"\n") {
		if err := os.CopyFS(filepath.Join(dir, "runs_store"), os.DirFS(store)); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range blocks {
		switch {
		case b.kind == fileBlock:
			writeFile(t, dir, b.name, b.text)
		case b.notRun != "":
		case b.kind == consoleBlock:
			for _, example := range strings.Split("\n"+b.text, "\n$ ")[1:] {
				command, output, _ := strings.Cut(example, "\n")
				checkShown(t, dir, command, output)
			}
		case b.kind == shellBlock:
			t.Run(fmt.Sprint("line ", b.line), func(t *testing.T) {
				if b.needs != "" {
					pythonWith(t, b.needs, b.needs)
				}
				if out, err := shell(t, dir, acceptable+b.text); err != nil {
					t.Errorf("%v\n%s\n%s", err, b.text, out[max(0, len(out)-2000):])
				}
			})
		}
	}
}

// makesStore matches commands that make a store where there is none.
var makesStore = regexp.MustCompile(`neurolens (bench|ingest|store init)`)

// acceptable ends a block at the first command that is refused. A gate and runs that failed are answers.
const acceptable = `neurolens() { command neurolens "$@"; code=$?; case $code in 0|1|3|4) ;; *) echo "exit $code" >&2; exit $code ;; esac; }
`

// shell runs a script in a folder and gives all that it prints.
func shell(t *testing.T, dir, script string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(programEnviron(t), "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(filepath.Dir(dir), "cache"),
		"PATH="+filepath.Join(dir, ".bin")+":"+pathOfInterpreter(),
		"NEUROLENS_FORMAT=table", "COLUMNS=80", "NEUROLENS_MACHINE=lab3", "TZ=UTC", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// pathOfInterpreter is the search path on which python3 is the interpreter of the tests.
func pathOfInterpreter() string {
	if python := testInterpreter(); filepath.IsAbs(python) {
		return filepath.Dir(python) + ":" + os.Getenv("PATH")
	}
	return os.Getenv("PATH")
}

// checkShown runs a command of a console block, which has to print the lines below it: those without a number, and those that are the same
// on every machine but for their numbers. A command that is shown with a message of the program may be refused.
func checkShown(t *testing.T, dir, command, output string) {
	t.Helper()
	// A run's id differs every time: the newest one stands for it.
	command = regexp.MustCompile(`\b(show|--like) [0-9A-Z]{8}`).ReplaceAllString(command, "$1 last")
	got, err := shell(t, dir, acceptable+command)
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || exit.ExitCode() < 0 || !strings.Contains("\n"+output, "\nneurolens: ")) {
		t.Errorf("%s: %v\n%s", command, err, got)
		return
	}
	printed := map[string]bool{}
	for line := range strings.Lines(got) {
		printed[shape(line)] = true
	}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		fixed := !strings.ContainsAny(line, "0123456789…") && line != "..." && !strings.HasPrefix(line, " ") && !regexp.MustCompile(`^ *[a-z_]+  +\S`).MatchString(line)
		if (fixed || steady.MatchString(line)) && !printed[shape(line)] {
			t.Errorf("%s: the page shows\n%s\nit prints\n%s", command, line, got)
		}
	}
}

// folderOf is a new folder in which the program can be called by its name, and which has the fixtures.
func folderOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"fixtures": fixtures(t), ".bin/neurolens": self} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// storeOfReader is a store with two sessions of one sweep.
func storeOfReader(t *testing.T) string {
	t.Helper()
	dir := folderOf(t)
	for range 2 {
		if out, err := shell(t, dir, "neurolens bench fixtures/sweeps/quickstart.yaml --repeats 2 --iterations 3"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return filepath.Join(dir, "runs_store")
}

// folderOfReader is a folder as the reader of a page may have one: a repository with a sweep, a Python file and a text. The files that
// the page itself makes are in the repository as well.
func folderOfReader(t *testing.T, blocks []pageBlock) string {
	t.Helper()
	dir := folderOf(t)
	files := map[string]string{
		"sweep.yaml": "suite: quickstart\ncommand: [sh, work.sh, \"{batch_size}\", \"{precision}\"]\ngrid: {batch_size: [1, 2], precision: [fp32, fp64]}\nrepeats: 2\niterations: 3\nbaseline: precision=fp32\n",
		"work.sh":    "exec sleep 0.00$1\n",
		"bench.py":   "def bench_list(n=10):\n    return list(range(int(n)))\n\n\ndef softmax(n=10):\n    return sorted(range(int(n)))\n\n\ndef old(n=10):\n    return bench_list(n)\n\n\ndef new(n=10):\n    return softmax(n)\n",
		"big.txt":    strings.Repeat("10\n9\n8\n", 100),
		".gitignore": "fixtures\n.bin\n",
	}
	for _, b := range blocks {
		if b.kind == fileBlock {
			files[b.name] = b.text
		}
	}
	for name, text := range files {
		writeFile(t, dir, name, text)
	}
	repository(t, dir)
	return dir
}

// TestDocsBlocks: the blocks of all pages are understood, and those that are not run say why. It logs how many there are.
func TestDocsBlocks(t *testing.T) {
	t.Parallel()
	for _, name := range docsPages(t) {
		blocks, err := blocksOf(ofRepository(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		run, left := 0, map[string]int{}
		for _, b := range blocks {
			switch {
			case b.notRun != "":
				left[b.notRun]++
			case b.runs():
				run++
			}
		}
		if run+len(left) > 0 {
			t.Logf("%s: %d blocks run%s, not run: %v", name, run, strings.TrimSuffix(" by "+elsewhere[name], " by "), left)
		}
	}
	for name := range elsewhere {
		if !slices.Contains(docsPages(t), name) {
			t.Errorf("%s is not there", name)
		}
	}
}

// TestBlocksOf: blocks of a page that was made up.
func TestBlocksOf(t *testing.T) {
	t.Parallel()
	page := "Text\n\n    neurolens ls\n    neurolens env\n\n```yaml\n# a/s.yaml: a sweep\ngrid: {}\n```\n\n<!-- not run: needs a GPU -->\n```console\n$ neurolens ls\n```\n\n" +
		"<!-- needs: polars -->\n```sh\ngit add .\nneurolens ls\n```\n\n    $ neurolens env\n    FACT\n\nText\n\n    discover:\n      in: x\n\n    more: 1\n\n* item\n\n    neurolens ls [flags]\n\n```text\n$ neurolens ls\n```\n"
	blocks, err := blocksOf(page)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range blocks {
		got = append(got, fmt.Sprintf("%d %d %s %s %q", b.line, b.kind, b.name, b.notRun+b.needs, b.text))
	}
	want := []string{
		`3 3   "neurolens ls\nneurolens env\n"`,
		`6 1 a/s.yaml  "# a/s.yaml: a sweep\ngrid: {}\n"`,
		`12 2  needs a GPU "$ neurolens ls\n"`,
		`17 3  polars "git add .\nneurolens ls\n"`,
		`22 2   "$ neurolens env\nFACT\n"`,
		`27 0   "discover:\n  in: x\n\nmore: 1\n"`,
		`34 0   "neurolens ls [flags]\n"`,
		`36 2   "$ neurolens ls\n"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the blocks are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, wrong := range []string{"<!-- not run: needs a GPU -->\nText\n", "<!-- not run: needs a GPU -->\n", "<!-- not run -->\n```sh\nneurolens ls\n```\n", "<!-- needs: x -->\n<!-- not run: x -->\n```sh\nneurolens ls\n```\n", "```sh\nneurolens ls\n"} {
		if _, err := blocksOf(wrong); err == nil {
			t.Errorf("%q is taken for right", wrong)
		}
	}
}

// steady are the lines that are the same on every machine, but for numbers and the width of columns.
var steady = regexp.MustCompile(`^ *[A-Z][A-Z0-9 ×+:]+(dim[A-Z0-9 ×+:]+)?$|^[0-9,]+ (of|run|row|point|file)|^[0-9]+ fact|^samples of|^configuration$|^stages$|^next `)

// shape is a line without its numbers and the id of a session, with single spaces, and without what is a matter of luck: in
// which axes a listing of the slowest varies, and why points are inconclusive, as they are on a busy machine, where the first of
// the next commands is to measure more.
func shape(line string) string {
	line = strings.TrimPrefix(line, "next ")
	line, _, _ = strings.Cut(line, " inconclusive (")
	line = strings.TrimSuffix(line, " inconclusive")
	return strings.Join(strings.Fields(regexp.MustCompile(`session=[0-9A-Z]{8}|[0-9]|\b(BS|SEQ|PREC|dim)\b`).ReplaceAllString(line, "")), " ")
}
