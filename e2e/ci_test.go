//go:build linux

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// parsedWorkflow is what is looked at of a workflow of GitHub.
type parsedWorkflow struct {
	Jobs map[string]struct {
		Steps []struct {
			Name, Run, If, Uses string
		}
	}
}

// costSweep measures what a program says that it costs, which no other work on the machine changes.
const costSweep = `benchmark: work
command: [sh, work.sh]
metrics: {cost: {regex: 'cost ([0-9]+)', better: lower}}
primary: cost
warmup: 0
iterations: 1
`

// ci is a repository for which a CI system was set up.
type ci struct {
	dir, state, bin string
	env             []string
}

// newCI makes a repository whose program costs 1000, with what ci init writes.
func newCI(t *testing.T, args ...string) *ci {
	t.Helper()
	for _, tool := range []string{"sh", "jq"} {
		_, err := exec.LookPath(tool)
		programtest.Needs(t, tool, err)
	}
	c := &ci{dir: t.TempDir(), state: t.TempDir(), bin: t.TempDir()}
	programtest.WriteFile(t, c.dir, "sweep.yaml", costSweep)
	programtest.WriteFile(t, c.dir, "work.sh", "echo cost $(cat price)\n")
	programtest.WriteFile(t, c.dir, "price", "1000\n")
	programtest.Git(t, c.dir, "init", "-q", "-b", "main", "--template=")
	programtest.Program(t, c.dir, append([]string{"ci", "init"}, args...)...).MustRun(t)
	programtest.Commit(t, c.dir)
	programtest.Link(t, c.bin)
	c.env = append(programtest.Environ(t), "PATH="+c.bin+":"+os.Getenv("PATH"), "NEUROLENS_MACHINE=lab3", "XDG_CACHE_HOME="+t.TempDir(), "STATE="+c.state,
		"GITHUB_ACTIONS=", "GITHUB_REPOSITORY=", "GITHUB_RUN_ID=", "GITHUB_STEP_SUMMARY=", "CI_API_V4_URL=", "CI_JOB_NAME=", "CI_JOB_URL=", "LABEL=")
	return c
}

// program puts a program on the PATH, in place of the one of that name.
func (c *ci) program(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(c.bin, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	valuetest.OK(t, os.WriteFile(path, []byte(text), 0o755))
}

// costs commits another price.
func (c *ci) costs(t *testing.T, price string) {
	t.Helper()
	programtest.WriteFile(t, c.dir, "price", price+"\n")
	programtest.Commit(t, c.dir)
}

// call runs the script and gives its status and output.
func (c *ci) call(t *testing.T, command string, env ...string) (code int, output string) {
	t.Helper()
	return c.sh(t, "sh ci/neurolens.sh "+command, env...)
}

func (c *ci) sh(t *testing.T, command string, env ...string) (code int, output string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", command)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.dir, append(slices.Clone(c.env), env...), &syscall.SysProcAttr{Setpgid: true}
	text, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return code, string(text)
}

// ends calls the script for one step, and checks its status and what it prints.
func (c *ci) ends(t *testing.T, what string, code int, says, step string, env ...string) {
	t.Helper()
	if ended, output := c.call(t, step, env...); ended != code || !strings.Contains(output, says) {
		t.Errorf("%s: it ends with %d, want %d and %q:\n%s", what, ended, code, says, output)
	}
}

func (c *ci) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(c.dir, name))
	return string(text)
}

// TestCIScript: a change that makes the program 20 % slower ends with 1, one that does not touch it with 0; a first commit is
// measured alone. Inconclusive points are a warning, with STRICT=1 an error. The script leaves nothing in the repository.
func TestCIScript(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	c := newCI(t, "plain")
	c.ends(t, "a first commit", 0, "there is no commit to compare with: only the sweep is measured", "run")
	programtest.WriteFile(t, c.dir, "notes.txt", "nothing\n")
	programtest.Commit(t, c.dir)
	if code, output := c.call(t, "run"); code != 0 || !strings.Contains(output, "**No regression in 1 point**") || strings.Contains(output, "is ready") {
		t.Errorf("the same program ends with %d:\n%s", code, output)
	}
	c.costs(t, "1200")
	c.ends(t, "a program that is 20 % slower", 1, "**1 regression in 1 point**", "run", "BASE=0000000000000000000000000000000000000000")
	if !strings.HasPrefix(c.file("neurolens-out/comment.md"), "### Benchmarks: `sweep.yaml, ") || !strings.Contains(c.file("neurolens-out/comment.md"), "\n\n**1 regression in 1 point**\n") || strings.TrimSpace(c.file("neurolens-out/status")) != "1" {
		t.Errorf("the comment is %s, the status %s", c.file("neurolens-out/comment.md"), c.file("neurolens-out/status"))
	}
	valuetest.Equal(t, programtest.Git(t, c.dir, "status", "--porcelain"), "", "it leaves")
	if code, output := c.call(t, "run", "FLAGS=--treshold 5%"); code != 2 || !strings.Contains(output, "there is no flag --treshold") || strings.Contains(output, "blocks") {
		t.Errorf("a mistake in FLAGS is found after measuring, or ends with %d:\n%s", code, output)
	}
	if code, output := c.sh(t, "cd ci && sh neurolens.sh run"); code != 2 || !strings.Contains(output, "call from the root of the repository: sh ci/neurolens.sh run") {
		t.Errorf("a call from another folder ends with %d:\n%s", code, output)
	}
	valuetest.Fails(t, valuetest.Error(os.Stat(filepath.Join(c.dir, "neurolens-out", "empty"))), "", "the check of FLAGS leaves a store")
	c.ends(t, "an unknown word", 2, "want base, run, comment, issue or key, got measure", "measure")
	c.ends(t, "with a threshold above it", 0, "", "run", "FLAGS=--threshold 25%")
	programtest.WriteFile(t, c.dir, "sweep.yaml", costSweep+"repeats: 3\n")
	programtest.Commit(t, c.dir)
	if code, output := c.call(t, "run"); code != 0 || !strings.Contains(output, "warning: Nothing was decided; 1 of 1 point inconclusive; at least") || !strings.Contains(c.file("neurolens-out/comment.md"), "`--metric cpu_user`") {
		t.Errorf("too few repeats end with %d:\n%s", code, output)
	}
	c.ends(t, "too few repeats, with STRICT=1", 3, "", "run", "STRICT=1")
	if code, output := c.call(t, "run", "SWEEP=none.yaml"); code != 2 || !strings.Contains(c.file("neurolens-out/comment.md"), "status 2") {
		t.Errorf("a sweep that is not there ends with %d:\n%s", code, output)
	}
	c.ends(t, "an axis that the sweep does not have", 2, "precision", "run", "PRECISION=fp16")
	c.costs(t, "nothing")
	c.costs(t, "1200")
	c.ends(t, "a base that fails", 3, "**Nothing was compared: no point is ok on the base**", "run")
}

// TestCIPosts: a pull request has one comment, which is edited; a regression on main opens one issue, which the next one updates,
// and which is closed when the program is as fast as before it: not as long as it only stays slow.
func TestCIPosts(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	c := newCI(t, "github")
	f := gitHub(t, c, "github-actions[bot]")
	good := programtest.Git(t, c.dir, "rev-parse", "HEAD")
	c.costs(t, "1200")
	if code, output := c.call(t, "run"); code != 1 {
		t.Fatalf("it ends with %d:\n%s", code, output)
	}
	for range 2 {
		c.ends(t, "posting", 0, "", "comment", gitHubToken...)
	}
	if texts := f.mine(f.comments); len(texts) != 1 || !strings.Contains(texts[0], "\n\n**1 regression in 1 point**\n") {
		t.Errorf("the comments are %q", texts)
	}
	for i, step := range []struct {
		price      string
		code, open int
	}{
		{"1200", 1, 1}, // the push that made it slower
		{"1210", 1, 1},
		{"1210", 1, 1}, // it stays slow: nothing changed since the commit before
		{"1000", 0, 0},
		{"1001", 0, 0},
	} {
		if current := strings.TrimSpace(c.file("price")); current != step.price {
			c.costs(t, step.price)
		}
		looked, before := c.call(t, "base", gitHubToken...)
		code, output := c.call(t, "run", "SAVE=1", "HISTORY=none")
		if posted, says := c.call(t, "issue", gitHubToken...); looked != 0 || code != step.code || posted != 0 {
			t.Errorf("%s: it ends with %d, %d and %d:\n%s%s%s", step.price, looked, code, posted, before, output, says)
		}
		texts := f.mine(f.issues)
		valuetest.Equal(t, len(texts), step.open, "push", i, step.price, texts)
		valuetest.Equal(t, len(f.issues), 1, "push", i, step.price, texts)
		if len(texts) == 1 && !strings.Contains(texts[0], " -->\n\n<!-- good "+good+" -->\nSlower than "+good) {
			t.Errorf("%s: the issue is %s", step.price, texts[0])
		}
	}
}

// TestCIHistory: runs of pushes are kept in a branch, which several machines push to, or in a folder; those of pull requests are not.
func TestCIHistory(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	c := newCI(t, "plain", "--history", "branch")
	origin := filepath.Join(t.TempDir(), "origin.git")
	programtest.Git(t, c.dir, "clone", "-q", "--bare", ".", origin)
	programtest.Git(t, c.dir, "remote", "add", "origin", origin)
	c.costs(t, "1010")
	runs := func(store string) string {
		_, text := c.sh(t, `neurolens --store "`+store+`" query --format csv 'SELECT count(*), count(DISTINCT session_id) FROM runs'`)
		return strings.TrimSpace(text[strings.LastIndex(strings.TrimSpace(text), "\n")+1:])
	}
	if code, output := c.call(t, "run"); code != 0 || programtest.Git(t, c.dir, "ls-remote", "origin", "neurolens-history") != "" {
		t.Fatalf("a pull request ends with %d and is kept:\n%s", code, output)
	}
	for i, want := range []string{"12,1", "24,2"} { // without the runs of the pull request
		if code, output := c.call(t, "run", "SAVE=1"); code != 0 {
			t.Fatalf("push %d ends with %d:\n%s", i, code, output)
		}
		there := filepath.Join(t.TempDir(), "there")
		programtest.Git(t, c.dir, "clone", "-q", "--branch", "neurolens-history", origin, there)
		valuetest.Equal(t, runs(there), want, "push", i, "the branch")
		valuetest.Equal(t, programtest.Git(t, there, "rev-list", "--count", "HEAD"), "1", "the branch")
	}
	other := *c // whose clone has the first commit alone, which is measured by itself
	other.dir = filepath.Join(t.TempDir(), "other")
	programtest.Git(t, c.dir, "clone", "-q", origin, other.dir)
	if code, output := other.call(t, "run", "SAVE=1"); code != 0 {
		t.Fatalf("another machine ends with %d:\n%s", code, output)
	}
	there := filepath.Join(t.TempDir(), "there")
	programtest.Git(t, c.dir, "clone", "-q", "--branch", "neurolens-history", origin, there)
	valuetest.Equal(t, runs(there), "34,3", "with another machine's the branch")
	share := filepath.Join(t.TempDir(), "share")
	if code, output := other.call(t, "run", "SAVE=1", "HISTORY="+share); code != 0 || !strings.HasSuffix(runs(share), ",1") {
		t.Errorf("a folder ends with %d and has %s:\n%s", code, runs(share), output)
	}
	other.ends(t, "a folder that cannot be made", 0, "the runs were not added to the history", "run", "SAVE=1", "HISTORY=/proc/no/folder")
}

// TestCIPlainAlone: the script needs no network but for the clone: in a network and a file system of its own, with a home that is
// empty, it measures a clone.
func TestCIPlainAlone(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	programtest.Needs(t, "unshare", exec.Command("unshare", "-n", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt").Run())
	c := newCI(t, "plain")
	c.costs(t, "1200")
	origin := filepath.Join(t.TempDir(), "origin.git")
	programtest.Git(t, c.dir, "clone", "-q", "--bare", ".", origin)
	clone := filepath.Join(t.TempDir(), "clone")
	programtest.Git(t, c.dir, "clone", "-q", origin, clone)
	programtest.Git(t, clone, "remote", "remove", "origin")
	alone := *c
	alone.dir = clone
	code, output := alone.sh(t, `unshare -n -m sh -c 'mount -t tmpfs tmpfs /mnt && mkdir /mnt/home && HOME=/mnt/home XDG_CACHE_HOME=/mnt/home/.cache exec sh ci/neurolens.sh run'`)
	valuetest.Equal(t, code, 1, "it ends with")
	valuetest.Contains(t, output, "**1 regression in 1 point**", "it ends with")
}

// TestCIIssueOfPushes: on GitLab a push to main alone touches the issue: a manual pipeline on main compares with the previous commit, so
// its result says nothing about the issue.
func TestCIIssueOfPushes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.Git(t, dir, "init", "-q", "--template=")
	programtest.Program(t, dir, "ci", "init", "gitlab").MustRun(t)
	c := &ci{dir: dir, env: os.Environ()}
	var file struct {
		Neurolens struct {
			After []string `yaml:"after_script"`
		}
	}
	valuetest.OK(t, yaml.Unmarshal([]byte(c.file(".gitlab-ci.yml")), &file))
	line := ""
	for _, command := range file.Neurolens.After {
		if strings.HasSuffix(command, "neurolens.sh issue") {
			line = command
		}
	}
	programtest.WriteFile(t, dir, "ci/neurolens.sh", "echo called $1\n")
	for pipeline, want := range map[string]string{
		"CI_PIPELINE_SOURCE=push CI_COMMIT_BRANCH=main": "called issue\n", "CI_PIPELINE_SOURCE=web CI_COMMIT_BRANCH=main": "",
		"CI_PIPELINE_SOURCE=push CI_COMMIT_BRANCH=develop": "", "CI_PIPELINE_SOURCE=merge_request_event CI_COMMIT_BRANCH=": "",
	} {
		if code, output := c.sh(t, line, strings.Fields(pipeline)...); line == "" || code != 0 || output != want {
			t.Errorf("%s: %q ends with %d: %q, want %q", pipeline, line, code, output, want)
		}
	}
}

// TestCIWorkflows: each system's file calls the script that stands beside it, for every place of the history, and is what its
// system reads; what goes into a command goes through its environment, as a text could be a command itself.
func TestCIWorkflows(t *testing.T) {
	t.Parallel()
	const script = "sh ci/neurolens.sh "
	for _, history := range []string{"cache", "artifact", "branch", "none", "/mnt/share", "s3://bench/team"} {
		for _, system := range []string{"github", "gitlab", "jenkins"} {
			dir := t.TempDir()
			programtest.Git(t, dir, "init", "-q", "--template=")
			programtest.Program(t, dir, "ci", "init", system, "--history", history, "--sweep", "bench/ops.yaml").MustRun(t)
			c := &ci{dir: dir}
			if text := c.file("ci/neurolens.sh"); !strings.Contains(text, "SWEEP=${SWEEP:-bench/ops.yaml}") || !strings.Contains(text, "HISTORY=${HISTORY:-"+history+"}") {
				t.Errorf("%s, %s: the script is %s", system, history, text)
			}
			text := c.file(map[string]string{"github": ".github/workflows/neurolens.yml", "gitlab": ".gitlab-ci.yml", "jenkins": "Jenkinsfile"}[system])
			wanted := []string{script + "run", "go install github.com/neurolens/neurolens/cmd/neurolens@latest", "30"}
			if system != "jenkins" {
				wanted = append(wanted, script+"comment", script+"issue")
			}
			for _, want := range wanted {
				valuetest.Contains(t, text, want, system, history, "has no")
			}
			for _, word := range []string{"ITERATIONS", "PRECISION", "BACKEND", "SAVE"} {
				valuetest.Contains(t, text, word, system, history, "says nothing of")
			}
			switch system {
			case "jenkins":
				checkJenkinsfile(t, history, text)
			default:
				checkYAML(t, system+", "+history, text)
			}
			if pushes := strings.Contains(text, "/store\" store push s3://bench/team") || strings.Contains(text, "/store store push s3://bench/team"); pushes != (history == "s3://bench/team") {
				t.Errorf("%s, %s: the file pushes to the bucket: %v", system, history, pushes)
			}
			if strings.Contains(text, "[[") || strings.Contains(c.file("ci/neurolens.sh"), "[[") {
				t.Errorf("%s, %s: something was not filled in", system, history)
			}
		}
	}
}

// checkYAML asks whether a text is YAML, and of a workflow of GitHub whether its commands have no expressions.
func checkYAML(t *testing.T, what, text string) {
	t.Helper()
	var any map[string]any
	if err := yaml.Unmarshal([]byte(text), &any); err != nil || len(any) == 0 {
		t.Errorf("%s is no YAML: %v\n%s", what, err, text)
	}
	var w parsedWorkflow
	valuetest.NoError(t, yaml.Unmarshal([]byte(text), &w), what)
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if strings.Contains(step.Run, "${{") {
				t.Errorf("%s: step %q has an expression in its command: %s", what, step.Name, step.Run)
			}
		}
	}
	if strings.HasPrefix(what, "github") && len(w.Jobs["bench"].Steps) < 7 {
		t.Errorf("%s has the steps %+v", what, w.Jobs["bench"].Steps)
	}
}

// checkJenkinsfile asks whether brackets and quotes of a Jenkinsfile are closed, and its parts are there.
func checkJenkinsfile(t *testing.T, history, text string) {
	t.Helper()
	var open []byte
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		for i := range len(line) {
			switch b := line[i]; b {
			case '{', '(':
				open = append(open, b)
			case '}', ')':
				want := map[byte]byte{'}': '{', ')': '('}[b]
				if strings.Contains(line, ";;") || strings.HasSuffix(strings.TrimSpace(line), "develop)") {
					continue // of a case in the shell
				}
				if len(open) == 0 || open[len(open)-1] != want {
					t.Fatalf("%s: %q closes nothing in %s", history, b, line)
				}
				open = open[:len(open)-1]
			}
		}
	}
	valuetest.DeepEqual(t, []any{len(open), strings.Count(text, "'''") % 2}, []any{0, 0}, history, open, "and ''' are not closed")
	for _, part := range []string{"pipeline {", "agent none", "parameters {", "matrix {", "axes {", "archiveArtifacts", "artifactDaysToKeepStr: '30'"} {
		valuetest.Contains(t, text, part, history, "there is no")
	}
}

// TestCILint: the linters of workflows and of the shell find nothing.
func TestCILint(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	for _, tool := range []string{"actionlint", "shellcheck"} {
		t.Run(tool, func(t *testing.T) {
			path := linter(t, tool)
			for _, history := range []string{"cache", "artifact", "branch", "none", "/mnt/share"} {
				dir := t.TempDir()
				programtest.Git(t, dir, "init", "-q", "--template=")
				programtest.Program(t, dir, "ci", "init", "github", "--history", history).MustRun(t)
				args := []string{".github/workflows/neurolens.yml"}
				if tool == "shellcheck" {
					args = []string{"-s", "sh", "ci/neurolens.sh"}
				}
				cmd := exec.Command(path, args...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", history, err, out)
				}
			}
		})
	}
}

// linter returns where a linter is: on the PATH, or where go install puts it.
func linter(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if gopath, noGo := exec.Command("go", "env", "GOPATH").Output(); err != nil && noGo == nil {
		path, err = exec.LookPath(filepath.Join(strings.TrimSpace(string(gopath)), "bin", tool))
	}
	programtest.Needs(t, tool, err)
	return path
}

// TestCINothingMeasured: where no run was measured successfully, on either side, CI fails. A base commit that does not exist ends with 2.
func TestCINothingMeasured(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	c := newCI(t, "plain")
	programtest.WriteFile(t, c.dir, "work.sh", "exit 3\n")
	programtest.Commit(t, c.dir)
	c.costs(t, "1200")
	c.ends(t, "nothing measured", 4, "no run was measured successfully", "run")
	c.ends(t, "with a commit that is not there", 2, "BASE=mian is not a commit of this clone: fetch it", "run", "BASE=mian")
}
