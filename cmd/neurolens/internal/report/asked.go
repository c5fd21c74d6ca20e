package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
)

// lastSession is what is reported where nobody says it.
const lastSession = "session=last"

// Asked is what the command line says of a report.
type Asked struct {
	MD, JSON string   // files, or - for standard output
	HTML     string   // likewise
	Format   string   // --format; empty: not given
	Baseline string   // AXIS=VALUE
	Against  string   // the filter of the base; empty: not given
	By       []string // keys of groups
	Metrics  []string // each once
	All      bool     // all runs, not those of the last session
}

// Request makes a request of it and of the words of a filter, and settles where the forms go. Its errors are the asker's to mend.
func (a *Asked) Request(words []string) (summary.Request, error) {
	base, head, err := a.sides(words)
	req := summary.Request{Base: base, Filter: head, By: a.By, Metrics: a.Metrics}
	switch {
	case err != nil:
		return req, err
	case a.All && len(words) > 0:
		return req, fmt.Errorf("report: --all takes no filter, got %q", req.Filter)
	case a.MD == "-" && a.JSON == "-" || a.HTML == "-" && (a.MD == "-" || a.JSON == "-"):
		return req, errors.New("report: only one of --md -, --json - and --html - can be standard output")
	case a.Format != "" && a.Format != term.FormatMD && a.Format != term.FormatJSON:
		return req, fmt.Errorf("report: --format %s: want md or json", a.Format)
	}
	if !a.All && strings.TrimSpace(req.Filter) == "" {
		req.Filter = lastSession
	}
	if a.Baseline != "" {
		axis, value, found := strings.Cut(a.Baseline, "=")
		if !found || axis == "" || value == "" {
			return req, fmt.Errorf("--baseline %q: want AXIS=VALUE", a.Baseline)
		}
		req.Axis, req.Reference = axis, filter.QuoteWord(value)
	}
	switch {
	case a.MD != "" || a.JSON != "" || a.HTML != "":
	case a.Format == term.FormatJSON:
		a.JSON = "-"
	default:
		a.MD = "-"
	}
	return req, nil
}

// Write writes the forms of a document that are texts, where they were asked for. It says on stderr which files there are now, that of the page
// too.
func (a *Asked) Write(d *Document, stdout, stderr io.Writer) error {
	if err := WriteForm(a.JSON, stdout, d.json); err != nil {
		return err
	}
	if err := WriteForm(a.MD, stdout, d.markdown); err != nil {
		return err
	}
	for _, path := range []string{a.HTML, a.JSON, a.MD} {
		if path != "" && path != "-" {
			fmt.Fprintln(stderr, term.OneLine(path+": report of "+term.Count(d.Counts.Runs, "run")))
		}
	}
	return nil
}

// sides are the filters of the base, if there is one, and of the runs that are reported: --against names the base, and so do two
// arguments as compare takes them, which no run can match both.
func (a *Asked) sides(words []string) (base, head string, err error) {
	switch base, head, err = filter.TwoSides(a.Against, words); {
	case err != nil:
		return "", "", fmt.Errorf("report: %w", err)
	case base == "":
	case a.All:
		return "", "", errors.New("report: --all is one selection: want a filter for each side")
	case a.Baseline != "":
		return "", "", fmt.Errorf("report: --baseline %s and two selections: want one of them", term.OneLine(a.Baseline))
	}
	return base, head, nil
}

// Sessions names the newest sessions of a request by their ids: what a report says, and its commands, are true of them when there are
// newer ones.
func (a *Asked) Sessions(ctx context.Context, db *query.DB, req *summary.Request) error {
	for _, text := range []*string{&req.Base, &req.Filter} {
		lasting, err := db.Lasting(ctx, *text)
		if err != nil {
			return err
		}
		*text = lasting
	}
	return nil
}
