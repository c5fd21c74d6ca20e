// Package bisect finds the first commit of a history that changed a point. It works as git bisect does, but with measurements
// that differ from run to run. Each tested commit halves the remaining ones. If a commit cannot be tested, it is skipped and a
// nearby one is tested instead.
//
// A Search first measures the two ends against each other and selects the point that changed most clearly. Then it measures one
// commit after another against the good end, until it is known whether the change is less or more than half of the change at the
// bad end. The probability of naming a wrong commit is divided among all these steps: see budget.
//
// The package starts no process, does not call git and contains no statistics: its caller provides functions that measure and
// decide. It collects runs as differences between blocks: see Series.
package bisect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

// Session holds the measurements of one session, of the good commit and another one.
type Session struct {
	ID     string
	Points []*Series
}

// NewSession prepares a session with these points. An empty metric means the primary one of each point.
func NewSession(points []Point, metric string) *Session {
	s := &Session{Points: make([]*Series, len(points))}
	for i, p := range points {
		s.Points[i] = &Series{Point: p, Metric: metric, Scale: p.Scale}
	}
	return s
}

// Add adds a run.
func (s *Session) Add(run *schema.Run) {
	for _, series := range s.Points {
		series.add(run)
	}
}

// Useless reports that no point can be measured, because one side has none.
func (s *Session) Useless() bool {
	for _, series := range s.Points {
		if !series.useless {
			return false
		}
	}
	return true
}

// Excuse records why the other commit cannot be measured at all. The commit is then skipped.
func (s *Session) Excuse(why string) {
	for _, series := range s.Points {
		series.failure[1] = why
	}
}

// Blocks returns the number of blocks of the point with the largest number.
func (s *Session) Blocks() (n int) {
	for _, series := range s.Points {
		n = max(n, series.Blocks())
	}
	return n
}

// advance makes the measurements so far available for decisions.
func (s *Session) advance() {
	for _, series := range s.Points {
		series.looked = len(series.blocks)
	}
}

// Finding is the result for a commit, or for a point in which no difference between the ends was found.
type Finding struct {
	Result Result
	Commit worktree.Commit
	Step   Step // its measurements; the zero step if it was not tested
}

// Result is the word for a finding.
type Result string

// The results of a search.
const (
	First        Result = "first_changed"
	Candidate    Result = "candidate"
	Unchanged    Result = "unchanged"    // the ends do not differ in a point
	Inconclusive Result = "inconclusive" // it is not known whether they do
	Failed       Result = "failed"       // one of them cannot be measured
)

// Findings returns the findings for an end of the search: one for each candidate or, if there is none, one for each point.
func (s *Search) Findings(end End) []Finding {
	var all []Finding
	for _, c := range end.Candidates {
		result := Candidate
		if len(end.Candidates) == 1 {
			result = First
		}
		all = append(all, Finding{result, c, s.stepOf(c)})
	}
	for _, step := range end.Unchanged {
		all = append(all, Finding{step.ofEnds(), s.History.Bad, step})
	}
	return all
}

// Answers returns the steps that compared the ends, each with what was found of its point: the first changed commit, schema.BisectNothing or
// schema.BisectUndecided. A step without a session, of a log that was written by hand, and a point that could not be measured have no answer.
func (s *Search) Answers(end End) map[Step]string {
	all := map[Step]string{}
	for _, step := range end.Unchanged {
		switch step.ofEnds() {
		case Unchanged:
			all[step] = schema.BisectNothing
		case Inconclusive:
			all[step] = schema.BisectUndecided
		}
	}
	if len(end.Candidates) > 0 && s.Steps[0].Session != "" {
		all[s.Steps[0]] = schema.BisectUndecided
		if len(end.Candidates) == 1 {
			all[s.Steps[0]] = end.Candidates[0].ID
		}
	}
	return all
}

// ofEnds returns the result for a point in which no difference between the ends was found.
func (s *Step) ofEnds() Result {
	switch {
	case s.Reason != "":
		return Failed
	case s.Result == Good:
		return Unchanged
	}
	return Inconclusive
}

// Unmeasured reports that one of the ends could not be measured in any point.
func (e End) Unmeasured() bool {
	works := func(s Step) bool { return s.ofEnds() != Failed }
	return len(e.Unchanged) > 0 && !slices.ContainsFunc(e.Unchanged, works)
}

// Measured returns the total number of measured blocks: of the points that distinguish commits, or of those in which the ends do not
// differ.
func (s *Search) Measured(end End) (blocks int) {
	for _, step := range slices.Concat(s.Steps, end.Unchanged) {
		blocks += step.Blocks
	}
	return blocks
}

// Log is the record of a search, in a file that git bisect replay accepts too: one line of git bisect per commit and, in a comment
// before it, the measurement. Lines may be deleted, and lines of git bisect added, by hand.
type Log struct {
	Path    string
	Steps   []Step            // present when it was opened
	good    string            // where the search begins
	subject map[string]string // by commit
	head    string            // beginning of a new file; empty: the file exists
}

// logHeading is the beginning of the file. The key of the search follows.
const logHeading = "# neurolens bisect 1 "

// DefaultLog returns the path of the log for the search with that key, in the user's cache. It creates the folder.
func DefaultLog(key string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a folder for the log (--log FILE sets one): %w", err)
	}
	path := filepath.Join(cache, "neurolens", "bisect", key+".log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("making a folder for the log (--log FILE sets one): %w", err)
	}
	return path, nil
}

// OpenLog reads the log of the search with that key. If there is none, it checks that Create or Add can create it.
func OpenLog(path, key string, h worktree.History) (*Log, error) {
	l := &Log{Path: path, good: h.Good.ID, subject: map[string]string{h.Good.ID: h.Good.Subject}}
	for _, c := range h.Commits {
		l.subject[c.ID] = c.Subject
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.head = logHeading + key + "\n" +
			"# The same command continues from here. Delete the lines of a commit to measure it again.\n" +
			"git bisect start\n" + l.line(Good, h.Good.ID)
		if err := l.write(""); err != nil {
			return nil, err
		}
		return l, os.Remove(path)
	case err != nil:
		return nil, fmt.Errorf("--log: %w", err)
	case !bytes.HasPrefix(text, []byte(logHeading+key+"\n")):
		return nil, fmt.Errorf("--log %s: the log belongs to another search, with other commits, sweep or flags; use --log with another file", path)
	}
	return l, l.read(string(text))
}

// Exists reports whether the file exists.
func (l *Log) Exists() bool { return l.head == "" }

// Create creates the file, without steps.
func (l *Log) Create() error {
	err := l.write(l.head)
	l.head = ""
	return err
}

// write creates the file.
func (l *Log) write(text string) error {
	file, err := os.OpenFile(l.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("--log: %w", err)
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// line returns the result of a commit, in the format of git bisect log.
func (l *Log) line(result, commit string) string {
	return fmt.Sprintf("# %s: [%s] %s\ngit bisect %s %s\n", result, commit, oneLine(l.subject[commit]), result, commit)
}

// read reads the steps of the file. The line of git bisect counts, even if it was changed by hand.
func (l *Log) read(text string) error {
	var measured Step
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if object, ok := strings.CutPrefix(line, "# {"); ok {
			measured = Step{}
			if err := json.Unmarshal([]byte("{"+object), &measured); err != nil {
				return fmt.Errorf("%s:%d: %w", l.Path, number, err)
			}
			continue
		}
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") || line == "git bisect start" {
			continue
		}
		known := len(words) == 4 && words[0] == "git" && words[1] == "bisect" && slices.Contains([]string{Good, Bad, Skip}, words[2])
		if !known {
			return fmt.Errorf("%s:%d: want git bisect good, bad or skip with one commit, got %q", l.Path, number, line)
		}
		if _, there := l.subject[words[3]]; !there {
			return fmt.Errorf("%s:%d: commit %q is not between the two commits, or is abbreviated", l.Path, number, words[3])
		}
		if words[3] == l.good {
			continue
		}
		step := Step{Commit: words[3], Reason: "from the log"}
		if measured.Commit == step.Commit {
			step = measured
		}
		step.Result = words[2]
		l.Steps, measured = append(l.Steps, step), Step{}
	}
	return nil
}

// Add writes a step. The file is complete after each step, so a killed search loses only the step that it was measuring.
func (l *Log) Add(step Step) error {
	if !l.Exists() {
		if err := l.Create(); err != nil {
			return err
		}
	}
	text, err := json.Marshal(step)
	if err != nil {
		return fmt.Errorf("writing to the log %s: %w", l.Path, err)
	}
	file, err := os.OpenFile(l.Path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("writing to the log: %w", err)
	}
	_, err = file.WriteString("# " + string(text) + "\n" + l.line(step.Result, step.Commit))
	return errors.Join(err, file.Close())
}

// oneLine returns a subject without characters that would end its line or move a cursor.
func oneLine(subject string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, subject)
}
