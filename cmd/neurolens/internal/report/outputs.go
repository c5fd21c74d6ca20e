package report

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

const (
	maxOutputs  = 6     // runs of which a page shows what they wrote
	maxTried    = 3     // runs of a reason in which something is looked for
	maxFailed   = 2_000 // runs that are looked at: the newest
	lastLines   = 12
	longestLine = 4 << 10  // B of a line that are read
	lineWidth   = 200      // columns of a line
	largestRead = 64 << 20 // B of a file that is read for its end
)

// reason is why runs failed, as a report tells causes apart.
type reason struct {
	status           schema.Status
	wrong            bool
	errorKind, error string
}

// outputs returns what failed runs wrote last, of the newest run of each reason that wrote anything.
func (a *pictureMaker) outputs(ctx context.Context) (all []Output) {
	wanted := causes(a.report.Failures)
	if a.err != nil || len(wanted) == 0 {
		return nil
	}
	var statuses []string
	for of := range wanted {
		if !slices.Contains(statuses, string(of.status)) {
			statuses = append(statuses, string(of.status))
		}
	}
	slices.Sort(statuses)
	list := query.ListRequest{Filter: filter.JoinArguments(a.report.Selection.Filter, "status="+strings.Join(statuses, ",")), Limit: maxFailed}
	runs, err := a.db.Runs(ctx, list, "run_id", "status", "stage", "error_kind", "error")
	if err != nil {
		a.err = err
		return nil
	}
	tried := map[reason]int{}
	for i := range runs {
		r := &runs[i]
		of := reason{r.Status, schema.IsWrong(r.Status, r.Stage, r.ErrorKind), r.ErrorKind, schema.Cause(r.Error)}
		at, known := wanted[of]
		if !known || tried[of] == maxTried || len(all) == maxOutputs {
			continue
		}
		tried[of]++
		what, lines, err := a.wrote(ctx, r.RunID)
		if err != nil {
			a.err = err
			return nil
		}
		if lines == "" {
			continue
		}
		tried[of] = maxTried
		short, why := views.ShortRun(r.RunID), ""
		if r.Error != "" {
			why = " (" + term.Cut(term.FirstLine(r.Error), 80) + ")"
		}
		all = append(all, Output{
			Failure: at[0], Cause: at[1], Lines: lines, Command: "neurolens show " + short + a.reader.OfStores(),
			Text: fmt.Sprintf("Run %s%s ended with this %s:", short, why, what),
		})
	}
	slices.SortStableFunc(all, func(a, b Output) int { return a.Cause - b.Cause })
	return all
}

// causes returns the reasons that a report names of runs that failed: each with its failure and its place in it.
func causes(failures []summary.Failure) map[reason][2]int {
	all := map[reason][2]int{}
	for i := range failures {
		f := &failures[i]
		if !schema.Status(f.Status).Failed() {
			continue
		}
		for k := range f.Causes {
			c := &f.Causes[k]
			all[reason{schema.Status(f.Status), f.Wrong, string(c.ErrorKind), schema.Cause(string(c.Error))}] = [2]int{i, k}
		}
	}
	return all
}

// wrote returns what a run wrote last, and where; no lines: nothing is known of it.
func (a *pictureMaker) wrote(ctx context.Context, id string) (what, lines string, err error) {
	d, err := a.db.Show(ctx, id)
	if err != nil {
		return "", "", err
	}
	for _, of := range []struct{ what, fact string }{{"stack of calls", "runner.stack"}, {"standard error", "runner.stderr_tail"}} {
		if lines := lastOf(strings.NewReader(d.Run.Env.Facts[of.fact])); lines != "" {
			return of.what, lines, nil
		}
	}
	files, err := query.Artifacts(ctx, a.db, &d.Run)
	if err != nil {
		return "", "", err
	}
	for _, of := range []struct{ what, kind string }{{"standard error", "stderr"}, {"standard output", "stdout"}} {
		for i := range files {
			f := &files[i]
			if f.Kind != of.kind || f.State != query.ArtifactStored || f.Bytes == nil || *f.Bytes > largestRead {
				continue
			}
			if lines := lastOfFile(f); lines != "" {
				return of.what, lines, nil
			}
		}
	}
	return "", "", nil
}

// lastOfFile returns the last lines of a file. One that is damaged has none: a report is no check of a store.
func lastOfFile(f *query.Artifact) string {
	content, err := f.Open()
	if err != nil {
		return ""
	}
	defer content.Close()
	whole := &ended{Reader: content}
	if lines := lastOf(whole); whole.err == io.EOF {
		return lines
	}
	return ""
}

// ended keeps how reading ended.
type ended struct {
	io.Reader
	err error
}

func (e *ended) Read(p []byte) (n int, err error) {
	n, e.err = e.Reader.Read(p)
	return n, e.err
}

// lastOf returns the last lines of a text, each cut where it is very long. Empty ones at its end are none of them.
func lastOf(text io.Reader) string {
	var lines []string
	empty := 0
	for r := bufio.NewReaderSize(text, longestLine); ; {
		line, more, err := r.ReadLine()
		if err != nil {
			break
		}
		kept := term.Cut(strings.ToValidUTF8(strings.TrimRight(string(line), " \t\r"), "�"), lineWidth)
		for more && err == nil {
			_, more, err = r.ReadLine()
		}
		if kept == "" {
			empty = min(empty+1, lastLines)
			continue
		}
		for ; empty > 0 && len(lines) > 0; empty-- {
			lines = append(lines, "")
		}
		lines, empty = append(lines, kept), 0
		lines = lines[max(len(lines)-lastLines, 0):]
	}
	return strings.TrimLeft(strings.Join(lines, "\n"), "\n")
}
