package main

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// What a user meets is explained on a page. These tests hold the pages to the code: flags TestReference, keys of sweeps
// TestSweepsPageKeys, keys of neurolens.yaml TestPage in internal/project, columns TestColumns and TestFormatListsEveryColumn, warnings
// TestWarningsPage in internal/views, verdicts and reasons TestVerdictsPage, and the rest is below.

// TestExitCodesPage: the page has the exit statuses of the program, and no other.
func TestExitCodesPage(t *testing.T) {
	t.Parallel()
	var listed []int
	for _, row := range regexp.MustCompile(`(?m)^\| ([0-9, ]+) \|`).FindAllStringSubmatch(programtest.RepositoryFile(t, "docs/exit-codes.md"), -1) {
		for number := range strings.SplitSeq(row[1], ", ") {
			code := valuetest.Must(strconv.Atoi(number))
			listed = append(listed, code)
		}
	}
	want := []int{exitOK, exitRegression, exitInput, exitInconclusive, exitRunsFailed, exitStore, exitOther, exitPipe}
	declared := regexp.MustCompile(`(?m)^\texit[A-Z]\w* +=`).FindAllString(programtest.RepositoryFile(t, "cmd/neurolens/app.go"), -1)
	valuetest.Equal(t, len(declared), len(want), "cmd/neurolens/app.go declares", declared, "and this test knows")
	want = append(want, 129, 130, 143) // of a process that SIGHUP, SIGINT and SIGTERM end
	slices.Sort(want)
	slices.Sort(listed)
	valuetest.DeepEqual(t, listed, want, "docs/exit-codes.md")
}

// foreignVariables are the variables of other tools that the program heeds, and the Go code that reads them, where it is not their name.
var foreignVariables = map[string]string{
	"NO_COLOR": "", "FORCE_COLOR": "", "CLICOLOR": "", "CLICOLOR_FORCE": "", "TERM": "", "PAGER": "", "COLUMNS": "", "LC_ALL": "", "LC_CTYPE": "", "LANG": "",
	"VIRTUAL_ENV": "", "CONDA_PREFIX": "", "TZ": "time.Local", "TMPDIR": "os.TempDir()", "XDG_CACHE_HOME": "os.UserCacheDir()",
	"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
}

// TestVariablesPage: the page names every variable of the environment that the program asks for, and no other. Those of the script for
// CI are explained in its page.
func TestVariablesPage(t *testing.T) {
	t.Parallel()
	page, forCI := programtest.RepositoryFile(t, "docs/variables.md"), programtest.RepositoryFile(t, "docs/ci.md")
	explained := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(page, -1) {
		for _, name := range backquoted.FindAllStringSubmatch(row[1], -1) {
			explained[name[1]] = true
		}
	}
	// Those by which processes of the program, and its tests and benchmarks, speak to each other are no settings.
	internal := regexp.MustCompile(`^NEUROLENS_(WORKTREE_.*|LONG|TORTURE|TEST_.*)$`)
	tests := regexp.MustCompile(`_test\.go$|runtest|storetest|querytest|/testdata/|^python/tests/|^benchmarks/`)
	inGo, elsewhere := regexp.MustCompile(`"(NEUROLENS_[A-Z_]+)"`), regexp.MustCompile(`\b(NEUROLENS_[A-Z_]+)\b`)
	read, program := map[string]bool{}, ""
	for file, text := range readCode(t) {
		names := inGo
		if ext := path.Ext(file); ext == ".py" || ext == ".sh" || ext == ".yml" {
			names, text = elsewhere, programtest.RepositoryFile(t, file)
		} else if ext != ".go" {
			continue
		}
		if tests.MatchString(file) {
			continue
		}
		program += text
		for _, name := range names.FindAllStringSubmatch(text, -1) {
			if internal.MatchString(name[1]) {
				continue
			}
			read[name[1]] = true
			script := strings.HasPrefix(file, "cmd/neurolens/internal/project/files/")
			if !explained[name[1]] && !(script && strings.Contains(forCI, "`"+name[1]+"`")) {
				t.Errorf("docs/variables.md does not explain %s, which %s asks for", name[1], file)
			}
		}
	}
	for name, code := range foreignVariables {
		read[name] = strings.Contains(program, cmp.Or(code, strconv.Quote(name)))
		if !explained[name] {
			t.Errorf("docs/variables.md does not explain %s", name)
		}
	}
	for name := range explained {
		if !read[name] {
			t.Errorf("docs/variables.md explains %s, which nothing reads", name)
		}
	}
	if len(explained) < 20 {
		t.Errorf("docs/variables.md explains %d variables", len(explained))
	}
}

// TestFormatsNamed: the page of formats and the help of --format name every format.
func TestFormatsNamed(t *testing.T) {
	t.Parallel()
	page := programtest.RepositoryFile(t, "docs/formats.md")
	for _, format := range term.Formats {
		valuetest.Contains(t, page, "`"+format+"`", "docs/formats.md does not name", format)
	}
	if usage := newRootCommand(&app{}).PersistentFlags().Lookup("format").Usage; !strings.Contains(usage, strings.Join(term.Formats, " ")) {
		t.Errorf("--format is explained by %q, and the formats are %v", usage, term.Formats)
	}
	// Commands that take other formats say so themselves.
	for command, want := range map[string]string{"export": "parquet arrow csv jsonl openmetrics", "query": strings.Join(term.Formats, " ") + " arrow"} {
		cmd, _, err := newRootCommand(&app{}).Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		if usages := cmd.LocalFlags().FlagUsages() + cmd.InheritedFlags().FlagUsages(); strings.Count(usages, "--format FORMAT") != 1 || !strings.Contains(usages, want) {
			t.Errorf("%s: the formats %s are not those of its flags:\n%s", command, want, usages)
		}
	}
}
