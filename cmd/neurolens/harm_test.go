//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// modular returns a repository whose work is in the submodule lib, which has a submodule of its own; they are three commits, of which c2
// takes more memory. Its build does to its repository what builds do.
func modular(t *testing.T) (dir string) {
	t.Helper()
	home := t.TempDir()
	dir = filepath.Join(home, "app")
	for _, name := range []string{"deep", "lib", "app"} {
		valuetest.OK(t, os.Mkdir(filepath.Join(home, name), 0o777))
	}
	allowed := []string{"-c", "protocol.file.allow=always", "submodule", "--quiet"}
	programtest.WriteFile(t, home, "deep/size", "80M\n")
	programtest.Repository(t, filepath.Join(home, "deep"))
	programtest.WriteFile(t, home, "lib/lib.sh", "exec dd if=/dev/zero of=/dev/null bs=$(cat lib/deep/size) count=1 status=none\n")
	programtest.Repository(t, filepath.Join(home, "lib"))
	programtest.Git(t, filepath.Join(home, "lib"), append(allowed, "add", filepath.Join(home, "deep"), "deep")...)
	programtest.Commit(t, filepath.Join(home, "lib"))

	programtest.WriteFile(t, dir, "run.sh", ". lib/lib.sh\n")
	programtest.WriteFile(t, dir, "build.sh", `git submodule --quiet update --init --recursive
git config user.name build
git worktree add -q --detach "$PWD-tree"
echo >new
git stash -q -u
git gc -q --prune=now
git clean -ffdxq
git worktree remove "$PWD-tree"
`)
	programtest.WriteFile(t, dir, "sweep.yaml", "suite: modular\nbuild: [[sh, -e, build.sh]]\ncommand: [sh, run.sh]\nwarmup: 0\niterations: 1\n")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	programtest.Repository(t, dir)
	programtest.Git(t, dir, append(allowed, "add", filepath.Join(home, "lib"), "lib")...)
	programtest.Git(t, dir, append(allowed, "update", "--init", "--recursive")...)
	programtest.Commit(t, dir)
	programtest.Git(t, dir, "tag", "c0")
	for tag, change := range []string{1: "note", 2: "lib/deep/size", 3: "note"} {
		if change == "" {
			continue
		}
		programtest.WriteFile(t, dir, change, map[bool]string{true: "120M\n", false: fmt.Sprintln(tag)}[tag == 2])
		for in := filepath.Dir(change); ; in = filepath.Dir(in) {
			programtest.Commit(t, filepath.Join(dir, in))
			if in == "." {
				break
			}
		}
		programtest.Git(t, dir, "tag", fmt.Sprint("c", tag))
	}
	programtest.WriteFile(t, dir, "note", "not committed\n")
	return dir
}

// everything returns each file of a folder with the hash of its content, but for the store, and what git says of the repository there.
func everything(t *testing.T, dir string) []string {
	t.Helper()
	all := []string{programtest.Git(t, dir, "--no-optional-locks", "status", "--porcelain=2"), programtest.Git(t, dir, "fsck", "--no-progress"), programtest.Git(t, dir, "worktree", "list")}
	valuetest.OK(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "runs_store" {
			return fs.SkipDir
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		all = append(all, fmt.Sprintf("%s %x", path, sha256.Sum256(content)))
		return err
	}))
	return all
}

// checkUnharmed compares a repository with what everything gave before.
func checkUnharmed(t *testing.T, dir string, before []string) {
	t.Helper()
	after := everything(t, dir)
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("lost: %s", line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("new: %s", line)
		}
	}
}

// TestUnharmed: a build that uses submodules, worktrees, the stash, gc and the configuration reaches nothing of the user's repository. Neither
// does a session that is killed at any moment. The next session removes the trees that the killed one left in the cache.
func TestUnharmed(t *testing.T) {
	t.Parallel()
	dir, cache := modular(t), t.TempDir()
	before := everything(t, dir)
	start := func(args ...string) *programtest.Process {
		p := programtest.Program(t, dir, args...)
		p.Env = append(p.Env, "XDG_CACHE_HOME="+cache, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		return p
	}
	bench := []string{"bench", "sweep.yaml", "--against", "c0", "--repeats", "1", "--metric", "peak_memory"}
	start(bench...).MustRun(t)
	valuetest.Equal(t, rows(t, dir, "SELECT side, status FROM runs ORDER BY ALL"), "[base ok] [head ok]", "sides")
	checkUnharmed(t, dir, before)
	checkNoSides(t, dir, cache)

	bisect := []string{"bisect", "c0", "c3", "sweep.yaml", "--metric", "peak_memory", "--json"}
	rounds := 2
	if programtest.Long() {
		rounds = 12
		found := start(bisect...)
		found.MustRun(t)
		if want := programtest.Git(t, dir, "rev-parse", "c2"); !strings.Contains(found.Printed.String(), want) || strings.Contains(found.Messages.String(), "skipped") {
			t.Errorf("want %s, got\n%s%s", want, found.Printed.String(), found.Messages.String())
		}
		checkUnharmed(t, dir, before)
		checkNoSides(t, dir, cache)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range rounds {
		args, signal := bench, syscall.SIGHUP
		if round/2%2 == 1 {
			args = append(bisect[:len(bisect):len(bisect)], "--log", filepath.Join(cache, fmt.Sprint(round, ".log")))
		}
		if round%2 == 1 {
			signal = syscall.SIGKILL
		}
		p := start(args...)
		valuetest.OK(t, p.Start())
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		_ = p.Process.Signal(signal)
		_ = p.Wait()
		if signal == syscall.SIGHUP {
			checkNoSides(t, dir, cache)
		}
		removeSides(t, cache)
		checkUnharmed(t, dir, before)
		if t.Failed() {
			t.Fatalf("round %d: %v, %s\n%s", round, args, signal, p.Messages.String())
		}
	}
}

// removeSides removes what killed sessions have left, once all their processes have ended.
func removeSides(t *testing.T, cache string) {
	t.Helper()
	root := filepath.Join(cache, "neurolens", "worktrees")
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		_, err := worktree.Clean(t.Context(), root)
		left, _ := filepath.Glob(filepath.Join(root, "*", "*"))
		if err == nil && len(left) == 0 {
			return
		}
	}
	t.Error("sides are left")
}

// TestHook: in a hook of git, what runs in a side gets none of the variables that tie git to the user's repository. Without sides it runs
// in the user's working tree, and gets them as any command of the hook does.
func TestHook(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	seen := filepath.Join(t.TempDir(), "seen")
	programtest.WriteFile(t, dir, "look.sh", `for name in $(git rev-parse --local-env-vars); do
	if printenv $name >/dev/null; then echo "$1 $name" >>"$SEEN"; fi
done
echo "$1" >>"$SEEN"
`)
	programtest.WriteFile(t, dir, "build.sh", "sh look.sh build\necho built >gen.txt\ngit add gen.txt\n")
	programtest.WriteFile(t, dir, "sweep.yaml", `build: [[sh, build.sh]]
setup: sh look.sh setup
prepare: sh look.sh prepare
command: [sh, look.sh, command]
cleanup: sh look.sh cleanup
warmup: 0
iterations: 1
repeats: 1
`)
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	programtest.Repository(t, dir)
	valuetest.OK(t, os.Mkdir(filepath.Join(dir, ".git/hooks"), 0o777))
	for _, c := range []struct {
		flags string
		tied  bool
	}{{"--against HEAD --wait", false}, {"--wait", true}} {
		programtest.WriteFile(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\nexec \"$PROGRAM\" bench sweep.yaml "+c.flags+" >&2\n")
		valuetest.OK(t, os.Chmod(filepath.Join(dir, ".git/hooks/pre-commit"), 0o777))
		valuetest.OK(t, os.RemoveAll(seen))
		programtest.WriteFile(t, dir, "other", c.flags)
		p := programtest.Program(t, dir)
		hooked := exec.Command("git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "x", "other")
		hooked.Dir, hooked.Env = dir, append(p.Env, "PROGRAM="+p.Path, "SEEN="+seen, "XDG_CACHE_HOME="+cache, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c")
		programtest.Git(t, dir, "add", "other")
		if out, err := hooked.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.flags, err, out)
		}
		content := valuetest.Must(os.ReadFile(seen))
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		slices.Sort(lines)
		lines = slices.Compact(lines)
		const all = "build cleanup command prepare setup"
		switch got := strings.Join(lines, " "); {
		case c.tied && !slices.Contains(lines, "build GIT_INDEX_FILE"):
			t.Errorf("%s: the index is not known: %s", c.flags, got)
		case !c.tied && got != all:
			t.Errorf("%s: seen %s, want %s", c.flags, got, all)
		}
		if !c.tied {
			valuetest.Equal(t, programtest.Git(t, dir, "show", "--format=", "--name-only", "HEAD"), "other", "the commit")
			valuetest.Equal(t, programtest.Git(t, dir, "status", "--porcelain"), "", "status")
			checkNoSides(t, dir, cache)
		}
	}
}

// TestWorkingFolder: what runs in a side, or in a folder that the sweep names, has that folder in PWD, and not the user's working tree.
func TestWorkingFolder(t *testing.T) {
	t.Parallel()
	dir, cache, seen := t.TempDir(), t.TempDir(), t.TempDir()
	var sweep strings.Builder
	for _, key := range []string{"build", "setup", "prepare", "command", "cleanup"} {
		fmt.Fprintf(&sweep, "%s: [cp, /proc/self/environ, %q]\n", key, filepath.Join(seen, key))
	}
	programtest.WriteFile(t, dir, "sweep.yaml", sweep.String()+"cwd: sub\nwarmup: 0\niterations: 1\nrepeats: 1\n")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	valuetest.OK(t, os.Mkdir(filepath.Join(dir, "sub"), 0o777))
	programtest.WriteFile(t, dir, "sub/file", "")
	programtest.Repository(t, dir)
	for flags, want := range map[string]string{"--against HEAD": cache, "--repeats 1": dir} {
		p := programtest.Program(t, dir, append([]string{"bench", "sweep.yaml"}, strings.Fields(flags)...)...)
		p.Env = append(p.Env, "XDG_CACHE_HOME="+cache, "PWD="+dir)
		p.MustRun(t)
		for _, key := range []string{"build", "setup", "prepare", "command", "cleanup"} {
			environ := valuetest.Must(os.ReadFile(filepath.Join(seen, key)))
			variables := strings.Split(string(environ), "\x00")
			at := slices.IndexFunc(variables, func(v string) bool { return strings.HasPrefix(v, "PWD=") })
			if at < 0 || !strings.HasPrefix(variables[at], "PWD="+want+"/") || filepath.Base(variables[at]) != "sub" {
				t.Errorf("%s: %s: want a folder sub in %s, got %v", flags, key, want, variables[max(at, 0)])
			}
		}
	}
}

// TestHangup: a terminal that closes ends a session as SIGTERM does, however often it says so. With nohup it goes on.
func TestHangup(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP is ignored where these tests run, as nohup does")
	}
	dir, cache := t.TempDir(), t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "command: [/bin/sh, wait.sh]\nwarmup: 0\niterations: 1\nrepeats: 2\n")
	programtest.WriteFile(t, dir, "wait.sh", "echo >\"$CACHE/started\"\nwhile [ -e \"$CACHE/wait\" ]; do sleep 0.02; done\n")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	programtest.Repository(t, dir)
	for _, nohup := range []bool{false, true} {
		programtest.WriteFile(t, cache, "wait", "")
		p := programtest.Program(t, dir, "bench", "sweep.yaml", "--against", "HEAD")
		p.Env = append(p.Env, "XDG_CACHE_HOME="+cache, "CACHE="+cache)
		if nohup {
			p.Args = append([]string{"sh", "-c", `trap '' HUP; exec "$0" "$@"`, p.Path}, p.Args[1:]...)
			p.Path = "/bin/sh"
		}
		valuetest.OK(t, p.Start())
		for _, err := os.Stat(filepath.Join(cache, "started")); err != nil; _, err = os.Stat(filepath.Join(cache, "started")) {
			time.Sleep(5 * time.Millisecond)
		}
		for range 3 {
			_ = p.Process.Signal(syscall.SIGHUP)
			time.Sleep(10 * time.Millisecond)
		}
		want := 129
		if nohup {
			want = 0
			for _, name := range []string{"wait", "started"} {
				valuetest.OK(t, os.Remove(filepath.Join(cache, name)))
			}
		}
		_ = p.Wait()
		valuetest.Equal(t, p.ProcessState.ExitCode(), want, "nohup", nohup, "exit", p.Messages.String())
		checkNoSides(t, dir, cache)
		_ = os.Remove(filepath.Join(cache, "started"))
	}
}
