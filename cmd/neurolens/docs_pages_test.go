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

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// elsewhere are the pages whose blocks of shell another test runs, in the projects that they are about.
var elsewhere = map[string]string{
	"docs/sql.md":                            "TestSQLPage",
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
	programtest.NeedsLong(t)
	t.Parallel()
	_, err := exec.LookPath("python3")
	programtest.Needs(t, "python3", err)
	store := storeOfReader(t)
	for _, name := range docsPages(t) {
		page := programtest.RepositoryFile(t, name)
		blocks, err := blocksOf(page)
		valuetest.OK(t, err, name)
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
		valuetest.OK(t, os.CopyFS(filepath.Join(dir, "runs_store"), os.DirFS(store)))
	}
	for _, b := range blocks {
		switch {
		case b.kind == fileBlock:
			programtest.WriteFile(t, dir, b.name, b.text)
		case b.notRun != "":
		case b.runs():
			t.Run(fmt.Sprint("line ", b.line), func(t *testing.T) { runBlock(t, dir, b) })
		}
	}
}

// runBlock runs the commands of a block in a folder.
func runBlock(t *testing.T, dir string, b pageBlock) {
	if b.needs != "" {
		programtest.PythonWith(t, b.needs, b.needs)
	}
	if b.kind == consoleBlock {
		for _, example := range strings.Split("\n"+b.text, "\n$ ")[1:] {
			command, output, _ := strings.Cut(example, "\n")
			checkShown(t, dir, shownCommand{command, output, b.exits})
		}
		return
	}
	if out, err := shell(t, dir, accepting(b.exits)+b.text); err != nil {
		t.Errorf("%v\n%s\n%s", err, b.text, out[max(0, len(out)-2000):])
	}
}

// makesStore matches commands that make a store where there is none.
var makesStore = regexp.MustCompile(`neurolens (bench|ingest|store init)`)

// accepting ends a block at the first command that ends with another status than 0, or those that its page allows, as 1 or 3. Those
// two are the answers of a gate.
func accepting(exits string) string {
	codes := strings.Join(append([]string{"0"}, strings.FieldsFunc(exits, func(r rune) bool { return r < '0' || r > '9' })...), "|")
	return `neurolens() {
	command neurolens "$@"
	code=$?
	case $code in ` + codes + `) return 0 ;; esac
	case "$code $*" in [13]\ *--gate*) return 0 ;; esac
	echo "exit $code" >&2
	exit $code
}
`
}

// shell runs a script in a folder and gives all that it prints.
func shell(t *testing.T, dir, script string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(programtest.Environ(t), "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(filepath.Dir(dir), "cache"),
		"PATH="+filepath.Join(dir, ".bin")+":"+pathOfInterpreter(),
		"NEUROLENS_FORMAT=table", "COLUMNS=80", "NEUROLENS_MACHINE=lab3", "TZ=UTC", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// pathOfInterpreter returns the search path on which python3 is the interpreter of the tests.
func pathOfInterpreter() string {
	if python := programtest.Interpreter(); filepath.IsAbs(python) {
		return filepath.Dir(python) + ":" + os.Getenv("PATH")
	}
	return os.Getenv("PATH")
}

// shownCommand is a command of a console block with the output that the page shows, and the statuses that it may end with.
type shownCommand struct{ command, output, exits string }

// checkShown runs a command of a console block, which has to print each line below it, but for numbers and what else differs between runs
// of it. Lines … and ... stand for any. A command that is shown with a message of the program may be refused.
func checkShown(t *testing.T, dir string, s shownCommand) {
	t.Helper()
	// A run's id differs every time: the newest one stands for it.
	command := regexp.MustCompile(`\b(show|--like) [0-9A-Z]{8}`).ReplaceAllString(s.command, "$1 last")
	got, err := shell(t, dir, accepting(s.exits)+command)
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || exit.ExitCode() < 0 || !strings.Contains("\n"+s.output, "\nneurolens: ")) {
		t.Errorf("%s: %v\n%s", command, err, got)
		return
	}
	for _, line := range notPrinted(s.output, got) {
		t.Errorf("%s: the page shows\n%s\nit prints\n%s", command, line, got)
	}
}

// notPrinted returns the lines of an output of a page that a command did not print.
func notPrinted(shown, printed string) (missing []string) {
	shapes := map[string]bool{}
	for line := range strings.Lines(printed) {
		shapes[shape(line)] = true
	}
	for line := range strings.Lines(shown) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line == "…" || line == "..." || shapes[shape(line)] {
			continue
		}
		if !slices.ContainsFunc(instead, func(i otherLine) bool { return i.shown.MatchString(line) && i.printed.MatchString(printed) }) {
			missing = append(missing, line)
		}
	}
	return missing
}

// otherLine is a line that a page shows, and another one that the command prints on some machines.
type otherLine struct {
	shown, printed *regexp.Regexp
}

// instead are the lines that depend on more than numbers.
var instead = []otherLine{
	// On a busy machine there is no verdict about two programs, or the change does not follow from the medians.
	{regexp.MustCompile(`^sleep .* is faster than sleep .*: latency −`), regexp.MustCompile(`(?m)^sleep .*(against sleep .*: inconclusive, |is faster than sleep .* % paired)`)},
	// Nor about a latency.
	{regexp.MustCompile(`^careful .* REGRESSED .* improved$`), regexp.MustCompile(`(?m)^careful .* inconclusive .* improved$`)},
}

// TestNotPrinted: lines are compared without their numbers, and with all their words.
func TestNotPrinted(t *testing.T) {
	t.Parallel()
	const printed = `session 5MSVZ6ZQ · 4 runs: 4 ok · 924 ms

RUN       WHEN UTC        LATENCY  ACCURACY  STATUS
7T6TP6R5  today 04:17:07  2.64 ms    97.9 %  ok
block   MEDIAN      P99  SPREAD  RUNS × N
  4096   957 µs  9.32 ms  16.9 %    2 × 10  drift, spread
launch  point        repeat  state  reason
     1  block=4096        1  run    not measured yet
store ./runs_store is whole: 96 runs in 102 files
`
	for line, want := range map[string]bool{
		"session 6MSVZ6ZQ · 5 runs: 5 ok · 1.02 s": true, "session 6MSVZ6ZQ · 5 runs: 5 wrong · 1.02 s": false,
		"7T6TP6R5  today 04:17:07  640 µs     7.9 %  ok": true, "7T6TP6R5  today 04:17:07  2.64 ms    97.9 %  exploded": false,
		"  65536  1 s  2 ms  1 %  3 × 2…7": true, "block   MEAN      P99  SPREAD  RUNS × N": false,
		"     2  block=65536        1  run    not measured yet": true, "     1  blokk=4096        1  run    not measured yet": false,
		"     1  block=4096        1  run    was measured before": false, "store ./runs_store is whole: 9 runs in 10 files": true,
		"store ./runs_store is BROKEN: 96 zebras in 102 files": false, "…": true, "...": true, "… and more": false,
	} {
		valuetest.Equal(t, len(notPrinted(line+"\n", printed)) == 0, want, line)
	}
}

// folderOf returns a new folder in which the program can be called by its name, and which has the fixtures.
func folderOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for link, target := range map[string]string{"fixtures": programtest.Fixtures(t), ".bin/neurolens": programtest.Binary(t)} {
		valuetest.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o700))
		valuetest.OK(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	return dir
}

// storeOfReader returns a store with two sessions of one sweep.
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

// folderOfReader returns a folder as the reader of a page may have one: a repository with a sweep, a Python file and a text. The files that
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
		programtest.WriteFile(t, dir, name, text)
	}
	programtest.Repository(t, dir)
	return dir
}

// TestDocsBlocks: the blocks of all pages are understood, and those that are not run say why. It logs how many there are.
func TestDocsBlocks(t *testing.T) {
	t.Parallel()
	for _, name := range docsPages(t) {
		blocks, err := blocksOf(programtest.RepositoryFile(t, name))
		valuetest.NoError(t, err, name)
		run, left := 0, map[string]int{}
		for _, b := range blocks {
			switch {
			case b.notRun != "":
				left[b.notRun]++
			case b.runs():
				run++
			case b.kind == toolsBlock && elsewhere[name] == "":
				t.Errorf("%s:%d: no test runs these commands; <!-- not run: REASON --> above them says why:\n%s", name, b.line, b.text)
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
		"<!-- needs: polars -->\n```sh\ngit add .\nneurolens ls\n```\n\n    $ neurolens env\n    FACT\n\nText\n\n    discover:\n      in: x\n\n    more: 1\n\n* item\n\n    neurolens ls [flags]\n\n```text\n$ neurolens ls\n```\n" +
		"<!-- exits 1 or 3: a gate -->\n<!-- needs: torch -->\n```console\n$ neurolens env\n```\n\n<!-- not run: needs a network -->\n\n    X=1 go test ./...\n\n```sh\ntrino x\n```\n"
	blocks := valuetest.Must(blocksOf(page))
	var got []string
	for _, b := range blocks {
		got = append(got, fmt.Sprintf("%d %d %s %s %q", b.line, b.kind, b.name, b.notRun+b.needs+b.exits, b.text))
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
		`41 2  torch1 or 3 "$ neurolens env\n"`,
		`47 4  needs a network "X=1 go test ./...\n"`,
		`49 4   "trino x\n"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the blocks are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, wrong := range []string{"<!-- not run: needs a GPU -->\nText\n", "<!-- not run: needs a GPU -->\n", "<!-- not run -->\n```sh\nneurolens ls\n```\n", "<!-- needs: x -->\n<!-- not run: x -->\n```sh\nneurolens ls\n```\n", "```sh\nneurolens ls\n", "<!-- exits 2: x -->\n```sh\nneurolens ls\n```\n"} {
		valuetest.Fails(t, valuetest.Error(blocksOf(wrong)), "", wrong, "is taken for right")
	}
}

var (
	idOrDay    = regexp.MustCompile(`\b(?:[0-9A-HJKMNP-TV-Z]{8}|today|yesterday)\b`)
	measure    = regexp.MustCompile(`[−+~≈-]?[0-9][0-9.,:]*(?:e[+-]?[0-9]+)?(?: ?(?:%|(?:ns|µs|ms|s|min|h|B|kB|MB|GB|KiB|MiB|GiB|pp|x)\b))?`)
	measures   = regexp.MustCompile(`#(?:(?: |…)#)+`)
	chanceAxis = regexp.MustCompile(`\b(?:(?:bs|seq|dim)=# · |(?:BS|SEQ|PREC|dim)\b)`)
)

// shape returns a line with # for its numbers, times and ids, with single spaces, and without what is a matter of luck: in which axes a
// listing of the newest or slowest runs varies, the warnings, whether the medians contradict a change that is paired, and why points are inconclusive, as they are on a busy machine, where the
// first of the next commands is to measure more.
func shape(line string) string {
	line = strings.TrimPrefix(strings.TrimRight(line, "\n"), "next ")
	line, _, _ = strings.Cut(line, " inconclusive (")
	line = strings.TrimSuffix(line, " inconclusive")
	words := slices.DeleteFunc(strings.Fields(line), func(word string) bool {
		return slices.Contains([]string{"paired", "pairwise"}, word) || slices.Contains(views.WarningWords(), strings.TrimSuffix(word, ","))
	})
	line = measure.ReplaceAllString(idOrDay.ReplaceAllString(strings.Join(words, " "), "#"), "#")
	line = strings.Join(strings.Fields(chanceAxis.ReplaceAllString(line, "")), " ")
	return measures.ReplaceAllString(line, "#")
}
