package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// What git refuses for reasons of the place and not of the question. The message around them names the folder.
var (
	errNoGit        = errors.New("git is not installed")
	errNoRepository = errors.New("not in a git repository")
	errBare         = errors.New("a bare repository has no working tree")
	errUntrusted    = errors.New("git does not trust this repository because it belongs to another user: see git config safe.directory")
	errNotStored    = errors.New("files of that commit in Git LFS are missing here, and nothing is downloaded: use git lfs fetch --all")
	errNotHere      = errors.New("this partial clone lacks files of that commit, and nothing is downloaded: check out the commit once")
)

// grace is how long an interrupted git may take to remove what it began.
const grace = 3 * time.Second

// refusal is git saying no.
type refusal struct {
	command string
	says    string // the first error of its messages
	code    int    // its exit status
}

// Error is the command and what git says.
func (r *refusal) Error() string { return "git " + r.command + ": " + r.says }

// call is how git is started.
type call struct {
	dir   string   // where it runs
	env   []string // on top of the environment
	stdin []byte
	held  *os.File // stays open, and its lock held, until git and all that it starts have ended; nil for none
}

// settings keep git from running what the user did not ask for: hooks, a monitor that would outlive this process, and what the
// configuration names in a folder of a clone that looks like a bare repository.
// The index keeps to one file, so that a copy of it is whole; what is written is soon thrown away and not worth
// packing; Git LFS has nowhere to download from.
var settings = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false",
	"-c", "core.looseCompression=0", "-c", "submodule.recurse=false", "-c", "lfs.url=file:///dev/null",
	"-c", "safe.bareRepository=explicit",
}

// run asks git and gives what it writes. It hears nothing of the repository that the environment names, speaks
// English, has no terminal to ask at, and may use no network, whatever the configuration allows.
func (c call) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append(settings[:len(settings):len(settings)], args...)...)
	cmd.Dir, cmd.Stdin = c.dir, bytes.NewReader(c.stdin)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "LC_ALL=C")
	cmd.Env = append(cmd.Env, c.env...)
	if c.held != nil {
		cmd.ExtraFiles = []*os.File{c.held}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("git %s: %w", args[0], ctx.Err())
	}
	return out.String(), c.explain(args[0], says.String(), err)
}

// LocalVariables returns the names of the environment variables that tell git which repository it works in, and how. A git hook has some of
// them; they must not reach a program that runs in a side, whose repository is another one.
func LocalVariables(ctx context.Context) ([]string, error) {
	says, err := call{}.run(ctx, "rev-parse", "--local-env-vars")
	return strings.Fields(says), err
}

// explain tells from what git says to people which kind of error it is: its exit status is nearly always 128.
func (c call) explain(command, says string, err error) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errNoGit
	case !errors.As(err, &exit):
		return fmt.Errorf("git %s in %q: %w", command, c.dir, err)
	}
	for _, known := range []struct {
		words string
		err   error
	}{
		{"not a git repository", errNoRepository},
		{"dubious ownership", errUntrusted},
		{"cannot use bare repository", errBare},
		{"smudge filter lfs failed", errNotStored},
		{"fatal: transport '", errNotHere}, // which is not allowed: it would have been downloaded
	} {
		if strings.Contains(says, known.words) {
			return known.err
		}
	}
	return &refusal{command, firstError(says), exit.ExitCode()}
}

// firstError is the first line in which git says what is wrong, else its last line.
func firstError(says string) string {
	lines := strings.Split(strings.TrimSpace(says), "\n")
	for _, line := range lines {
		for _, prefix := range []string{"error: ", "fatal: "} {
			if text, ok := strings.CutPrefix(line, prefix); ok {
				return strings.TrimSpace(text)
			}
		}
	}
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return "it says nothing"
}
