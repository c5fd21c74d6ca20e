package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query/history"
)

// historyWriter shows a history to people.
type historyWriter struct {
	reader wording.Reader
	h      *history.History
	req    history.Request
	gate   string // the last line of a gate; empty: there is none
}

// view is the full form of one series, a line each of several, and of changes for the worse a line each.
func (w historyWriter) view() term.View {
	switch {
	case len(w.h.Series) == 0 && w.gate != "":
		return term.View{Below: append(w.nothing(), w.gate)}
	case len(w.h.Series) == 0:
		return term.View{Below: w.nothing()}
	case w.req.Regressions:
		return w.regressions()
	case len(w.h.Series) == 1:
		return w.one(w.h.Series[0])
	}
	return w.several()
}

// historyGateText is the last line of a gate over so many newest sessions, which ends with an exit status.
func historyGateText(g history.Gate, newest, exit int) string {
	var parts []string
	switch {
	case g.Regressed > 0 && g.Failing > 0:
		parts = append(parts, fmt.Sprintf("%s regressed (%s of them failing)", counted(g.Regressed, "series"), term.Thousands(g.Failing)))
	case g.Regressed > 0:
		parts = append(parts, counted(g.Regressed, "series")+" regressed")
	}
	if g.Unsettled > 0 {
		parts = append(parts, counted(g.Unsettled, "series")+" unsettled")
	}
	switch {
	case g.Short == g.Series:
		parts = append(parts, fmt.Sprintf("nothing to decide: no series has %d sessions", history.Least))
	case len(parts) == 0:
		parts = append(parts, "no regression found in "+counted(g.Series-g.Short, "series"))
	}
	return fmt.Sprintf("gate: newest %d sessions: %s (exit %d)", newest, strings.Join(parts, "; "), exit)
}

// nothing says why there is nothing to show.
func (w historyWriter) nothing() []string {
	switch {
	case w.h.Known > 0 && w.req.Regressions:
		return append([]string{"no regression" + w.since() + " in " + counted(w.h.Known, "series")}, w.unsettledSeries()...)
	case w.h.Known > 0:
		return append([]string{"no ok run" + w.since()}, w.gone()...)
	case w.h.Failed > 0 && w.h.Useless+w.h.Unplaced == 0:
		return []string{term.Count(w.h.Failed, "run") + " failed, and none is ok"}
	case w.h.Unplaced > 0:
		return []string{w.unplaced()}
	case w.h.Useless > 0:
		return []string{term.Count(w.h.Useless, "ok run") + " without a value of " + wording.OrUnknown(w.req.Metric)}
	}
	return []string{"no run matches"}
}

// unplaced says what was left out for want of an order.
func (w historyWriter) unplaced() string {
	return "left out: " + term.Count(w.h.Unplaced, "ok run") + " of which neither started_at nor session_id is known"
}

// gone counts the series that have nothing to show because all that is newer failed.
func (w historyWriter) gone() []string {
	if w.h.Gone == 0 {
		return nil
	}
	return []string{counted(w.h.Gone, "series") + " with an earlier last value, failing since"}
}

// since is the bound that was asked for, in local time.
func (w historyWriter) since() string {
	if w.req.Since.IsZero() {
		return ""
	}
	return " since " + w.req.Since.Local().Format("2006-01-02 15:04")
}

// counted is count for what has no plural of its own.
func counted(n int, noun string) string { return term.Thousands(n) + " " + noun }

// began is the day on which a session started, in local time.
func began(started *time.Time) string {
	if started == nil {
		return term.Unknown
	}
	return started.Local().Format(time.DateOnly)
}
