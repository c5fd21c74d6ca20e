package progress

import (
	"fmt"
	"io"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner/sweep"
)

// Discovered says which files a sweep runs, and why it leaves others that discover looked at.
func Discovered(w io.Writer, s *sweep.Sweep) {
	said := map[string]bool{}
	for _, points := range [][]sweep.Point{s.Points, s.Skipped} {
		for i := range points {
			p := &points[i]
			line := fmt.Sprintf("runs %s", p.Benchmark)
			if p.Variant != "" {
				line += " " + p.Variant
			}
			if p.File != "" {
				line += ": " + p.File
			} else if len(p.Command) > 0 {
				line += ": " + p.Command[0]
			}
			if p.Fault != "" {
				line += ": " + p.Fault
			}
			if !said[line] {
				said[line] = true
				fmt.Fprintln(w, term.OneLine(line))
			}
		}
	}
	for _, left := range s.Left {
		fmt.Fprintln(w, term.OneLine(fmt.Sprintf("left %s: %s", left.File, left.Reason)))
	}
}

// Note writes what is worth a word before a session; an empty text is nothing.
func Note(w io.Writer, text string) {
	if text != "" {
		fmt.Fprintln(w, term.OneLine("neurolens: "+text))
	}
}

// LeastRepeats is the smallest number of repeats that a point has, apart from controls.
func LeastRepeats(s *sweep.Sweep) int {
	least := s.Repeats
	for i := range s.Points {
		if p := &s.Points[i]; !p.Control {
			least = min(least, p.Repeats)
		}
	}
	return least
}

// lostText says that discover has left files that are named like benchmarks; empty: none.
func lostText(s *sweep.Sweep) string {
	var files []string
	for _, left := range s.Left {
		if left.Near {
			files = append(files, left.File)
		}
	}
	switch len(files) {
	case 0:
		return ""
	case 1:
		return term.OneLine("not run, though named like a benchmark: " + files[0] + "; --verbose says why")
	}
	return term.OneLine(fmt.Sprintf("not run, though named like benchmarks: %s and %s more; --verbose says why", files[0], term.Thousands(len(files)-1)))
}
