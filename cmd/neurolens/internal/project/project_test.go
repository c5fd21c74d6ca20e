package project

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/docs"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// in makes a folder with files the home, and works in a folder below it.
func in(t *testing.T, work string, files map[string]string) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	ok(t, err)
	for name, text := range files {
		path := filepath.Join(home, name)
		ok(t, os.MkdirAll(filepath.Dir(path), 0o777))
		ok(t, os.WriteFile(path, []byte(text), 0o666))
	}
	ok(t, os.MkdirAll(filepath.Join(home, work), 0o777))
	t.Chdir(filepath.Join(home, work))
	return home
}

// commands returns a program with the flags that may have defaults.
func commands() *cobra.Command {
	root := &cobra.Command{Use: "neurolens"}
	for name, flags := range defaultFlags() {
		c := &cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}}
		for _, flag := range flags {
			switch flag {
			case "metric":
				c.Flags().StringSlice(flag, nil, "")
			case "all", "verbose", "wait":
				c.Flags().Bool(flag, false, "")
			case "repeats":
				c.Flags().Int64(flag, 0, "")
			default:
				c.Flags().String(flag, "", "")
			}
		}
		root.AddCommand(c)
	}
	return root
}

// around returns where a project is looked for in a home, with an environment of its own.
func around(home string, environ map[string]string) Environment {
	return Environment{Home: home, Environ: func(name string) string { return environ[name] }, Formats: []string{"table", "csv"}, Command: commands()}
}

func read(t *testing.T, s Environment) *Project {
	t.Helper()
	p, err := Read(s)
	ok(t, err)
	return p
}

const whole = `# a project
store: results
format: csv
machine: rack7
python: .venv/bin/python
thresholds:
  latency: 5%
  rmse: {abs: 0.001}
defaults:
  bench: {repeats: 5, wait: true}
  compare:
    threshold: [3%, energy=7%]
    metric: [latency, energy]
`

// TestOrigins: each setting has its value and the place that says it: a flag before a variable before the file.
func TestOrigins(t *testing.T) {
	home := in(t, "a/b", map[string]string{projectFile: whole})
	p := read(t, around(home, map[string]string{"NEUROLENS_MACHINE": "lab3", "NEUROLENS_PYTHON": "python9"}))
	given := func(flag string) (string, string) {
		if flag == "format" {
			return "table", "--format"
		}
		return "", ""
	}
	var lines []string
	for _, s := range p.Settings(given, nil) {
		lines = append(lines, strings.Join([]string{s.Key, s.Value, s.Source, s.Where}, " "))
	}
	file := filepath.Join("..", "..", projectFile)
	want := fmt.Sprintf(`store ../../results file %[1]s:2
format table flag --format
machine lab3 variable NEUROLENS_MACHINE
python python9 variable NEUROLENS_PYTHON
thresholds.latency 5%% file %[1]s:7
thresholds.rmse 0.001 file %[1]s:8
defaults.bench.repeats 5 file %[1]s:10
defaults.bench.wait true file %[1]s:10
defaults.compare.metric latency,energy file %[1]s:13
defaults.compare.threshold 3%%,energy=7%% file %[1]s:12`, file)
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for name, want := range map[string]string{"NEUROLENS_STORE": "../../results", "NEUROLENS_FORMAT": "csv", "NEUROLENS_MACHINE": "lab3", "NEUROLENS_LOCKS": ""} {
		if got := p.Getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}

	t.Chdir(home)
	ok(t, os.Remove(projectFile))
	for _, s := range read(t, around(home, nil)).Settings(func(string) (string, string) { return "", "" }, map[string]string{"format": "table"}) {
		if s.Source != SourceDefault || s.Where != "" || (s.Value == "table") != (s.Key == "format") || s.Without == "" && s.Key != "store" {
			t.Errorf("without a file: %+v", s)
		}
	}
}

// TestApply: a flag that is not on the command line has its default, one that is has none. Flags that go before keys of a
// sweep are left to it.
func TestApply(t *testing.T) {
	s := around(in(t, "", map[string]string{projectFile: whole}), nil)
	bench, _, _ := s.Command.Find([]string{"bench"})
	compare, _, _ := s.Command.Find([]string{"compare"})
	ok(t, compare.ParseFlags([]string{"--metric", "power"}))
	p := read(t, s)
	if got := compare.Flags().Lookup("metric").Value.String(); got != "[power]" {
		t.Errorf("the command line is replaced by %s", got)
	}
	if got := bench.Flags().Lookup("wait").Value.String(); got != "true" {
		t.Errorf("the default does not count: %s", got)
	}
	if bench.Flags().Changed("repeats") || compare.Flags().Lookup(thresholdFlag).Value.String() != "" {
		t.Error("a default that a sweep may replace goes before it")
	}
	want := judge.Thresholds{"": {Value: .03}, "energy": {Value: .07}, "rmse": {Value: .001, Absolute: true}}
	if got := p.Usual("compare"); !maps.Equal(got, want) {
		t.Errorf("thresholds of compare: %v, want %v", got, want)
	}
	want = judge.Thresholds{"latency": {Value: .05}, "rmse": {Value: .001, Absolute: true}}
	if got := p.Usual("explain"); !maps.Equal(got, want) {
		t.Errorf("thresholds of explain: %v, want %v", got, want)
	}
}

// TestSweep: a sweep takes what it does not say itself from the environment, else from the file.
func TestSweep(t *testing.T) {
	home := in(t, "below", map[string]string{projectFile: whole})
	point := func(text, command string, environ map[string]string) (*sweep.Sweep, *sweep.Point) {
		p := read(t, around(home, environ))
		s, err := sweep.Read("sweep.yaml", strings.NewReader("file: x.py\n"+text), sweep.Overrides{Defaults: p.Sweep(command)})
		ok(t, err)
		return s, &s.Points[0]
	}
	s, p := point("", "bench", nil)
	if python := filepath.Join(home, ".venv/bin/python"); p.Python != python || s.Repeats != 5 || p.Thresholds["latency"] != "5%" || p.Thresholds["rmse"] != "0.001" {
		t.Errorf("%s, %d repeats, %v", p.Python, s.Repeats, p.Thresholds)
	}
	s, p = point("python: own\nrepeats: 2\nthresholds: {latency: 1%}", "bench", map[string]string{"NEUROLENS_PYTHON": "python9"})
	if p.Python != "own" || s.Repeats != 2 || p.Thresholds["latency"] != "1%" {
		t.Errorf("%s, %d repeats, %v", p.Python, s.Repeats, p.Thresholds)
	}
	if s, p = point("", "bisect", map[string]string{"NEUROLENS_PYTHON": "python9"}); p.Python != "python9" || s.Repeats != 1 {
		t.Errorf("%s, %d repeats", p.Python, s.Repeats)
	}
}

// TestReadErrors: what makes no sense is refused with its line, and with what was probably meant.
func TestReadErrors(t *testing.T) {
	home := in(t, "", nil)
	for text, want := range map[string]string{
		"format: csv\nmachin: x":                             `neurolens.yaml:2: there is no key "machin"; did you mean machine?`,
		"suite: x":                                           `neurolens.yaml:1: there is no key "suite"; it has store format machine python thresholds defaults (a sweep needs another name)`,
		"pager: less":                                        `neurolens.yaml:1: there is no key "pager"; it has`,
		"store: [a]":                                         `neurolens.yaml:1: store: want a text, got a list`,
		"# x\nstore:":                                        `neurolens.yaml:2: store: want a text, got nothing`,
		"store: a\nstore: b":                                 `neurolens.yaml:2: duplicate key store: line 1 sets it already`,
		"format: xml":                                        `neurolens.yaml:1: format: want one of table csv, got "xml"`,
		"python: {a: b}":                                     `neurolens.yaml:1: python: want a text, got a map`,
		"thresholds:\n  latency: 5ms":                        `neurolens.yaml:2: thresholds.latency: want a share`,
		"thresholds:\n  latency: {abs: 2 MiB}":               `neurolens.yaml:2: thresholds.latency.abs: latency is in ns, not in MiB`,
		"thresholds: 5%":                                     `neurolens.yaml:1: thresholds: want a map, got "5%"`,
		"defaults:":                                          `neurolens.yaml:1: defaults: want a map of commands, got nothing`,
		"defaults:\n  bnch: {wait: true}":                    `neurolens.yaml:2: defaults: no command "bnch" takes defaults; did you mean bench?`,
		"defaults: {rm: {all: true}}":                        `neurolens.yaml:1: defaults: no command "rm" takes defaults; these do: bench bisect compare`,
		"defaults: {bench: 5}":                               `neurolens.yaml:1: defaults.bench: want a map of flags, got "5"`,
		"defaults:\n  bench:\n    --repeat: 5":               `neurolens.yaml:3: defaults.bench: no flag "repeat" takes a default; did you mean repeats?`,
		"defaults: {compare: {gate: true}}":                  `neurolens.yaml:1: defaults.compare: no flag "gate" takes a default; these do: all metric threshold`,
		"defaults: {bench: {setup: x}}":                      `neurolens.yaml:1: defaults.bench: no flag "setup" takes a default; these do:`,
		"defaults: {bench: {repeats: many}}":                 `neurolens.yaml:1: defaults.bench.repeats: want a whole number, got "many"`,
		"defaults: {bench: {repeats: 99999999999999999999}}": `neurolens.yaml:1: defaults.bench.repeats: want a smaller number, got`,
		"defaults: {bench: {repeats: 0}}":                    `neurolens.yaml:1: defaults.bench.repeats: want a whole number from 1 to`,
		"defaults:\n  bisect: {warmup: -1}":                  `neurolens.yaml:2: defaults.bisect.warmup: want a whole number from 0 to`,
		"defaults: {bench: {order: shuffled}}":               `neurolens.yaml:1: defaults.bench.order: want one of interleaved random sequential, got "shuffled"`,
		"defaults: {bench: {timeout-multiplier: 0}}":         `neurolens.yaml:1: defaults.bench.timeout-multiplier: want a number above 0`,
		"defaults: {bench: {wait: maybe}}":                   `neurolens.yaml:1: defaults.bench.wait: want true or false, got "maybe"`,
		"defaults: {compare: {metric: []}}":                  `neurolens.yaml:1: defaults.compare.metric: the list is empty`,
		"defaults: {compare: {metric: [[a]]}}":               `neurolens.yaml:1: defaults.compare.metric: want a text, got a list`,
		"defaults:\n  explain:\n    threshold: few":          `neurolens.yaml:3: defaults.explain.threshold: --threshold "few": want a share`,
		"[a]":              `neurolens.yaml:1: want keys with values, got a list`,
		"store: a\n---\nb": `neurolens.yaml:2: a second YAML document`,
		"a: {":             `neurolens.yaml:1: YAML: `,
	} {
		ok(t, os.WriteFile(projectFile, []byte(text), 0o666))
		if _, err := Read(around(home, nil)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestNearest: store and file are looked for upwards to the home directory, and above the working directory only where they
// belong to who asks.
func TestNearest(t *testing.T) {
	store := filepath.Join("a", storeName, schema.HeaderFile)
	home := in(t, "a/b/c", map[string]string{store: "{}", filepath.Join("a", projectFile): "machine: x"})
	up := filepath.Join("..", "..")
	for _, c := range []struct{ home, store, file string }{
		{home, filepath.Join(up, storeName), filepath.Join(up, projectFile)},
		{filepath.Join(home, "a"), filepath.Join(up, storeName), filepath.Join(up, projectFile)},
		{filepath.Join(home, "a", "b"), StoreHere, ""},
	} {
		if got, path := NearestStore(c.home), nearestProject(c.home); got != c.store || path != c.file {
			t.Errorf("up to %s: %s and %q, want %s and %q", c.home, got, path, c.store, c.file)
		}
	}
	if os.Geteuid() != 0 {
		return // nobody else can give a file away
	}
	for _, path := range []string{filepath.Join(up, storeName), filepath.Join(up, projectFile)} {
		if err := os.Chown(path, 12345, 12345); err != nil {
			t.Skip(err)
		}
	}
	if got, path := NearestStore(home), nearestProject(home); got != StoreHere || path != "" {
		t.Errorf("what others have put there counts: %s and %q", got, path)
	}
}

// TestPage: the page has every key with its variable and its flag, every flag that takes a default, and a file that can be
// read.
func TestPage(t *testing.T) {
	text, err := docs.Pages.ReadFile("projects.md")
	ok(t, err)
	var rows []string
	for line := range strings.Lines(string(text)) {
		if row, is := strings.CutPrefix(strings.TrimSpace(line), "| `"); is {
			cells := strings.Split("`"+strings.TrimSuffix(row, "|"), "|")
			for i := range cells {
				cells[i] = strings.Trim(cells[i], " `")
			}
			if len(cells) == 4 {
				cells[1] = "" // what it says
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
	}
	var want []string
	for _, k := range keys {
		want = append(want, k.name+"||"+k.variable+"|"+strings.TrimSuffix("--"+k.flag, "--"))
	}
	for _, command := range slices.Sorted(maps.Keys(defaultFlags())) {
		want = append(want, command+"|"+strings.Join(slices.Sorted(slices.Values(defaultFlags()[command])), "` `"))
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the page has\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	block := regexp.MustCompile("(?s)```yml\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("the page has no file")
	}
	home := in(t, "", map[string]string{projectFile: string(block[1])})
	p := read(t, around(home, nil))
	for _, k := range keyNames() {
		if !slices.ContainsFunc(p.values, func(v value) bool { return v.key == k || strings.HasPrefix(v.key, k+".") }) {
			t.Errorf("the file of the page has no %s", k)
		}
	}
}

// ok ends a test at an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
