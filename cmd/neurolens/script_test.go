package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
)

// cmdExits runs a command and asks for its exit code: `exits 2 neurolens ls x`. Its output goes to the files out and
// err of the working directory, for `cmp` and `grep`.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var stdout, stderr strings.Builder
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Path = programPath(ts, args[1])
	cmd.Env = scriptEnviron(ts)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	code := 0
	if err := cmd.Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("starting %s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	ts.Check(os.WriteFile(ts.MkAbs("out"), []byte(stdout.String()), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("err"), []byte(stderr.String()), 0o644))
	if code != want {
		ts.Fatalf("%s: exit %d, want %d\n%s%s", strings.Join(args[1:], " "), code, want, stdout.String(), stderr.String())
	}
}

func programPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return path
		}
	}
	ts.Fatalf("%s is not on PATH", name)
	return ""
}

func scriptEnviron(ts *testscript.TestScript) []string {
	environ := os.Environ()
	for _, key := range []string{"PATH", "HOME", "TZ", "TMPDIR", "NEUROLENS_MACHINE", programtest.LocksVariable, "NEUROLENS_STORE", "NEUROLENS_FORMAT", "COLUMNS", "COVERDIR", "XDG_CACHE_HOME"} {
		if v := ts.Getenv(key); v != "" {
			environ = append(environ, key+"="+v)
		}
	}
	return environ
}

// cmdSame notes the state of a directory (`same note DIR`), and later asks that not a byte has changed (`same check
// DIR`).
func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same note|check DIR")
	}
	state := directoryState(ts, ts.MkAbs(args[1]))
	file := ts.MkAbs(".state-" + filepath.Base(args[1]))
	if args[0] == "note" {
		ts.Check(os.WriteFile(file, []byte(state), 0o644))
		return
	}
	if before := ts.ReadFile(file); before != state {
		ts.Fatalf("%s changed:\nbefore\n%safter\n%s", args[1], before, state)
	}
}

// directoryState returns a line for every file: mode, modification time, hash of the content.
func directoryState(ts *testscript.TestScript, dir string) string {
	var b strings.Builder
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "%s %s %s %x\n", path, info.Mode(), info.ModTime(), sha256.Sum256(content))
		return nil
	}))
	return b.String()
}

// cmdLines asks for the number of lines of a file: `lines 1 err`.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines COUNT FILE")
	}
	text := ts.ReadFile(args[1])
	if got := strings.Count(text, "\n"); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s has %d lines, want %s:\n%s", args[1], got, args[0], text)
	}
}

// cmdWithout copies a YAML file without a key of its top level, and what belongs to the key: `without telemetry FROM TO`.
func cmdWithout(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: without KEY FROM TO")
	}
	var kept strings.Builder
	found, within := false, false
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if !strings.HasPrefix(line, " ") {
			within = strings.HasPrefix(line, args[0]+":")
			found = found || within
		}
		if !within {
			kept.WriteString(line)
		}
	}
	if !found {
		ts.Fatalf("%s has no key %s", args[1], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(kept.String()), 0o644))
}
