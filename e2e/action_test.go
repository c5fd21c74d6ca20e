//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// parsedAction is what is looked at of the action of GitHub at the top level.
type parsedAction struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct {
		Steps []struct {
			ID, Name, Run, If, Uses, Shell string
			Env, With                      map[string]string
		}
	}
}

func readAction(t *testing.T) parsedAction {
	t.Helper()
	var a parsedAction
	valuetest.OK(t, yaml.Unmarshal([]byte(programtest.RepositoryFile(t, "action.yml")), &a))
	return a
}

// actionsExpression is one of GitHub in a value.
var actionsExpression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// action runs steps of the action in the repository of a ci, as a runner would.
type action struct {
	*ci
	parsedAction
	values map[string]string // of expressions
}

// newAction has the inputs of an action for a pull request, and its defaults for those that are not given.
func newAction(t *testing.T, c *ci, inputs map[string]string) *action {
	t.Helper()
	root := valuetest.Must(filepath.Abs(".."))
	a := &action{c, readAction(t), map[string]string{
		"github.token": "ghs_secret", "steps.run.outputs.status": "", "steps.source.outputs.kind": "", "steps.source.outputs.label": "speed/bench", "steps.source.outputs.out": "neurolens-out",
		"inputs.name || format('{0}/{1} {2}', github.workflow, github.job, toJSON(matrix))": "speed/bench null", "github.event.pull_request.number": "3", "github.event_name == 'push' && '1' || '0'": "0",
		"inputs.base || (github.event_name == 'pull_request' && format('origin/{0}', github.base_ref)) || github.event.before": "HEAD~1",
	}}
	for name, in := range a.Inputs {
		a.values["inputs."+name] = a.filled(t, in.Default)
	}
	for name, value := range inputs {
		if _, known := a.Inputs[name]; !known {
			t.Fatalf("the action has no input %s", name)
		}
		a.values["inputs."+name] = value
	}
	c.env = append(c.env, "GITHUB_ACTION_PATH="+root, "GITHUB_REPOSITORY=us/work", "RUNNER_TEMP="+t.TempDir(), "RUNNER_OS=Linux", "RUNNER_ARCH=X64")
	for _, file := range []string{"GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_ENV", "GITHUB_STEP_SUMMARY"} {
		c.env = append(c.env, file+"="+filepath.Join(c.state, file))
	}
	return a
}

// filled fills in the expressions of a text.
func (a *action) filled(t *testing.T, text string) string {
	t.Helper()
	return actionsExpression.ReplaceAllStringFunc(text, func(e string) string {
		name := actionsExpression.FindStringSubmatch(e)[1]
		value, known := a.values[name]
		if !known {
			t.Fatalf("the expression %s has no value here", name)
		}
		return value
	})
}

// step runs a step and gives its status and output. The outputs of the step are then known.
func (a *action) step(t *testing.T, name string) (code int, output string) {
	t.Helper()
	for _, s := range a.Runs.Steps {
		if s.Name != name {
			continue
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
		cmd.Dir, cmd.Env = a.dir, slices.Clone(a.env)
		for key, value := range s.Env {
			cmd.Env = append(cmd.Env, key+"="+a.filled(t, value))
		}
		text, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(a.value("GITHUB_OUTPUT")) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			a.values["steps."+s.ID+".outputs."+key] = value
		}
		return code, string(text)
	}
	t.Fatalf("the action has no step %s", name)
	return 0, ""
}

// stands replaces neurolens by a program whose bench says BENCH_SAYS and ends with BENCH_ENDS, and whose comparison is the file compared of
// the state and ends with a status, or with COMPARE_ENDS. The environment of bench is in measured.env of the state.
func (c *ci) stands(t *testing.T, gate int) {
	t.Helper()
	c.program(t, "neurolens", fmt.Sprintf(`#!/bin/sh
echo "$*" >>"$STATE/asked"
case " $* " in
*' bench '*)
	env >"$STATE/measured.env"
	[ -z "${BENCH_SAYS:-}" ] || printf '%%s\n' "$BENCH_SAYS" >&2
	[ -z "${BENCH_KILLS:-}" ] || kill -KILL 0
	exit "${BENCH_ENDS:-0}"
	;;
*' --gate session=last '*)
	cat "$STATE/compared"
	exit "${COMPARE_ENDS:-%d}"
	;;
esac
`, gate))
	programtest.WriteFile(t, c.state, "compared", "**found**\n")
}

// TestActionGate: the input gate decides which status of the comparison fails; flags and axes of the inputs are passed on, and so
// are settings of the script that the action does not have.
func TestActionGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gate        string
		says, fails int
	}{
		{"regression", 0, 0},
		{"regression", 1, 1},
		{"regression", 3, 0},
		{"regression", 5, 5},
		{"strict", 0, 0},
		{"strict", 1, 1},
		{"strict", 3, 3},
		{"off", 0, 0},
		{"off", 1, 0},
		{"off", 3, 0},
		{"off", 5, 5},
	} {
		repo := newCI(t, "plain")
		commitAgain(t, repo)
		repo.stands(t, c.says)
		repo.env = append(repo.env, "BENCH_FLAGS=--wait --until-conclusive") // env of the job
		a := newAction(t, repo, map[string]string{"gate": c.gate, "flags": "--threshold 7%", "backend": "torch", "version": "installed", "history": "none"})
		if code, output := a.step(t, "run"); code != 0 {
			t.Errorf("%s, %d: the run ends with %d:\n%s", c.gate, c.says, code, output)
		}
		if code, output := a.step(t, "verdict"); code != c.fails {
			t.Errorf("%s: the verdict about %d is %d, want %d:\n%s", c.gate, c.says, code, c.fails, output)
		}
		asked := repo.value("asked")
		for _, want := range []string{"bench --wait --until-conclusive sweep.yaml -P backend=torch --against ", "compare --gate session=last --format md --threshold 7%"} {
			valuetest.Contains(t, asked, want, c.gate, c.says, "it asks")
		}
		found := "\n\n**found**\n"
		if c.says > 3 {
			found = "\n\n**Not measured** at " + programtest.Git(t, repo.dir, "rev-parse", "HEAD")[:12] + ": status 5. A result of an earlier push says nothing about this one.\n"
		}
		if summary := repo.value("GITHUB_STEP_SUMMARY"); summary != "### Benchmarks: `sweep.yaml, speed/bench`"+found {
			t.Errorf("%s, %d: the summary is %q", c.gate, c.says, summary)
		}
	}
	a := newAction(t, newCI(t, "plain"), map[string]string{"gate": "strickt"})
	if code, output := a.step(t, "run"); code != 2 || !strings.Contains(output, "gate: want regression, strict or off, got strickt") {
		t.Errorf("an unknown gate ends with %d:\n%s", code, output)
	}
}

// commitAgain commits something, so that there is a commit before.
func commitAgain(t *testing.T, c *ci) {
	t.Helper()
	programtest.WriteFile(t, c.dir, "notes.txt", "nothing\n")
	programtest.Commit(t, c.dir)
}

// TestActionInstall: a release is checked before it is unpacked; a clone is built.
func TestActionInstall(t *testing.T) {
	t.Parallel()
	const archive = "neurolens-0.1.0-linux-amd64.tar.gz"
	prepare := `mkdir -p "$STATE/release" work/neurolens-0.1.0-linux-amd64 && cd work && echo 'echo it runs' >neurolens-0.1.0-linux-amd64/neurolens && chmod +x neurolens-*/neurolens
tar -czf "$STATE/release/` + archive + `" neurolens-0.1.0-linux-amd64 && cd "$STATE/release" && sha256sum neurolens-* >SHA256SUMS
`
	for name, c := range map[string]struct {
		damage string
		code   int
		says   string
	}{
		"whole":          {"", 0, archive + ": OK"},
		"another file":   {`echo more >>` + archive, 1, archive + ": FAILED"},
		"not in the sum": {`sed -i 's/amd64/arm64/' SHA256SUMS`, 1, "SHA256SUMS of v0.1.0 does not have " + archive},
		"no release":     {`rm -r "$STATE/release"`, 1, "release"},
	} {
		repo := newCI(t, "plain")
		gitHub(t, repo, "github-actions[bot]")
		a := newAction(t, repo, map[string]string{"version": "v0.1.0"})
		if code, output := repo.sh(t, prepare+c.damage); code != 0 {
			t.Fatalf("%s: %s", name, output)
		}
		a.is(t, "release")
		code, output := a.step(t, "install")
		valuetest.Equal(t, code, c.code, name, "it ends with")
		valuetest.Contains(t, output, c.says, name, "it ends with")
		path := strings.TrimSpace(repo.value("GITHUB_PATH"))
		if code, output := repo.sh(t, `PATH="`+path+`" neurolens`); c.code == 0 && (code != 0 || output != "it runs\n") || c.code != 0 && path != "" {
			t.Errorf("%s: the path is %q, the program says %s", name, path, output)
		}
	}
	repo := newCI(t, "plain")
	a := newAction(t, repo, map[string]string{"version": "clone"})
	compiler := t.TempDir()
	valuetest.OK(t, os.WriteFile(filepath.Join(compiler, "go"), []byte("#!/bin/sh\npwd\necho \"$*\"\n"), 0o755))
	valuetest.OK(t, os.Mkdir(filepath.Join(repo.dir, "clone"), 0o755))
	a.env = append(a.env, "PATH="+compiler+":"+os.Getenv("PATH"))
	a.is(t, "build")
	code, output := a.step(t, "install")
	folder := strings.TrimSpace(repo.value("GITHUB_PATH"))
	if want := "/clone\nbuild -trimpath -o " + folder + "/neurolens ./cmd/neurolens\n"; code != 0 || folder == "" || !strings.HasSuffix(output, want) {
		t.Errorf("a clone ends with %d:\n%swant\n%s", code, output, want)
	}
}

// is runs the step that says where the program comes from, which has to be this.
func (a *action) is(t *testing.T, want string) {
	t.Helper()
	if code, output := a.step(t, "source"); code != 0 || a.values["steps.source.outputs.kind"] != want {
		t.Errorf("version %q: it ends with %d, the program is %q, want %q\n%s", a.values["inputs.version"], code, a.values["steps.source.outputs.kind"], want, output)
	}
}

// TestActionVersion: a version is a release, a program that is there, or a folder; a compiler is installed for a folder alone.
func TestActionVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"": "build", "installed": "installed", "v0.1.0": "release", "v1": "release", "vendor/neurolens": "build", "vendor": "build", "v2/neurolens": "build", ".": "build",
	} {
		newAction(t, newCI(t, "plain"), map[string]string{"version": version}).is(t, want)
	}
	for _, s := range readAction(t).Runs.Steps {
		if s.Name == "compiler" && s.If != "${{ steps.source.outputs.kind == 'build' }}" {
			t.Errorf("a compiler is installed if %s", s.If)
		}
	}
}

// value returns the text of a file of the state.
func (c *ci) value(name string) string {
	text, _ := os.ReadFile(filepath.Join(c.state, name))
	return string(text)
}

// TestAction: the action measures a change that makes a program 20 % slower, comments it once, edits the comment, and fails.
func TestAction(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	repo := newCI(t, "plain")
	f := gitHub(t, repo, "github-actions[bot]")
	a := newAction(t, repo, map[string]string{"history": "none"})
	repo.costs(t, "1200")
	if code, output := a.step(t, "run"); code != 0 || a.values["steps.run.outputs.status"] != "1" {
		t.Fatalf("it ends with %d:\n%s", code, output)
	}
	for range 2 {
		if code, output := a.step(t, "comment"); code != 0 {
			t.Errorf("posting ends with %d:\n%s", code, output)
		}
	}
	if texts := f.mine(f.comments); len(texts) != 1 || !strings.Contains(texts[0], "**1 regression in 1 point**") {
		t.Errorf("the comments are %q", texts)
	}
	if code, _ := a.step(t, "verdict"); code != 1 {
		t.Errorf("the verdict is %d", code)
	}
}

// TestActionIsTheScript: the action and the workflow of `ci init` call the same script, with the same commands, and settings that the
// script has; every input is used, and none is put into a command.
func TestActionIsTheScript(t *testing.T) {
	t.Parallel()
	const folder = "cmd/neurolens/internal/project/files/"
	script, template := programtest.RepositoryFile(t, folder+"neurolens.sh"), programtest.RepositoryFile(t, folder+"github.yml")
	settings := map[string]bool{"GH_TOKEN": true, "PR_NUMBER": true}
	for _, m := range regexp.MustCompile(`(?m)^([A-Z_]+)=\$\{`).FindAllStringSubmatch(script, -1) {
		settings[m[1]] = true
	}
	called, used := map[string]bool{}, map[string]bool{}
	for _, s := range readAction(t).Runs.Steps {
		for _, text := range append(slices.Collect(maps.Values(s.Env)), append(slices.Collect(maps.Values(s.With)), s.If)...) {
			for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(text, -1) {
				used[m[1]] = true
			}
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %s has an expression in its command: %s", s.Name, s.Run)
		}
		_, command, ok := strings.Cut(s.Run, `sh "$GITHUB_ACTION_PATH/`+folder+`neurolens.sh" `)
		if !ok {
			continue
		}
		called[regexp.MustCompile(`^[a-z]+`).FindString(command)] = true
		for key := range s.Env {
			if !settings[key] && key != "GATE" && key != "VERSION" {
				t.Errorf("step %s sets %s, which the script does not have", s.Name, key)
			}
		}
	}
	for _, m := range regexp.MustCompile(`sh \[\[\.Script\]\] ([a-z]+)`).FindAllStringSubmatch(template, -1) {
		if !called[m[1]] {
			t.Errorf("ci init's workflow calls the script with %s, the action does not", m[1])
		}
		called[m[1]] = false
	}
	for command, only := range called {
		if only {
			t.Errorf("the action calls the script with %s, ci init's workflow does not", command)
		}
	}
	for name := range readAction(t).Inputs {
		if !used[name] {
			t.Errorf("no step uses the input %s", name)
		}
	}
}

// TestActionPage: docs/install.md has every input of the action with its default, and no other.
func TestActionPage(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(programtest.RepositoryFile(t, "docs/install.md"), "\n## GitHub Action\n")
	section, _, _ = strings.Cut(section, "\n## ")
	inputs, listed := readAction(t).Inputs, 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\| (.*?) ?\\| ").FindAllStringSubmatch(section, -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			in, known := inputs[strings.Trim(name, "`")]
			fallback := strings.Trim(strings.NewReplacer("${{ ", "", " }}", "").Replace(in.Default), " ")
			if listed++; !known || fallback != strings.Trim(row[2], "`") {
				t.Errorf("the page has %s with the default %s; the action: %v, %s", name, row[2], known, fallback)
			}
		}
	}
	valuetest.Equal(t, listed, len(inputs), "the page lists")
}
