//go:build linux

package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// argumentsOf reads the file that the program of an argumentDump has written, and removes it.
func argumentsOf(t *testing.T, dir string) []string {
	t.Helper()
	text := valuetest.Must(os.ReadFile(filepath.Join(dir, "arguments")))
	valuetest.OK(t, os.Remove(filepath.Join(dir, "arguments")))
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// argumentDump makes a folder with a program that writes its arguments, and with neurolens.
func argumentDump(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "dump", "#!/bin/sh\nprintf '%s\\0' \"$@\" >arguments\n")
	valuetest.OK(t, os.Chmod(filepath.Join(dir, "dump"), 0o700))
	programtest.Link(t, dir)
	return dir
}

// typedIn has a shell run a command in a folder of argumentDump.
func typedIn(t *testing.T, dir, shell, command string) {
	t.Helper()
	again := programtest.Program(t, dir)
	again.Path, again.Args = shell, []string{shell}
	again.Stdin = strings.NewReader(command + "\n")
	again.Env = append(again.Env, "PATH="+dir+":"+os.Getenv("PATH"))
	session(t, again)
}

// session runs a session, whose runs may fail: on a busy machine the start of a shell may take as long as the program.
func session(t *testing.T, p *programtest.Process) {
	t.Helper()
	if err := p.Run(); err != nil && p.ProcessState.ExitCode() != 4 {
		t.Fatalf("%.300q: %v\n%s%s", p.Args[1:], err, p.Printed.String(), p.Messages.String())
	}
}

// printed fails on a text that steers a terminal, or that one cannot show.
func printed(t *testing.T, what, text string) {
	t.Helper()
	if at := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && term.IsControl(r) }); at >= 0 || !utf8.ValidString(text) {
		t.Errorf("%s has %q", what, text[max(at-20, 0):min(max(at, 0)+20, len(text))])
	}
}

// reproduceLines returns the command that show prints for the last run, which may have several lines.
func reproduceLines(t *testing.T, dir string) string {
	t.Helper()
	show := programtest.Program(t, dir, "show", "last", "--format", "table")
	show.MustRun(t)
	_, command, found := strings.Cut(show.Printed.String(), "\nreproduce\n")
	if !found {
		t.Fatalf("show prints\n%s", show.Printed.String())
	}
	printed(t, "show", show.Printed.String())
	if strings.ContainsFunc(command, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		t.Errorf("the command has characters that cannot be seen: %q", command)
	}
	return command
}

const identity = "SELECT point_id, env['runner.config_sha256'] FROM runs ORDER BY run_id DESC LIMIT 1"

// argumentLists returns lists that tools on the way of a command line may change, and random ones.
func argumentLists(count int) [][]string {
	pieces := []string{
		"a", " ", "-", "--", "=", "{", "}", "{n}", "{{n}}", "$", "$HOME", "$(id)", "`id`", `\`, `\n`, `\351`, "'", `"`, "%", "%s", "!", "#", "~", "*", "?", "[", "&", "|", ";", "\t",
		"\n", "\r", "\x01", "\x1b[31m", "\x7f", "\x80", "\x88", "\xe9", "\xff", "\xed\xb3\xa9", "\u00e9", "\u0085", "\u00a0", "\u200b", "\u202e", "\u2066", "\ufeff", "\ufffd", "\U0001f600",
		`"$(printf '`, `')"`, "<hidden>", "null", "true", "- ", ": ", "!!binary ",
	}
	large := 1_000 // as much as the system takes is left to those who have the minutes: a shell quotes slowly
	if programtest.Long() {
		large = 40_000
	}
	lists := [][]string{
		{"-t", "\t", "-k2", "-c", "print(1)\nprint(2)\n", "caf\xe9", "Bericht\u200b2.txt", "", "\n", "--repeats", "{n}", "--"},
		{strings.Repeat("\xe9'\n", large), strings.Repeat("x", 3*large)},
		slices.Repeat([]string{strings.Repeat("y\x01", large)}, 10),
	}
	random := rand.New(rand.NewPCG(11, 12))
	for range count {
		list := make([]string, 1+random.IntN(12))
		for i := range list {
			for range random.IntN(5) {
				if list[i] += pieces[random.IntN(len(pieces))]; random.IntN(3) == 0 {
					list[i] += string([]byte{byte(1 + random.IntN(255))})
				}
			}
		}
		lists = append(lists, list)
	}
	return lists
}

// TestArguments: a program gets the arguments that stand behind --, whatever their bytes. The command that show prints has a shell
// give them again, for the same point, and so does the sweep file of --print-sweep. Nothing printed steers a terminal.
func TestArguments(t *testing.T) {
	t.Parallel()
	var shells []string
	for _, name := range []string{"dash", "bash"} {
		if path, err := exec.LookPath(name); err == nil {
			shells = append(shells, path)
		} else if !errors.Is(err, exec.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if len(shells) == 0 {
		t.Skip("there is no dash and no bash")
	}
	count := 1
	if programtest.Long() {
		count = 8
	}
	dir := argumentDump(t)
	check := func(what string, list []string) {
		t.Helper()
		valuetest.DeepEqual(t, argumentsOf(t, dir), list, what, "the program gets")
	}
	quick := []string{"--warmup", "0", "--iterations", "1", "--repeats", "1"}
	for i, list := range argumentLists(count) {
		bench := programtest.Program(t, dir, slices.Concat([]string{"bench"}, quick, []string{"--", "./dump"}, list)...)
		session(t, bench)
		check("bench", list)
		printed(t, "bench", bench.Printed.String()+bench.Messages.String())
		want := rows(t, dir, identity)
		point, _, _ := strings.Cut(want, " ") // a sweep file names the fixed settings too
		for n, shell := range shells {
			if n != i%len(shells) && !programtest.Long() {
				continue
			}
			typedIn(t, dir, shell, reproduceLines(t, dir))
			check(shell, list)
			valuetest.Equal(t, rows(t, dir, identity), want, list, "the command of show makes")
		}
		sweep := programtest.Program(t, dir, slices.Concat([]string{"bench", "--print-sweep"}, quick, []string{"--", "./dump"}, list)...)
		sweep.MustRun(t)
		printed(t, "--print-sweep", sweep.Printed.String())
		programtest.WriteFile(t, dir, "kept.yaml", sweep.Printed.String())
		session(t, programtest.Program(t, dir, "bench", "kept.yaml"))
		check("kept.yaml", list)
		if got := rows(t, dir, identity); !strings.HasPrefix(got, point) {
			t.Errorf("%.300q: the sweep file makes %s, want %s", list, got, want)
		}
	}
}

// TestLongCommand: a command of a hundred kilobytes is cut wherever people read it, and whole for programs.
func TestLongCommand(t *testing.T) {
	t.Parallel()
	dir, long := t.TempDir(), strings.Repeat("x", 100_000)
	bench := programtest.Program(t, dir, "bench", "--warmup", "0", "--iterations", "1", "--repeats", "2", "echo a"+long+" {n}", "echo b"+long)
	session(t, bench)
	ls, show, json := programtest.Program(t, dir, "ls"), programtest.Program(t, dir, "show", "last", "--format", "table"), programtest.Program(t, dir, "show", "last", "--format", "json")
	ls.MustRun(t)
	show.MustRun(t)
	json.MustRun(t)
	before, reproduce, _ := strings.Cut(show.Printed.String(), "\nreproduce\n")
	const enough = 12_000
	for name, text := range map[string]string{"bench": bench.Printed.String() + bench.Messages.String(), "ls": ls.Printed.String() + ls.Messages.String(), "show": before} {
		if len(text) > enough {
			t.Errorf("%s prints %d bytes: %.2000s", name, len(text), text)
		}
	}
	if !strings.Contains(reproduce, long) || !strings.Contains(json.Printed.String(), long) {
		t.Errorf("the command is not whole: %d bytes, %d bytes as JSON", len(reproduce), json.Printed.Len())
	}
	missing := programtest.Program(t, dir, "bench", "a"+long)
	if err := missing.Run(); err == nil || missing.Messages.Len() > enough || !strings.Contains(missing.Messages.String(), "no such program on PATH") {
		t.Errorf("%v: an error of %d bytes: %.2000s", err, missing.Messages.Len(), missing.Messages.String())
	}
}

// TestTexts: likewise of programs in one text, of texts for a shell, and of options that are names of files or programs.
func TestTexts(t *testing.T) {
	t.Parallel()
	dir := argumentDump(t)
	quick := []string{"bench", "--warmup", "0", "--iterations", "1", "--repeats", "1"}
	for _, c := range []struct {
		args, want []string
	}{
		{[]string{"./dump 'a\tb' 'c\nd' e\xe9"}, []string{"a\tb", "c\nd", "e\xe9"}},
		{[]string{"./dump 'a\r\nb'"}, []string{"a\r\nb"}},
		{[]string{"--shell", "./dump 'a\tb' \"c\nd\" | cat"}, []string{"a\tb", "c\nd"}},
		{[]string{"--shell", "./dump e\xe9 '{n}' | cat\n"}, []string{"e\xe9", "{n}"}},
		{[]string{"--shell", "--", "./dump", "a\tb", "e\xe9\n", "$x"}, []string{"a\tb", "e\xe9\n", "$x"}},
		{[]string{"true", "--stdin", "in\xe9", "--prepare", "./dump 'a\tb' e\xe9", "--output", "out\xe9"}, []string{"a\tb", "e\xe9"}},
	} {
		programtest.WriteFile(t, dir, "in\xe9", "")
		args := slices.Concat(quick, c.args)
		session(t, programtest.Program(t, dir, args...))
		valuetest.DeepEqual(t, argumentsOf(t, dir), c.want, c.args, "the program gets")
		want := rows(t, dir, identity)
		point, _, _ := strings.Cut(want, " ")
		typedIn(t, dir, "/bin/sh", reproduceLines(t, dir))
		if got := argumentsOf(t, dir); !slices.Equal(got, c.want) || rows(t, dir, identity) != want {
			t.Errorf("%q: the command of show gives %q, of the point %s, want %s", c.args, got, rows(t, dir, identity), want)
		}
		sweep := programtest.Program(t, dir, slices.Insert(args, 1, "--print-sweep")...)
		sweep.MustRun(t)
		programtest.WriteFile(t, dir, "kept.yaml", sweep.Printed.String())
		session(t, programtest.Program(t, dir, "bench", "kept.yaml"))
		if got := argumentsOf(t, dir); !slices.Equal(got, c.want) || !strings.HasPrefix(rows(t, dir, identity), point) {
			t.Errorf("%q: the sweep file gives %q, of the point %s, want %s", c.args, got, rows(t, dir, identity), want)
		}
	}
}
