package views

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// MergedAxes returns the axes in one, for tables that have no room for all: bs=1 seq=64 fp32.
func (r Display) MergedAxes(varying []Axis) []Axis {
	if len(varying) < 2 {
		return varying
	}
	rows := len(varying[0].Values)
	if at := slices.IndexFunc(varying, func(x Axis) bool { return x.Name == "benchmark" }); at >= 0 && !r.Whole {
		varying = slices.Clone(varying)
		varying[at].Values = withoutCommon(varying[at].Values)
	}
	return []Axis{{Name: "point", Values: PointNames(varying, rows)}}
}

// withoutCommon leaves out what names of benchmarks begin with alike, file and class, where that is long: their ends tell
// them apart.
func withoutCommon(names []string) []string {
	const long = 8
	common := names[0]
	for _, name := range names {
		n := 0
		for n < min(len(common), len(name)) && common[n] == name[n] {
			n++
		}
		common = common[:n]
	}
	common = common[:strings.LastIndexAny(common, "/:")+1]
	if len(common) < long {
		return names
	}
	return term.Texts(names, func(name string) string { return "…" + name[len(common):] })
}

// PointNames name each row by the axes in which rows differ; empty where there are none.
func PointNames(varying []Axis, rows int) []string {
	names := make([]string, rows)
	for row := range names {
		var parts []string
		for _, x := range varying {
			if x.Values[row] != "" {
				parts = AppendConstant(parts, x.Name, x.Values[row])
			}
		}
		names[row] = strings.Join(parts, " ")
	}
	return names
}

// FilterValue returns the text of an axis as the value of a condition on its key; the empty one is NULL.
func FilterValue(key, text string) string {
	switch {
	case text == "":
		return "null"
	case text == `""`, filter.QuoteWord(text) == text && text != "null" && !strings.Contains(text, ".."):
		return text
	}
	return filter.QuoteFor(key, text)
}

// FilterOf returns the conditions that select row i of some rows, and no other with another point, on as few of the axes in which they
// differ as possible (on as few as come one after the other if more than three are needed). There are none if the point is the only one.
// ok is false if the axes do not tell the point from another one. Rows of one point have equal ids.
func FilterOf(varying []Axis, ids []string, i int) (conditions []string, ok bool) {
	var equal [][]bool // by axis: whether a row has the value of row i
	for _, x := range varying {
		rows := make([]bool, len(ids))
		for row, value := range x.Values {
			rows[row] = value == x.Values[i]
		}
		equal = append(equal, rows)
	}
	selects := func(axes []int) bool {
		for row, id := range ids {
			if id != ids[i] && !slices.ContainsFunc(axes, func(a int) bool { return !equal[a][row] }) {
				return false
			}
		}
		return true
	}
	const most = 3
	for n := range most + 1 {
		if axes := chosen(len(varying), n, selects); axes != nil {
			return conditionsOn(varying, axes, i), true
		}
	}
	var axes []int
	for a := range varying {
		if axes = append(axes, a); selects(axes) {
			return conditionsOn(varying, axes, i), true
		}
	}
	return nil, false
}

// chosen returns the first n of some axes, in the order of their numbers, that select; nil if none do.
func chosen(axes, n int, selects func([]int) bool) []int {
	var choose func(of []int, from int) []int
	choose = func(of []int, from int) []int {
		if len(of) == n {
			if selects(of) {
				return of
			}
			return nil
		}
		for a := from; a < axes; a++ {
			if found := choose(append(slices.Clip(of), a), a+1); found != nil {
				return found
			}
		}
		return nil
	}
	return choose([]int{}, 0)
}

func conditionsOn(varying []Axis, axes []int, row int) []string {
	return term.Texts(axes, func(a int) string {
		x := &varying[a]
		return x.Name + "=" + FilterValue(x.Name, x.Values[row])
	})
}

// ShortRun returns the end of a run id, which people see and may type.
func ShortRun(id string) string {
	if len(id) <= 8 {
		return id
	}
	return id[len(id)-8:]
}

// OrUnknown returns a text, or the mark for unknown values if it is empty.
func OrUnknown(s string) string {
	if s == "" {
		return term.Unknown
	}
	return s
}

// ShortCommit returns the abbreviated id of a commit, as git shows it.
func ShortCommit(commit string) string { return commit[:min(len(commit), 7)] }

// Uncommitted is appended to a commit if the code has uncommitted changes.
const Uncommitted = " + uncommitted changes"

// UncommittedRuns is appended to a commit if the code of some of its runs, or of all, has uncommitted changes.
func UncommittedRuns(dirty, runs int) string {
	switch dirty {
	case 0:
		return ""
	case runs:
		return Uncommitted
	}
	return fmt.Sprintf(" (%s with uncommitted changes)", term.Count(dirty, "run"))
}

// HashText returns a value, abbreviated if it is a hash.
func HashText(value string) string {
	const enough = 12
	if len(value) > enough && strings.Trim(value, "0123456789abcdef") == "" {
		return value[:enough]
	}
	return OrUnknown(value)
}

// hashedFiles are prefixes of facts with the hash of a file, whose name follows, hashes are facts with the hash of something that has
// no other name, and nameOf has the facts that name what is hashed.
var (
	hashedFiles = []string{"command.sha256.", "inputs.sha256.", "session.sha256."}
	hashes      = map[string]string{
		"command.sha256": "the program", "benchmark.sha256": "the file of the benchmark", "reference.sha256": "the reference", "build.sha256": "the result of the build",
		"model_sha256": "the model", "output.sha256": "the output", "git.tree": "the working tree", "sweep.sha256": "the sweep file", "sweep.points_sha256": "the points of the sweep",
		schema.FactConfig: "a setting without a stored value (such as env)",
	}
	nameOf = map[string][]string{
		"command.sha256": {"command.path", "runner.command"}, "command.path": {"runner.command"}, "benchmark.sha256": {"runner.file"}, "model_sha256": {"model"},
		"git.tree": {changedFilesFact},
	}
)

// changedFilesFact has a line for each file that differs from the commit: a state and a path.
const changedFilesFact = "git.changed"

// withoutHashes returns differences without those whose names are among the others: the program of another path has another hash.
func withoutHashes(all []query.FactDifference) []query.FactDifference {
	differs := func(name string) bool {
		return slices.ContainsFunc(all, func(d query.FactDifference) bool { return strings.TrimPrefix(d.Name, "env.") == name })
	}
	var kept []query.FactDifference
	for _, d := range all {
		if !slices.ContainsFunc(nameOf[strings.TrimPrefix(d.Name, "env.")], differs) {
			kept = append(kept, d)
		}
	}
	return kept
}

// FactName returns the name of a fact for people. known is false if its values are hashes, which say nothing.
func FactName(fact string) (name string, known bool) {
	switch fact {
	case "command.path":
		return "program", true
	case "timer.floor_ns":
		return "the resolution of the clock in ns", true
	case "git_dirty":
		return "uncommitted changes", true
	case "runner.object":
		return "function", true
	}
	if name, is := hashes[fact]; is {
		return name, false
	}
	for _, prefix := range hashedFiles {
		if name, is := strings.CutPrefix(fact, prefix); is {
			return name, false
		}
	}
	if key, is := strings.CutPrefix(fact, "runner."); is && sweep.IsStored(key) {
		return key, true
	}
	return fact, true
}

// ChangeText says that a fact changed, and from what to what unless these are hashes.
func ChangeText(fact, from, to string) string {
	name, known := FactName(fact)
	if !known {
		return name + " changed"
	}
	return fmt.Sprintf("%s changed from %s to %s", name, from, to)
}

// Display describes the terminal and the place of the person who reads, and the stores that were named.
type Display struct {
	Width  int
	Whole  bool // names are not cut, as on a pipe
	Now    time.Time
	Stores []string
	UTC    bool // times are printed with the date and in UTC, for readers elsewhere

	Parent func(commit string) string // id of the only parent of a commit; empty if there are others, or if the repository is not at hand. nil: not known
}

// Page returns the page of the reader, without colour.
func (r Display) Page() term.Page { return term.Page{Width: r.Width, Whole: r.Whole} }

// When prints a time, in local time unless the reader is elsewhere. Anything that is not a time is unknown.
func (r Display) When(v any) string {
	t, ok := v.(time.Time)
	if !ok || t.IsZero() {
		return term.Unknown
	}
	if r.UTC {
		return t.UTC().Format("2006-01-02 15:04 UTC")
	}
	t, now := t.Local(), r.Now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return "today " + t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// Day returns the day of a time, in the zone of When.
func (r Display) Day(t *time.Time) string {
	switch {
	case t == nil:
		return term.Unknown
	case r.UTC:
		return t.UTC().Format(time.DateOnly)
	}
	return t.Local().Format(time.DateOnly)
}

// Offset returns the zone of When for the header of times: UTC, or UTC+02:00.
func (r Display) Offset() string {
	if r.UTC {
		return "UTC"
	}
	return strings.TrimSuffix("UTC"+r.Now.Local().Format("-07:00"), "+00:00")
}

// OfStores returns the flags of a command that name the stores again.
func (r Display) OfStores() string {
	words := ""
	for _, dir := range r.Stores {
		words += " --store " + term.ShellWord(dir)
	}
	return words
}

// programsFirst returns differences with those of programs before all others: a point is the same whatever its command is, so that
// nothing else on a screen says that two are compared.
func programsFirst(all []query.FactDifference) []query.FactDifference {
	place := func(d query.FactDifference) int {
		if query.IsProgram(d) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b query.FactDifference) int { return place(a) - place(b) })
	return all
}

// programTexts returns two commands as a shell reads them. Of long ones the words go that both begin with.
func programTexts(base, head string) (was, is string) {
	const long = 32 // columns of the terminal
	a, b := programWords(base), programWords(head)
	same := 0
	for same < min(len(a), len(b))-1 && a[same] == b[same] {
		same++
	}
	text := func(words []string) string {
		whole := strings.Join(words, " ")
		if term.Width(whole) > long && same > 0 {
			whole = "… " + strings.Join(words[same:], " ")
		}
		return term.Cut(whole, long)
	}
	return text(a), text(b)
}

// programWords returns the words of a command that is kept as JSON; what is no list of words is one.
func programWords(kept string) []string {
	var words []string
	if json.Unmarshal([]byte(kept), &words) != nil {
		return []string{kept}
	}
	return term.Texts(words, term.ShellWord)
}
