//go:build linux

package main

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// workflow is what is looked at of fixtures/ci/compare.yml.
type workflow struct {
	Jobs map[string]struct {
		Env   map[string]string
		Steps []struct {
			Name, Run, If string
			Env           map[string]string
		}
	}
}

// steps runs the steps of a job as a runner of workflows does, each by its name with variables in place of the
// expressions that they have there.
type steps struct {
	dir, out string
	env      []string
	run      map[string]string
}

// commentsOnly stands for gh: it lists the ids in $COMMENTS as those of our comments, and notes the other calls.
const commentsOnly = `#!/bin/sh
case "$*" in
*--jq*) printf "$COMMENTS" ;;
*) echo "$@" >>"$CALLS" ;;
esac
`

// newSteps reads the workflow for a repository in dir. Commands get no text but through their environment: what is put
// into a text could be a command itself.
func newSteps(t *testing.T, dir string) steps {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixtures(t), "ci", "compare.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, job := t.TempDir(), w.Jobs["compare"]
	if err := os.Symlink(self, filepath.Join(out, "neurolens")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "gh"), []byte(commentsOnly), 0o755); err != nil {
		t.Fatal(err)
	}
	s := steps{dir: dir, out: out, run: map[string]string{}, env: append(programEnviron(t),
		"PATH="+out+":"+os.Getenv("PATH"), "NEUROLENS_MACHINE=lab3", "XDG_CACHE_HOME="+t.TempDir(),
		"GITHUB_OUTPUT="+filepath.Join(out, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(out, "summary"), "CALLS="+filepath.Join(out, "calls"), "GITHUB_REPOSITORY=us/work")}
	for name, value := range job.Env {
		s.env = append(s.env, name+"="+value)
	}
	for _, step := range job.Steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("step %q has an expression in its command: %s", step.Name, step.Run)
		}
		s.run[step.Name] = step.Run
	}
	return s
}

// step runs one and gives its exit status and output.
func (s steps) step(t *testing.T, name string, env ...string) (code int, output string) {
	t.Helper()
	if s.run[name] == "" {
		t.Fatalf("the workflow has no step %q that runs something", name)
	}
	cmd := exec.Command("bash", "-e", "-c", s.run[name])
	cmd.Dir, cmd.Env = s.dir, append(s.env, env...)
	text, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return code, string(text)
}

func (s steps) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.out, name))
	return string(text)
}

// TestWorkflow runs the commands of the workflow on a pull request: one that does far more work is a regression,
// as is one that does none of it any more; one that changes something else is none, and passes though it be not settled; a
// base that is not there is an error without a comment. The amount of work, the number of runs and the threshold leave room for a busy machine.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("bash")
	needs(t, "bash", err)
	for name, c := range map[string]struct {
		base      string
		change    func(t *testing.T, dir string)
		codes     string
		says      string
		threshold string // empty: 50%
	}{
		"far more work":  {"main", func(t *testing.T, dir string) { write(t, dir, "rounds", "20000\n") }, "1", "gate: 1 regression", ""},
		"something else": {"main", func(t *testing.T, dir string) { write(t, dir, "notes.txt", "nothing\n") }, "0", "gate: no regression", "10000%"}, // no other work on the machine makes as much of it
		"it fails":       {"main", func(t *testing.T, dir string) { git(t, dir, "rm", "-q", "rounds") }, "1", "no longer measured", ""},
		"no such base":   {"origin/gone", func(t *testing.T, dir string) { write(t, dir, "notes.txt", "nothing\n") }, "2", "", ""},
	} {
		if name == "something else" && !long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "fixtures", "ci"), os.DirFS(filepath.Join(fixtures(t), "ci"))); err != nil {
				t.Fatal(err)
			}
			write(t, dir, "sweep.yaml", "suite: work\nbenchmark: work\ncommand: [sh, work.sh]\nwarmup: 1\niterations: 3\n")
			write(t, dir, "work.sh", "n=$(cat rounds) || exit 1; i=0; while [ $i -lt $n ]; do i=$((i+1)); done\n")
			write(t, dir, "rounds", "400\n")
			write(t, dir, ".gitignore", "runs_store/\ncomment.md\nmarked.md\n")
			repository(t, dir)
			git(t, dir, "checkout", "-q", "-b", "change")
			c.change(t, dir)
			commit(t, dir)
			s := newSteps(t, dir)
			if code, output := s.step(t, "gate", "BASE="+c.base, "FLAGS=--threshold "+cmp.Or(c.threshold, "50%")); code != 0 {
				t.Fatalf("the step ended with %d:\n%s", code, output)
			}
			status, found := strings.CutPrefix(strings.TrimSpace(s.file("output")), "status=")
			if !found || !strings.Contains(" "+c.codes+" ", " "+status+" ") {
				t.Errorf("status %q, want one of %s\n%s", status, c.codes, s.file("summary"))
			}
			if !strings.Contains(s.file("summary"), c.says) || (c.says == "") != (s.file("summary") == "") {
				t.Errorf("the comment does not say %q:\n%s", c.says, s.file("summary"))
			}
			s.step(t, "comment", "NUMBER=7", "COMMENTS=")
			s.step(t, "comment", "NUMBER=7", "COMMENTS=1234\\n5678\\n")
			want := "pr comment 7 --body-file marked.md\napi --silent --method PATCH repos/us/work/issues/comments/1234 -F body=@marked.md\n"
			if got := s.file("calls"); c.says == "" && got != "" || c.says != "" && got != want {
				t.Errorf("gh was called: %q", got)
			}
			marked, _ := os.ReadFile(filepath.Join(dir, "marked.md"))
			if want := "<!-- neurolens sweep.yaml -->\n\n**gate: "; c.says != "" && !strings.HasPrefix(string(marked), want) {
				t.Errorf("the comment begins with %.60q, want %q", marked, want)
			}
			if code, _ := s.step(t, "verdict", "STATUS="+status); strings.TrimSpace(status) != string(rune('0'+code)) {
				t.Errorf("the check ends with %d, the gate with %s", code, status)
			}
		})
	}
}
