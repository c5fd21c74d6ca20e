package views

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/schema"
)

// maxFailedPoints is how many failed points, and commands about them, stand above a listing.
const maxFailedPoints = 3

// Failed returns a table of points with failed runs: each with the reason, and the commands that measure only these points again. more means
// that there are older failed runs.
func Failed(points []query.NewestPoint, more bool, stores []string) term.View {
	subjects := make([]Subject, len(points))
	for i := range points {
		subjects[i] = subjectOf(query.ListedRunOf(&points[i].Run))
	}
	_, varying := Axes(subjects, RunColumns)
	common := func(name string) bool {
		return slices.Contains([]string{"suite", "benchmark", "machine"}, name) && !slices.ContainsFunc(varying, func(x Axis) bool { return x.Name == name })
	}
	v := term.View{Columns: []term.Column{{Header: "FAILED"}, {Header: "RUNS", Right: true}, {Header: "STATUS"}, {Header: "ERROR"}}}
	for i, p := range points[:min(len(points), maxFailedPoints)] {
		run := &p.Run
		name, _ := AxesBut(subjects[i:i+1], RunColumns, common)
		v.Rows = append(v.Rows, []term.Cell{
			{Text: cmp.Or(strings.Join(name, " "), run.Benchmark, run.Suite)},
			{Text: term.Thousands(p.Runs)},
			{Text: Ended(run.Status, schema.IsWrong(run.Status, run.Stage, run.ErrorKind)), Failed: true},
			{Text: schema.WithoutProcess(term.FirstLine(run.Error))},
		})
	}
	if others := len(points) - maxFailedPoints; others > 0 {
		v.Below = append(v.Below, "and "+term.Count(others, "more point"))
	}
	if more {
		v.Below = append(v.Below, fmt.Sprintf("only the newest %s failed runs are counted", term.Thousands(query.MaxFailed)))
	}
	commands, moved := againCommands(points, stores, failedTimes)
	label := "next  "
	if moved != "" {
		v.Below, label = append(v.Below, fmt.Sprintf("%s is not here; with its path in the place of this name, this measures again what failed:", moved), ""), "      "
	}
	for _, command := range commands[:min(len(commands), maxFailedPoints)] {
		v.Next = append(v.Next, label+command)
		label = "      "
	}
	if more := len(commands) - maxFailedPoints; more > 0 {
		v.Next = append(v.Next, label+"and "+term.Count(more, "more command")+" for the other points: a filter chooses them")
	}
	if len(v.Below) > 0 && moved == "" && len(v.Next) > 0 {
		v.Below = append(v.Below, "")
	}
	return v
}

// Again returns the commands that measure failed points once more, as Failed does; nil where these are many, there are older failed runs, or
// a sweep file is not where they look for it.
func Again(points []query.NewestPoint, more bool, stores []string) []string {
	commands, moved := againCommands(points, stores, failedTimes)
	if len(commands) > maxFailedPoints || more || moved != "" {
		return nil
	}
	return commands
}

// Enough returns the command that measures points often enough for a verdict; empty where there are several, more runs, or a sweep file is not
// where it looks for it.
func Enough(points []query.NewestPoint, more bool, stores []string) string {
	times := func(*query.NewestPoint) []string { return []string{"--repeats", strconv.Itoa(EnoughRepeats)} }
	commands, moved := againCommands(points, stores, times)
	if len(commands) != 1 || more || moved != "" {
		return ""
	}
	return commands[0]
}

// failedTimes returns the options that say how often a point with failed runs is measured again.
func failedTimes(p *query.NewestPoint) []string {
	run := &p.Run
	if run.Env.Facts["sweep.file"] != "" && p.Against == "" && run.RepeatIndex != nil {
		return []string{"--repeats", strconv.FormatInt(*run.RepeatIndex+1, 10), "--rerun", "failed"}
	}
	return []string{"--repeats", "1"}
}

// againCommands returns the commands that measure points again, with the options that times returns of each, points that differ in the value of one axis in one command, and the
// sweep file that is not where they look for it.
func againCommands(points []query.NewestPoint, stores []string, times func(*query.NewestPoint) []string) (commands []string, moved string) {
	var lines [][]string
	for i := range points {
		run := &points[i].Run
		line := reproduceWords(run, points[i].Against, stores, times(&points[i]))
		if line == nil {
			continue
		}
		lines = append(lines, line)
		moved = cmp.Or(movedSweep(run), moved)
	}
	for before := 0; before != len(lines); { // the values of one axis, and then of each other one
		before = len(lines)
		lines = mergedLines(lines)
	}
	return term.Texts(lines, func(l []string) string { return term.ShellLine(l...) }), moved
}

// movedSweep returns the sweep file of a run if it is not where it was measured; empty if it is there, or unknown.
func movedSweep(run *schema.Run) string {
	file := shellwords.FromUTF8(run.Env.Facts["sweep.file"])
	if _, err := os.Stat(file); file == "" || err == nil {
		return ""
	}
	return file
}

// mergedLines merges the lines that differ in the value of one axis.
func mergedLines(lines [][]string) (fewer [][]string) {
	for _, line := range lines {
		if !slices.ContainsFunc(fewer, func(l []string) bool { return merged(l, line) }) {
			fewer = append(fewer, line)
		}
	}
	return fewer
}

// merged adds the values of an axis, or the targets, in a command line to another one, and reports whether the two differ in nothing else.
func merged(line, other []string) bool {
	if slices.Contains(line, "--") || len(line) != len(other) {
		return slices.Equal(line, other)
	}
	at := -1
	for i := range line {
		if line[i] == other[i] {
			continue
		}
		if at >= 0 {
			return false
		}
		at = i
	}
	if at < 0 {
		return true
	}
	axis := ""
	switch line[at-1] {
	case "-P":
		name, _, _ := strings.Cut(line[at], "=")
		axis = name + "="
	case "--targets":
	default:
		return false
	}
	value, same := strings.CutPrefix(other[at], axis)
	if !same {
		return false
	}
	if !slices.Contains(strings.Split(line[at], ","), axis+value) && !slices.Contains(strings.Split(line[at], ",")[1:], value) {
		line[at] += "," + value
	}
	return true
}
