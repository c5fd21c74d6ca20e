package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// typo is what somebody typed who meant something else: a command line, or the text of a sweep file.
type typo struct {
	typed string
	sweep bool
	code  int
	cure  string // a part of the message, which names the cure; empty: it is taken as it was meant, without a message
}

// readSlips reads testdata/slips.txt: a line with what was typed, one with the exit code and the part of the message.
func readSlips(t *testing.T) []typo {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "slips.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []typo
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if typed, ok := strings.CutPrefix(line, "$ neurolens "); ok {
			all = append(all, typo{typed: typed})
			continue
		}
		if typed, ok := strings.CutPrefix(line, "sweep "); ok {
			all = append(all, typo{typed: strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(typed), sweep: true})
			continue
		}
		last := &all[len(all)-1]
		code, cure, _ := strings.Cut(line, " ")
		if last.code, err = strconv.Atoi(code); err != nil {
			t.Fatalf("slips.txt: %q: %v", line, err)
		}
		last.cure = cure
	}
	return all
}

// argv cuts a line into words; what stands in single quotes is one.
func argv(line string) []string {
	var words []string
	word, began, quoted := "", false, false
	for _, c := range line {
		switch {
		case c == '\'':
			quoted, began = !quoted, true
		case c == ' ' && !quoted:
			if began {
				words = append(words, word)
			}
			word, began = "", false
		default:
			word, began = word+string(c), true
		}
	}
	if began {
		words = append(words, word)
	}
	return words
}

// TestSlips: what people type who come from other tools, or who miss a key, is taken as it was meant where nothing else can be, or
// answered with one clear line that names the cure, and with the exit status of the README.
func TestSlips(t *testing.T) {
	all := readSlips(t)
	if hints := slices.DeleteFunc(slices.Clone(all), func(s typo) bool { return s.cure == "" }); len(hints) < 60 {
		t.Errorf("slips.txt has %d slips with a cure, want 60 or more", len(hints))
	}
	t.Chdir(t.TempDir())
	t.Setenv("NEUROLENS_LOCKS", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	const sweep = "suite: quickstart\nmodel: builtin:tiny_linear\nbackend: builtin\nwarmup: 1\niterations: 5\ngrid: {batch_size: [1, 2], precision: [fp32, fp64], dim: [8]}\n"
	writeText(t, "sweep.yaml", sweep)
	for range 2 {
		if code, message := typed(t, "bench", "sweep.yaml"); code != exitOK {
			t.Fatalf("bench: exit %d\n%s", code, message)
		}
	}
	_, noPython := exec.LookPath("python3")
	for _, s := range all {
		if noPython != nil && strings.Contains(s.typed, ".py") {
			continue // the answer is that there is no Python
		}
		words := argv(s.typed)
		if s.sweep {
			writeText(t, "slip.yaml", s.typed+"\n")
			words = []string{"bench", "slip.yaml", "--dry-run"}
		}
		code, message := typed(t, words...)
		switch {
		case code != s.code:
			t.Errorf("%s\nexit %d, want %d: %s", s.typed, code, s.code, message)
		case s.cure == "" && message != "":
			t.Errorf("%s\nis answered with %s", s.typed, message)
		case !strings.Contains(message, s.cure):
			t.Errorf("%s\nis answered with %swant %s", s.typed, message, s.cure)
		case s.cure != "" && !isClear(message):
			t.Errorf("%s\nis answered with %swant a clear line", s.typed, message)
		}
	}
}

// isClear tells whether a message is a line or two of this program, without a word that only its authors know.
func isClear(message string) bool {
	lines := slices.Collect(strings.Lines(message))
	foreign := slices.ContainsFunc([]string{"strconv", "neurolens: neurolens", "pflag", "goroutine"}, func(word string) bool { return strings.Contains(message, word) })
	return len(lines) <= 2 && !foreign && !slices.ContainsFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "neurolens: ") })
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	valuetest.OK(t, os.WriteFile(name, []byte(text), 0o644))
}

// typed runs a command line and gives its exit code and what it wrote to standard error.
func typed(t *testing.T, words ...string) (code int, message string) {
	t.Helper()
	var out, err strings.Builder
	a := &app{stdout: &out, stderr: &err, getenv: os.Getenv, now: time.Now, width: 80, errSize: func() (int, int) { return 80, 24 }}
	code = a.run(words)
	return code, err.String()
}
