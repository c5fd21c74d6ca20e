package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/runner/worktree"
)

// bisectLog is what a search has decided, in a file that git bisect replay takes too: a line of git bisect a commit, and
// before it, in a comment, what was measured. Lines may be taken out, and those of git bisect added, by hand.
type bisectLog struct {
	path    string
	good    string        // where the search begins
	steps   []bisect.Step // that were there
	subject map[string]string
}

// bisectHeading begins the file. What follows is that by which a search is known again.
const bisectHeading = "# neurolens bisect 1 "

// openBisectLog reads the log of the search with that key, or begins one. path is that of the user; empty: one in the
// user's cache.
func openBisectLog(path, key string, h worktree.History) (*bisectLog, error) {
	if path == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("finding a place for the log (--log names one): %w", err)
		}
		path = filepath.Join(cache, "neurolens", "bisect", key+".log")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("making a place for the log (--log names one): %w", err)
		}
	}
	l := &bisectLog{path: path, good: h.Good.ID, subject: map[string]string{h.Good.ID: h.Good.Subject}}
	for _, c := range h.Commits {
		l.subject[c.ID] = c.Subject
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, l.begin(key, h)
	case err != nil:
		return nil, usageErrorf("--log: %w", err)
	case !bytes.HasPrefix(text, []byte(bisectHeading+key+"\n")):
		return nil, usageErrorf("--log %s: it is not the log of this search: other commits, sweep or flags; --log names another file", path)
	}
	return l, l.read(string(text))
}

// begin writes the head of the file.
func (l *bisectLog) begin(key string, h worktree.History) error {
	head := bisectHeading + key + "\n" +
		"# The same command goes on from here. A commit whose lines are taken out is measured again.\n" +
		"git bisect start\n" + l.line(bisect.Good, h.Good.ID)
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return usageErrorf("--log: %w", err)
	}
	_, err = file.WriteString(head)
	return errors.Join(err, file.Close())
}

// line is the result of a commit, as git bisect log has it.
func (l *bisectLog) line(result, commit string) string {
	return fmt.Sprintf("# %s: [%s] %s\ngit bisect %s %s\n", result, commit, term.OneLine(l.subject[commit]), result, commit)
}

// read takes in the steps of the file. What a line of git bisect says counts, also where it was changed by hand.
func (l *bisectLog) read(text string) error {
	var measured bisect.Step
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if object, ok := strings.CutPrefix(line, "# {"); ok {
			measured = bisect.Step{}
			if err := json.Unmarshal([]byte("{"+object), &measured); err != nil {
				return usageErrorf("%s:%d: %w", l.path, number, err)
			}
			continue
		}
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") || line == "git bisect start" {
			continue
		}
		known := len(words) == 4 && words[0] == "git" && words[1] == "bisect" && slices.Contains([]string{bisect.Good, bisect.Bad, bisect.Skip}, words[2])
		if !known {
			return usageErrorf("%s:%d: want git bisect good, bad or skip with one commit, got %q", l.path, number, line)
		}
		if _, there := l.subject[words[3]]; !there {
			return usageErrorf("%s:%d: commit %q is not between the two, or not written in full", l.path, number, words[3])
		}
		if words[3] == l.good {
			continue
		}
		step := bisect.Step{Commit: words[3], Reason: "by the log"}
		if measured.Commit == step.Commit {
			step = measured
		}
		step.Result = words[2]
		l.steps, measured = append(l.steps, step), bisect.Step{}
	}
	return nil
}

// add writes a step. The file is whole after each: a search that is killed loses the step that it measures.
func (l *bisectLog) add(step bisect.Step) error {
	text, err := json.Marshal(step)
	if err != nil {
		return fmt.Errorf("writing to the log %s: %w", l.path, err)
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("writing to the log: %w", err)
	}
	_, err = file.WriteString("# " + string(text) + "\n" + l.line(step.Result, step.Commit))
	return errors.Join(err, file.Close())
}

// keyFlags are the flags that make a search another one, besides those with which runs are made.
var keyFlags = []string{"param", "targets", "python", "metric", "first-parent"}

// key is by what a search is known again: what it measures, where, and how.
func (b *bisector) key() string {
	host, _ := os.Hostname() // where it has none, nothing else distinguishes machines that share a cache
	dir, _ := os.Getwd()
	store, _ := filepath.Abs(b.dir)
	parts := []string{
		b.history.Good.ID, b.history.Bad.ID, b.sweep.SHA256, b.path, dir, store, host, b.getenv("NEUROLENS_MACHINE"),
		repeatableFlags(b.cmd, b.overrides),
	}
	for _, name := range keyFlags {
		parts = append(parts, b.cmd.Flags().Lookup(name).Value.String())
	}
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}
