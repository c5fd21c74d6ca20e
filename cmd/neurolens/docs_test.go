package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestREADME runs every `$ neurolens` command of the README's console blocks, in order, in a directory of its own. Each
// has to succeed, and to print what does not depend on the machine: the header of the table, and the line that counts.
func TestREADME(t *testing.T) {
	t.Parallel()
	needsLong(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(fixtures(t), filepath.Join(dir, "fixtures")); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "neurolens")); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, example := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, output, _ := strings.Cut(example, "\n")
			checkExample(t, dir, command, output)
			ran++
		}
	}
	if ran < 7 {
		t.Errorf("the README has %d commands", ran)
	}
}

func checkExample(t *testing.T, dir, command, output string) {
	t.Helper()
	// A run's id differs every time: the newest one stands for it.
	command = regexp.MustCompile(`show [0-9A-Z]{8}`).ReplaceAllString(command, `show "$(neurolens ls --limit 1 --columns run_id --format csv | tail -n 1)"`)
	command = strings.ReplaceAll(command, "p99<1.5ms", "p99<1.5s") // on a busy machine few are so fast
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(programEnviron(t), "PATH="+dir+":"+os.Getenv("PATH"), "NEUROLENS_FORMAT=table", "COLUMNS=80", "NEUROLENS_MACHINE=lab3", "TZ=UTC")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s%s", command, err, got, stderr.String())
		return
	}
	printed := map[string]bool{}
	for line := range strings.SplitSeq(string(got), "\n") {
		printed[shape(line)] = true
	}
	for line := range strings.SplitSeq(output, "\n") {
		if counted := strings.Contains(line, " is whole: "); steady.MatchString(line) && !printed[shape(line)] || counted && !strings.Contains(stderr.String(), line+"\n") {
			t.Errorf("%s: the README shows\n%s\nit prints\n%s", command, line, got)
		}
	}
}

// steady are the lines that are the same on every machine, but for numbers and the width of columns.
var steady = regexp.MustCompile(`^ *[A-Z][A-Z0-9 ×+:]+(dim[A-Z0-9 ×+:]+)?$|^[0-9,]+ (of|run|row|point|file)|^[0-9]+ fact|^samples of|^configuration$|^stages$|^next `)

// shape is a line without its numbers and the id of a session, with single spaces, and without what is a matter of luck: in
// which axes a listing of the slowest varies, and why points are inconclusive, as they are on a busy machine, where the first of
// the next commands is to measure more.
func shape(line string) string {
	line = strings.TrimPrefix(line, "next ")
	line, _, _ = strings.Cut(line, " inconclusive (")
	line = strings.TrimSuffix(line, " inconclusive")
	return strings.Join(strings.Fields(regexp.MustCompile(`session=[0-9A-Z]{8}|[0-9]|\b(BS|SEQ|PREC|dim)\b`).ReplaceAllString(line, "")), " ")
}

// TestREADMEFigures: what the README shows was measured on a quiet machine, where few samples are far from the median, and
// its filters can be typed: in quotes, where a shell has its own idea of < and > and of !.
func TestREADMEFigures(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
	rows := regexp.MustCompile(`(?m)^.* ([0-9.]+) (ns|µs|ms|s) +([0-9.]+) (ns|µs|ms|s)  .*$`)
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, row := range rows.FindAllStringSubmatch(block[1], -1) {
			median, _ := strconv.ParseFloat(row[1], 64)
			p99, _ := strconv.ParseFloat(row[3], 64)
			if p99*units[row[4]] > 5*median*units[row[2]] {
				t.Errorf("p99 is more than five times the median: %s", row[0])
			}
		}
	}
	for _, word := range regexp.MustCompile("`[a-z_.]+(!~|[<>])[^`']*`").FindAllString(string(text), -1) {
		t.Errorf("%s without quotes", word)
	}
}
