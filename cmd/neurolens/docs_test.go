package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestREADME runs the commands of the README in the order in which they stand, in one directory that is in no repository: those for a
// shell, and those in the table of questions. Each has to succeed, and none needs another one that the README does not have.
func TestREADME(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	_, err := exec.LookPath("python3")
	programtest.Needs(t, "python3", err)
	_, err = exec.LookPath("git")
	programtest.Needs(t, "git", err)
	page, dir := programtest.RepositoryFile(t, "README.md"), documentDir(t)
	var ran []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1) {
		runScript(t, dir, block[1])
		ran = append(ran, block[1])
	}
	questions, _, _ := strings.Cut(page, "\n## Coming from another tool")
	_, questions, _ = strings.Cut(questions, "\n## Questions about stored runs")
	for _, command := range regexp.MustCompile("`(neurolens [^`]+)`").FindAllStringSubmatch(questions, -1) {
		script := strings.NewReplacer("ingest results.json", "ingest --list-formats").Replace(command[1])
		runScript(t, dir, script)
		ran = append(ran, script)
	}
	if len(ran) < 15 {
		t.Errorf("the README has %d commands: %q", len(ran), ran)
	}
}

// documentDir returns a new directory in which the program is called neurolens and the fixtures of the repository are at hand.
func documentDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, target := range map[string]string{"neurolens": programtest.Binary(t), "fixtures": programtest.Fixtures(t)} {
		valuetest.OK(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	return dir
}

// runScript runs commands of a document; each has to succeed.
func runScript(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(programtest.Environ(t), "PATH="+dir+":"+os.Getenv("PATH"), "NEUROLENS_MACHINE=lab3",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s\n%v\n%s", script, err, out)
	}
}

// TestDocsPictures draws the pictures of docs/plots.md by the commands that stand there, of real runs (fixtures/aa, fixtures/pictures), and
// compares them with those of docs/pictures. -update writes them.
func TestDocsPictures(t *testing.T) {
	programtest.NeedsLong(t)
	dir, docs := t.TempDir(), filepath.Join("..", "..", "docs")
	writeText(t, filepath.Join(dir, "runs.jsonl"), strings.Join(slices.Concat(stableRuns(t), changedRuns(t), sessionsOfRuns(t)), "\n")+"\n")
	valuetest.OK(t, os.Mkdir(filepath.Join(dir, "pictures"), 0o755))
	t.Setenv("TZ", "UTC")
	programtest.Output(t, dir, "ingest", "--machine", "epyc-2c", "runs.jsonl")
	page := valuetest.Must(os.ReadFile(filepath.Join(docs, "plots.md")))
	drawn := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^    neurolens (plot .* -o (pictures/[a-z]+\.svg))$`).FindAllStringSubmatch(string(page), -1) {
		drawn[line[2]] = true
		if !strings.Contains(string(page), "]("+line[2]+")") {
			t.Errorf("the page does not show %s", line[2])
		}
		programtest.Output(t, dir, argv(line[1])...)
		got := valuetest.Must(os.ReadFile(filepath.Join(dir, line[2])))
		if *update {
			writeText(t, filepath.Join(docs, line[2]), string(got))
		}
		if want, err := os.ReadFile(filepath.Join(docs, line[2])); err != nil || string(want) != string(got) {
			t.Errorf("docs/%s is not what %q draws (-update writes it anew): %v", line[2], line[1], err)
		}
	}
	kept, err := filepath.Glob(filepath.Join(docs, "pictures", "*"))
	if others := 3; err != nil || len(kept) != len(drawn)+others || len(drawn) < 6 { // growth.svg, terminal.svg, verdicts.svg
		t.Errorf("%d pictures are drawn, %d are kept: %v", len(drawn), len(kept), err)
	}
}

// rowsOfCSV returns the rows of a table in fixtures, by the names of its columns.
func rowsOfCSV(t *testing.T, path ...string) (rows []map[string]string) {
	t.Helper()
	f := valuetest.Must(os.Open(filepath.Join(append([]string{programtest.Fixtures(t)}, path...)...)))
	defer f.Close()
	all := valuetest.Must(csv.NewReader(f).ReadAll())
	for _, row := range all[1:] {
		named := map[string]string{}
		for i, name := range all[0] {
			named[name] = row[i]
		}
		rows = append(rows, named)
	}
	return rows
}

// drawnRun returns a line of JSON of a run.
func drawnRun(at time.Time, session, point string, samples ...string) string {
	return fmt.Sprintf(`{%s, "session_id": %q, "started_at": %q, "samples": [{"metric": "latency", "unit": "ns", "better": "lower", "values": [%s]}]}`,
		point, session, at.Format(time.RFC3339), strings.Join(samples, ", "))
}

// stableRuns returns the runs of fixtures/aa/aa.csv, as one session.
func stableRuns(t *testing.T) (lines []string) {
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for i, row := range rowsOfCSV(t, "aa", "aa.csv") {
		point := fmt.Sprintf(`"suite": "layers", "benchmark": %q, "batch_size": %s, "params": {"dim": %q}`, row["benchmark"], row["batch_size"], row["tensor_dimension"])
		lines = append(lines, drawnRun(began.Add(time.Duration(i)*time.Second), "layers", point, strings.Fields(row["samples"])...))
	}
	return lines
}

// changedRuns returns the runs of the quietest session of fixtures/aa/blocks.csv: programs before and after a change of known size.
func changedRuns(t *testing.T) (lines []string) {
	const quietest = "15"
	began := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for i, row := range rowsOfCSV(t, "aa", "blocks.csv") {
		if row["session"] != quietest {
			continue
		}
		for turn, variant := range []string{"base", "head"} {
			work := map[string]string{"same": "as much", "ten": "10 % more", "thirty": "30 % more"}[row["kind"]]
			point := fmt.Sprintf(`"suite": "jobs", "benchmark": %q, "variant": %q, "params": {"work": %q}`, row["job"], variant, work)
			lines = append(lines, drawnRun(began.Add(time.Duration(2*i+turn)*time.Second), "jobs", point, row[variant]))
		}
	}
	return lines
}

// sessionsOfRuns returns the sessions of fixtures/pictures/sessions.csv: one program over sessions, which was changed once.
func sessionsOfRuns(t *testing.T) (lines []string) {
	for _, row := range rowsOfCSV(t, "pictures", "sessions.csv") {
		at := valuetest.Must(time.Parse(time.RFC3339, row["started_at"]))
		session := valuetest.Must(strconv.Atoi(row["session"]))
		lines = append(lines, drawnRun(at, fmt.Sprintf("compress-%02d", session), `"suite": "sessions", "benchmark": "compress"`, strings.Fields(row["samples"])...))
	}
	return lines
}
