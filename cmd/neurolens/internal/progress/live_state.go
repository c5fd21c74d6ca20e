package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/schema"
)

// liveState is what the live view shows.
type liveState struct {
	done, launches int
	statuses       map[schema.Status]int
	left           time.Duration // of the session; not positive where it is not known

	preparing         string // what is done before something can run; empty where something does
	name              string // of what runs now; empty between two runs
	repeat            int    // from 1; 0 where it is none
	repeats           int
	stage             schema.Stage
	iterations, total int           // of the stage; total is 0 where that is not known
	elapsed           time.Duration // in the stage

	last []liveResult // the newest first
}

type liveResult struct{ name, text string }

// view shows the state in at most so many columns.
func (s liveState) view(columns int, color bool) []string {
	paint := func(code, text string) string {
		if !color {
			return text
		}
		return code + text + term.Plain
	}
	width := 0
	names := []string{s.name}
	for _, r := range s.last {
		names = append(names, r.name)
	}
	for _, name := range names {
		width = max(width, ansi.StringWidth(name))
	}
	lines := []string{s.barLine(columns, paint)}
	if s.preparing != "" {
		lines = append(lines, term.Gap+paint(term.Cyan, "now ")+term.Gap+s.preparing+s.elapsedText())
	} else if s.name != "" {
		lines = append(lines, term.Gap+paint(term.Cyan, "now ")+term.Gap+s.nowText(columns-len("  now   "), width))
	}
	for i, r := range s.last {
		label := "last"
		if i > 0 {
			label = "    "
		}
		lines = append(lines, term.Gap+label+term.Gap+term.Pad(r.name, width, false)+term.Gap+r.text)
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, columns, "…")
	}
	return lines
}

// barLine is the bar with the counts of the session. Where there is little room, words go from the end; what is left
// over is the bar's.
func (s liveState) barLine(columns int, paint func(code, text string) string) string {
	parts := []string{fmt.Sprintf("%s/%s", term.Thousands(s.done), term.Thousands(s.launches))}
	if s.left > 0 {
		parts = append(parts, clockText(s.left)+" left")
	}
	failed := 0
	for status, n := range s.statuses {
		if status.Failed() {
			failed += n
		}
	}
	if failed > 0 {
		parts = append(parts, paint(term.Red, term.Thousands(failed)+" failed"))
	}
	for _, status := range []schema.Status{schema.StatusUnsupported, schema.StatusSkipped} {
		if n := s.statuses[status]; n > 0 {
			parts = append(parts, term.Thousands(n)+" "+string(status))
		}
	}
	words := strings.Join(parts, term.Gap)
	for ; len(parts) > 1 && ansi.StringWidth(term.Gap+words) > columns; words = strings.Join(parts, term.Gap) {
		parts = parts[:len(parts)-1]
	}
	const least, most = 8, 33
	room := columns - 2*len(term.Gap) - ansi.StringWidth(words)
	if room < least {
		return term.Gap + words
	}
	return term.Gap + bar(s.fraction(), min(room, most)) + term.Gap + words
}

// fraction is how much of the session is done, with the iterations of the run that is being measured.
func (s liveState) fraction() float64 {
	done := float64(s.done)
	if s.name != "" && s.stage == schema.StageMeasure && s.total > 0 {
		done += float64(s.iterations) / float64(s.total)
	}
	return done / float64(max(s.launches, 1))
}

// bar is a bar of so many columns, filled to an eighth of a column.
func bar(fraction float64, width int) string {
	eighths := min(max(int(fraction*float64(width)*8), 0), 8*width)
	text := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return text + strings.Repeat("░", width-ansi.StringWidth(text))
}

// nowText is what runs now. Where there is little room the repeat goes first, then the time it takes.
func (s liveState) nowText(columns, width int) string {
	name, repeat, stage, elapsed := term.Pad(s.name, width, false), "", term.Gap+string(s.stage), s.elapsedText()
	switch {
	case s.repeat > 0 && s.repeat <= s.repeats:
		repeat = fmt.Sprintf("%srepeat %d/%d", term.Gap, s.repeat, s.repeats)
	case s.repeat > 0:
		repeat = fmt.Sprintf("%srepeat %d", term.Gap, s.repeat)
	}
	switch {
	case s.total > 0:
		stage += fmt.Sprintf(" %s/%s", term.Thousands(s.iterations), term.Thousands(s.total))
	case s.iterations > 0:
		stage += " " + term.Thousands(s.iterations)
	}
	for _, text := range []string{name + repeat + stage + elapsed, name + stage + elapsed} {
		if ansi.StringWidth(text) <= columns {
			return text
		}
	}
	return name + stage
}

// elapsedText is the time in the stage, after a gap; empty at its beginning.
func (s liveState) elapsedText() string {
	if s.elapsed < time.Second {
		return ""
	}
	return term.Gap + clockText(s.elapsed)
}

// clockText is a time that passes, to the second: 14 s, 3 min 20 s, 1 h 05 min.
func clockText(d time.Duration) string {
	seconds := int(d.Round(time.Second) / time.Second)
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", max(seconds, 1))
	case seconds < 3600:
		return fmt.Sprintf("%d min %02d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%s h %02d min", term.Thousands(seconds/3600), seconds%3600/60)
}
