package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// patience is how long a process that is asked for facts may take.
const patience = 5 * time.Second

// readGit reads the state of the code in dir. Dirty means that a tracked file differs from the commit; files that
// git does not know are not looked for, which takes long in a big tree and catches every result file.
func readGit(ctx context.Context, dir string, f *facts) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f.put("git.commit")(git(ctx, dir, "rev-parse", "--verify", "HEAD"))
	branch, err := git(ctx, dir, "symbolic-ref", "--short", "HEAD")
	f.put("git.branch")(NewMask(os.Environ()).Text(branch), err)
	changes, err := git(ctx, dir, "status", "--porcelain", "--untracked-files=no")
	f.put("git.dirty")(strconv.FormatBool(changes != ""), err)
}

// git asks git, without locking the repository and without being told by the environment which one.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	// A file system monitor would be started, and outlive this process. A folder of a clone may look like a bare repository, and
	// its configuration name programs.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"}, args...)...)
	cmd.Dir = dir
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	out, err := output(ctx, cmd)
	return strings.TrimSpace(string(out)), gitError(err)
}

// gitError tells from what git says to people which kind of error it is, for its exit code is always 128.
func gitError(err error) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fs.ErrNotExist
	case !errors.As(err, &exit):
		return err
	}
	says := string(exit.Stderr)
	for _, known := range []struct {
		words string
		err   error
	}{
		{"not a git repository", fs.ErrNotExist},
		{"Needed a single revision", fs.ErrNotExist}, // no commit yet
		{"not a symbolic ref", fs.ErrNotExist},       // on no branch
		{"dubious ownership", fs.ErrPermission},
		{"cannot use bare repository", fs.ErrPermission},
		{"Permission denied", fs.ErrPermission},
	} {
		if strings.Contains(says, known.words) {
			return known.err
		}
	}
	return err
}

// output runs cmd, which ctx stops, and gives what it writes. A process that not even a kill ends, as one that
// hangs in a driver or a network file system, is left behind.
func output(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	const grace = 200 * time.Millisecond
	cmd.WaitDelay = grace
	type result struct {
		out []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		out, err := cmd.Output()
		done <- result{out, err}
	}()
	finished := func(r result) ([]byte, error) {
		if r.err != nil && ctx.Err() != nil {
			return nil, fmt.Errorf("waiting for %s: %w", cmd.Args[0], ctx.Err())
		}
		return r.out, r.err
	}
	select {
	case r := <-done:
		return finished(r)
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return finished(r)
	case <-time.After(2 * grace):
		return nil, fmt.Errorf("waiting for %s: %w", cmd.Args[0], ctx.Err())
	}
}
