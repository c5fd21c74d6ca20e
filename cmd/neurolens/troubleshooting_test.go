package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestTroubleshooting runs every command of docs/troubleshooting.md where it goes wrong: standard error has to be what the page shows.
// -update writes it into the page.
func TestTroubleshooting(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	_, err := exec.LookPath("python3")
	programtest.Needs(t, "python3", err)
	dir := troubledDir(t)
	path := filepath.Join("..", "..", "docs", "troubleshooting.md")
	page := valuetest.Must(os.ReadFile(path))
	ran := 0
	got := regexp.MustCompile("(?s)```text\n(.*?)```").ReplaceAllStringFunc(string(page), func(block string) string {
		var b strings.Builder
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "```") {
				b.WriteString(line)
			}
			if command, is := strings.CutPrefix(line, "$ "); is {
				b.WriteString(line + troubleOf(t, dir, command))
				ran++
			}
		}
		return b.String()
	})
	if *update {
		writeText(t, path, got)
	} else if got != string(page) {
		t.Errorf("docs/troubleshooting.md: %s", programtest.FirstDifference(string(page), got))
	}
	if ran < 20 {
		t.Errorf("%d commands ran", ran)
	}
}

// troubledDir returns a directory in which commands go wrong.
func troubledDir(t *testing.T) string {
	t.Helper()
	dir := documentDir(t)
	for _, folder := range []string{"folder", "wrong"} {
		valuetest.OK(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}
	for name, text := range map[string]string{
		"numbers":              "2\n1\n",
		"folder/notes.txt":     "no store\n",
		"sweep.yaml":           "suite: sort\ncommand: [sort, -n, \"--parallel={threads}\", numbers]\ngrid: {threads: [1, 2]}\nrepeats: 2\niterations: 2\n",
		"typo.yaml":            "suite: sort\ncommand: [sort, numbers]\nrepeat: 5\n",
		"functions.py":         "def bench_join():\n    return ','.join('abc')\n",
		"unknown.txt":          "nothing that a tool would write\n",
		"table.csv":            "impl,M,time_us\nfused,1024,12.5\n",
		"mapping.yaml":         "benchmark: matmul\nfields: {impl: variant}\nmetrics: {time_us: {metric: latency, unit: us}}\n",
		"wrong/neurolens.yaml": "store: runs_store\ncolour: always\n",
	} {
		writeText(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	runScript(t, dir, "neurolens bench sweep.yaml && neurolens --store damaged bench sweep.yaml && neurolens --store damaged store seal --now")
	damaged, err := filepath.Glob(filepath.Join(dir, "damaged", "runs", "*", "*.parquet"))
	if err != nil || len(damaged) == 0 {
		t.Fatalf("no sealed file to damage: %v", err)
	}
	valuetest.OK(t, os.Truncate(damaged[0], 100))
	return dir
}

// names of sealed files and sessions, which differ every time.
var changing = regexp.MustCompile(`[0-9A-Z]{26}-[0-9A-Z]{10}-[0-9A-Z]{10}-[0-9]+|\b20[0-9]{2}-[0-9]{2}\b`)

// troubleOf returns the error of a command on standard error, without the progress before it. Names that differ every time are an ellipsis.
func troubleOf(t *testing.T, dir, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", strings.TrimSpace(command))
	cmd.Dir = dir
	cmd.Env = append(programtest.Environ(t), "PATH="+dir+":"+os.Getenv("PATH"), "NEUROLENS_MACHINE=lab3", "COLUMNS=100")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(fmt.Errorf("%s: %w", command, err))
	}
	message := stderr.String()
	if at := strings.Index(message, "neurolens: "); at >= 0 {
		message = message[at:]
	}
	return changing.ReplaceAllString(strings.ReplaceAll(message, dir, "."), "…")
}
