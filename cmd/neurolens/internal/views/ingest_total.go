package views

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
)

// leftOut explains once why things were left out.
func (r IngestReport) leftOut() []string {
	files := make([]*foreign.Report, len(r.Files))
	for i := range r.Files {
		files[i] = &r.Files[i].Report
	}
	var lines []string
	for _, left := range foreign.LeftOuts(files...) {
		lines = append(lines, fmt.Sprintf("%s left out: %s", term.Thousands(left.N), left.Why))
	}
	return lines
}

// notes says once what runs of the files lack.
func (r IngestReport) notes() []string {
	all := foreign.Report{}
	for _, one := range r.Files {
		for what, n := range one.Notes {
			if all.Notes == nil {
				all.Notes = map[string]int{}
			}
			all.Notes[what] += n
		}
	}
	return noted(&all)
}

// Times are lines about runs without a start, about runs that got one, and about files that count as equal for want of one.
func (r IngestReport) Times() (lines []string) {
	runs, files, known, example := 0, 0, 0, ""
	for _, one := range r.Files {
		if one.Undated > 0 {
			runs, files = runs+one.Undated, files+1
		}
		if name := otherName(one); name != "" {
			if known++; known == 1 {
				example = fmt.Sprintf("%s is stored as %s", one.Name, name)
			}
		}
	}
	if known > 0 {
		lines = append(lines, fmt.Sprintf("%s stored under another name: %s; --at keeps equal files of different times apart", term.Count(known, "file")+" already", term.OneLine(example)))
	}
	if r.Stored.Replaced > 0 {
		lines = append(lines, term.Count(r.Stored.Replaced, "run")+" replaced: the same runs are stored with their start time now")
	}
	if runs > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s without a start time: history, gates and session=last leave them out; give it with --at TIME, name, path, mtime or commit",
			term.Count(runs, "run"), term.Count(files, "file")))
	}
	return lines
}

// otherName is the name under which the whole content of a file is already stored; empty if there is no other.
func otherName(r ingest.FileReport) string {
	if !r.AllKnown() || r.Path == "" || r.KnownName == r.Path {
		return ""
	}
	return r.KnownName
}

// total is the line that counts everything.
func (r IngestReport) total() string {
	states := map[ingest.FileState]int{}
	samples, runs, refused := int64(0), 0, 0
	for _, one := range r.Files {
		states[one.State]++
		runs += one.Runs
		samples += one.Samples
		refused += one.Refused
	}
	line := term.Count(len(r.Files)-states[ingest.FileIsStore], "file")
	for _, p := range []struct {
		state ingest.FileState
		words string
	}{{ingest.FileSide, "beside others"}, {ingest.FileUnknown, "not recognised"}, {ingest.FileFailed, "not read"}} {
		if n := states[p.state]; n > 0 {
			line += fmt.Sprintf(", %s %s", term.Thousands(n), p.words)
		}
	}
	if r.DryRun {
		line += fmt.Sprintf(" · %s; nothing was stored (--dry-run)", term.Count(runs-r.Known, "run"))
	} else {
		line += " · " + r.StoredText()
	}
	line += " · " + term.Count(int(samples), "sample")
	if sessions := r.sessions(); len(sessions) > 0 {
		line += " · " + sessionsText(sessions)
	}
	if refused > 0 {
		line += fmt.Sprintf(" · %s refused", term.Count(refused, "record"))
	}
	return line
}

// sessions are how many runs of each were read.
func (r IngestReport) sessions() map[string]int {
	all := map[string]int{}
	for _, one := range r.Files {
		for id, n := range one.RunsOf {
			all[id] += n
		}
	}
	return all
}

// sessionsText counts sessions, of which the runs are given; those of the empty one are of none that is known.
func sessionsText(runs map[string]int) string {
	homeless, known := runs[""], len(runs)
	if homeless == 0 {
		return term.Count(known, "session")
	}
	unknown := "unknown for " + term.Count(homeless, "run")
	if known == 1 {
		return "session " + unknown
	}
	return term.Count(known-1, "session") + ", " + unknown
}

// StoredText says what came of the runs of files.
func (r IngestReport) StoredText() string {
	text := term.Count(r.Stored.Added, "run") + " stored"
	if r.Stored.Skipped > 0 {
		text += fmt.Sprintf(", %s already there", term.Thousands(r.Stored.Skipped))
	}
	if r.Stored.Differing > 0 {
		text += fmt.Sprintf(" (%s differ in values or session, and were not changed)", term.Thousands(r.Stored.Differing))
	}
	if r.Known > 0 && r.Tagged {
		text += " (with their old tags: neurolens tag adds others)"
	}
	return text
}
