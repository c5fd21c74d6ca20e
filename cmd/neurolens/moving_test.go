//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// movingPage is a page about another system, and the project that stands in for one of that system's. In these projects results are wrong
// on purpose.
type movingPage struct {
	name, project string         // one or several folders of fixtures/projects
	modules       string         // that its interpreter has to have, if any
	passes        string         // matches the calls of bench in which no run fails: they end with 0, others with 4
	exits         map[string]int // what other commands end with, where it is not 0
	broken        string         // the suite of testdata/suites whose broken parts are beside it when the items are tried, if any
}

var movingPages = []movingPage{
	{
		name: "neurolens-bench-harness", modules: "onnxruntime", passes: ".",
		exits: map[string]int{"neurolens bench --config sweep.yaml --set backend=tensorrt -P precision=fp32 --dry-run": 2}, // not installed
	},
	{
		name: "benchmark-harness", project: "chapters tokens", broken: "chapters", passes: "--dry-run|--targets (ch1:sum|ch2:triton)",
		exits: map[string]int{
			"neurolens compare --gate --matrix variant=baseline session=last": 1, // a result is wrong
		},
	},
	{
		name: "quasim", project: "kernels", broken: "kernels", passes: "--dry-run|-P backend=cuda",
		exits: map[string]int{ // no earlier sessions are known
			"neurolens compare --gate git:main:reports/summary.json session=last":          3,
			"neurolens compare --gate --threshold latency=10% session=last~1 session=last": 3,
		},
	},
	{name: "swift-mnist", project: "training", passes: "--dry-run|hidden_size=512"},
	{name: "operation-grid", project: "operations", passes: "--dry-run|--targets operations:GELU"},
}

// TestMovingPages runs what the pages about other systems say, in the order in which they say it, and looks for the files that they
// list. A script stands in for the compiler of Swift, which is elsewhere; so do Python files for kernels of GPUs.
func TestMovingPages(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	for _, page := range movingPages {
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			text := programtest.RepositoryFile(t, "docs/moving/"+page.name+".md")
			dir := page.stage(t, text)
			commands := commandsIn(text)
			if len(commands) < 10 {
				t.Fatalf("the page has %d commands", len(commands))
			}
			page.runAll(t, dir, commands)
			for _, name := range filesListed(text) {
				if found, err := filepath.Glob(filepath.Join(dir, strings.TrimSuffix(name, "/"))); err != nil || len(found) == 0 {
					t.Errorf("the page lists %s, which nothing wrote: %v", name, err)
				}
			}
			points := func(store string) []string {
				return strings.Fields(programtest.Output(t, dir, "query", "--store", store, "--format", "csv", "SELECT DISTINCT point_id FROM runs"))
			}
			measured, read := points("runs_store"), points("older_runs")
			if len(read) < 3 || slices.ContainsFunc(read, func(id string) bool { return !slices.Contains(measured, id) }) {
				t.Errorf("points of files that were read: %q, of those that were measured: %q", read, measured)
			}
		})
	}
}

// TestMovingItems runs the commands of the list of all that the five systems do, each section in a project of its system, with broken
// parts beside it. The list adds up, and suites with broken parts lose no point.
func TestMovingItems(t *testing.T) {
	t.Parallel()
	text := programtest.RepositoryFile(t, "docs/moving/items.md")
	sections := regexp.MustCompile(`(?m)^## .*$`).Split(text, -1)
	valuetest.Equal(t, len(sections), 1+len(movingPages), "the list", len(sections)-1, "sections")
	states, all := map[string]int{}, 0
	for i, page := range movingPages {
		rows := regexp.MustCompile(`(?m)^\| ([0-9]+) \| .* \| (\w[\w ]*) \| .* \|$`).FindAllStringSubmatch(sections[i+1], -1)
		own := map[string]int{}
		for _, row := range rows {
			own[row[2]]++
			states[row[2]]++
		}
		all += len(rows)
		want := fmt.Sprintf("(%s.md) | %d | %d | %d | %d |", page.name, len(rows), own["done"], own["differs"], own["untried"])
		if last := rows[len(rows)-1][1]; !strings.Contains(sections[0], want) || last != fmt.Sprint(len(rows)) {
			t.Errorf("the list of %s has %s, and its last row is %s", page.name, want, last)
		}
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			programtest.NeedsLong(t)
			var once []string
			for _, command := range commandsIn(sections[i+1]) {
				if !slices.Contains(once, command) {
					once = append(once, command)
				}
			}
			dir := page.stage(t, programtest.RepositoryFile(t, "docs/moving/"+page.name+".md"))
			if page.broken != "" {
				layOver(t, dir, page.broken)
				programtest.Commit(t, dir)
			}
			page.runAll(t, dir, once)
		})
	}
	t.Run("suites", testSuites)
	want := fmt.Sprintf("| all | | %d | %d | %d | %d |", all, states["done"], states["differs"], states["untried"])
	valuetest.Contains(t, sections[0], want, "the list adds up to")
}

// stage makes a folder with the project and the sweep of a page. The folder is a repository.
func (p movingPage) stage(t *testing.T, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if p.modules != "" {
		programtest.PythonWith(t, p.modules, p.modules)
	} else if _, err := exec.LookPath("python3"); p.project != "training" {
		programtest.Needs(t, "python3", err)
	}
	valuetest.OK(t, os.Mkdir(dir, 0o700))
	for project := range strings.FieldsSeq(p.project) {
		valuetest.OK(t, os.CopyFS(dir, os.DirFS(filepath.Join(programtest.Fixtures(t), "projects", project))))
	}
	sweep := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindStringSubmatch(text)
	if sweep == nil {
		t.Fatal("the page has no sweep")
	}
	programtest.WriteFile(t, dir, "sweep.yaml", sweep[1])
	programtest.Repository(t, dir)
	return dir
}

func (p movingPage) runAll(t *testing.T, dir string, commands []string) {
	t.Helper()
	bin := t.TempDir()
	programtest.Link(t, bin)
	search := []string{bin, filepath.Join(dir, "bin"), os.Getenv("PATH")}
	if p.modules != "" {
		search = slices.Insert(search, 1, filepath.Dir(programtest.Interpreter()))
	}
	env := append(programtest.Environ(t), "PATH="+strings.Join(search, ":"), "XDG_CACHE_HOME="+t.TempDir(), "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=t", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=t@localhost")
	for _, command := range commands {
		run := command
		if command == "neurolens bench sweep.yaml --out-dir . --layout grid" {
			run += " -P seq_len=256 -P tensor_dimension=64" // 60 of 1,680 points
		}
		cmd := exec.Command("sh", "-c", run)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		code := 0
		if exit, is := errors.AsType[*exec.ExitError](err); is {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		want := p.exits[command]
		if strings.HasPrefix(command, "neurolens bench ") && want == 0 && !regexp.MustCompile(p.passes).MatchString(command) {
			want = 4
		}
		valuetest.Equal(t, code, want, command, "exit", out)
	}
}

// commandsIn returns the commands of a page, in its order: those in code, but not in the first column of a table, where the other system's
// are, and the lines of blocks of shell.
func commandsIn(text string) (commands []string) {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```") && fence == "":
			fence = line
		case strings.HasPrefix(line, "```"):
			fence = ""
		case fence == "```sh":
			commands = append(commands, line)
		case fence != "":
		default:
			if strings.HasPrefix(line, "| ") {
				_, line, _ = strings.Cut(line[2:], " | ")
			}
			for _, word := range backquoted.FindAllStringSubmatch(line, -1) {
				if strings.HasPrefix(word[1], "neurolens ") {
					commands = append(commands, word[1])
				}
			}
		}
	}
	return commands
}

// filesListed returns the files of the table below the heading Files.
func filesListed(text string) (names []string) {
	_, text, _ = strings.Cut(text, "\n## Files\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for line := range strings.Lines(text) {
		if cell, _, is := strings.Cut(strings.TrimPrefix(line, "| `"), " | "); is && strings.HasPrefix(line, "| `") {
			for _, word := range backquoted.FindAllStringSubmatch("`"+cell, -1) {
				names = append(names, word[1])
			}
		}
	}
	return names
}

// indentedCommand matches a command in a block of four spaces.
var indentedCommand = regexp.MustCompile(`(?m)^    (neurolens .*)$`)

// TestDocsCommands: what the README and the pages in docs show of the program's commands and flags, the program has.
func TestDocsCommands(t *testing.T) {
	for _, page := range append(docsPages(t), "README.md") {
		commands := commandsIn(programtest.RepositoryFile(t, page))
		for _, indented := range indentedCommand.FindAllStringSubmatch(programtest.RepositoryFile(t, page), -1) {
			commands = append(commands, indented[1])
		}
		for _, command := range commands {
			if words := shellWords(command); len(words) > 0 && words[0] == "neurolens" {
				valuetest.NoError(t, takes(t, words[1:]), page, command)
			}
		}
	}
	for _, wrong := range []string{"neurolens bench --no-such-flag x", "neurolens nosuch"} {
		if takes(t, shellWords(wrong)[1:]) == nil {
			t.Errorf("%s is taken for right", wrong)
		}
	}
}

// TestDocsLinks: links of all pages of the repository lead to a file that is there, and to a heading in it. The index lists each page in docs.
func TestDocsLinks(t *testing.T) {
	index := programtest.RepositoryFile(t, "docs/README.md")
	for _, page := range docsPages(t) {
		if name := strings.TrimPrefix(page, "docs/"); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
	for _, page := range append(docsPages(t), otherPages(t)...) {
		for _, link := range regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]+))?\)`).FindAllStringSubmatch(programtest.RepositoryFile(t, page), -1) {
			target := page
			if link[1] != "" {
				target = path.Join(path.Dir(page), link[1])
			}
			if strings.Contains(link[1], "://") {
				continue
			}
			_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(target)))
			if err != nil || link[2] != "" && !hasHeading(programtest.RepositoryFile(t, target), link[2]) {
				t.Errorf("%s links to %s, which does not exist: %v", page, link[0], err)
			}
		}
	}
	if hasHeading("# A b\n", "b") || !hasHeading("x\n## A: b-c\n", "a-b-c") {
		t.Error("headings are not told apart")
	}
}

// otherPages returns the pages that are not below docs.
func otherPages(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "query/*.md", "query/judge/*.md", "runner/*.md", "schema/*.md", "fixtures/*/README.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range found {
			pages = append(pages, filepath.ToSlash(strings.TrimPrefix(file, filepath.Join("..", "..")+string(filepath.Separator))))
		}
	}
	return pages
}

// hasHeading tells whether a page has a heading of this anchor.
func hasHeading(text, anchor string) bool {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		if slug := regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(heading[1]), ""); strings.ReplaceAll(slug, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// takes tells whether the program has a command, and the flags that are given to it.
func takes(t *testing.T, args []string) error {
	t.Helper()
	root := newRootCommand(&app{})
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if errors.Is(err, pflag.ErrHelp) { // --help
		return nil
	}
	if err == nil && cmd == root {
		return fmt.Errorf("there is no command %q", args)
	}
	return err
}

var shellWord = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)

// shellWords returns the words of a line before a comment or a redirection, without their quotes.
func shellWords(line string) (words []string) {
	for _, word := range shellWord.FindAllString(line, -1) {
		if strings.ContainsAny(word[:1], "#<>&;|") {
			break
		}
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(word))
	}
	return words
}

// docsPages returns the pages below docs, by their paths from the top level.
func docsPages(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found := valuetest.Must(filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern))))
		for _, file := range found {
			pages = append(pages, filepath.ToSlash(strings.TrimPrefix(file, filepath.Join("..", "..")+string(filepath.Separator))))
		}
	}
	if len(pages) < 10 {
		t.Fatalf("docs has %d pages", len(pages))
	}
	return pages
}
