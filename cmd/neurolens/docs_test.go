package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestREADME runs the commands of the README in one directory, block by block: those for a shell, and those in the tables that begin
// with neurolens. Each has to succeed. What needs a forge, another tool or files of a reader is left out by name.
func TestREADME(t *testing.T) {
	t.Parallel()
	needsLong(t)
	_, err := exec.LookPath("python3")
	needs(t, "python3", err)
	_, err = exec.LookPath("git")
	needs(t, "git", err)
	page, dir := ofRepository(t, "README.md"), documentDir(t)
	var ran []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if strings.Contains(block[1], "--against") {
			runScript(t, dir, "git init -q -b main . && git add sweep.yaml numbers && git -c user.name=a -c user.email=a@b commit -qm first")
		}
		runScript(t, dir, block[1])
		ran = append(ran, block[1])
	}
	// Questions about sessions need two of them.
	runScript(t, dir, "neurolens bench sweep.yaml && neurolens bench sweep.yaml")
	questions, _, _ := strings.Cut(page, "\n## Coming from another tool")
	_, questions, _ = strings.Cut(questions, "\n## Questions about stored runs")
	for _, command := range regexp.MustCompile("`(neurolens [^`]+)`").FindAllStringSubmatch(questions, -1) {
		script := strings.NewReplacer("export DIR", "export files", "ingest results.json", "ingest --list-formats").Replace(command[1])
		runScript(t, dir, script)
		ran = append(ran, script)
	}
	if len(ran) < 15 {
		t.Errorf("the README has %d commands: %q", len(ran), ran)
	}
}

// TestREADMESize: the README is read from its first to its last line.
func TestREADMESize(t *testing.T) {
	t.Parallel()
	if lines := strings.Count(ofRepository(t, "README.md"), "\n"); lines > 200 {
		t.Errorf("the README has %d lines, want at most 200", lines)
	}
}

// documentDir is a new directory in which the program is called neurolens and the fixtures of the repository are at hand.
func documentDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"neurolens": self, "fixtures": fixtures(t)} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runScript runs commands of a document; each has to succeed.
func runScript(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(programEnviron(t), "PATH="+dir+":"+os.Getenv("PATH"), "NEUROLENS_MACHINE=lab3")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s\n%v\n%s", script, err, out)
	}
}
