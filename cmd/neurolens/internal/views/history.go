package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/history"
)

// History shows a history to people.
type History struct {
	Reader Reader
	H      *history.History
	Req    history.Request
	Facts  query.FactWriter // what is known of the facts in which sessions differ
	Gate   string           // the last line of a gate; empty: there is none
}

// View is the full form of one series, a line each of several, and of changes for the worse a line each.
func (w History) View() term.View {
	switch {
	case len(w.H.Series) == 0 && w.Gate != "":
		return term.View{Below: append(w.nothing(), w.Gate)}
	case len(w.H.Series) == 0:
		return term.View{Below: w.nothing()}
	case w.Req.Regressions:
		return w.regressions()
	case len(w.H.Series) == 1:
		return w.one(w.H.Series[0])
	}
	return w.several()
}

// HistoryGateLine is the last line of a gate over so many newest sessions, which ends with an exit status.
func HistoryGateLine(g history.Gate, newest, exit int) string {
	var parts []string
	switch {
	case g.Regressed > 0 && g.Failing > 0:
		parts = append(parts, fmt.Sprintf("%s regressed (%s of them failing)", counted(g.Regressed, "series"), term.Thousands(g.Failing)))
	case g.Regressed > 0:
		parts = append(parts, counted(g.Regressed, "series")+" regressed")
	}
	if g.Inconclusive > 0 {
		inconclusive := counted(g.Inconclusive, "series") + " inconclusive"
		if g.Undated > 0 {
			inconclusive += fmt.Sprintf(" (%s of them have runs without a start time)", term.Thousands(g.Undated))
		}
		parts = append(parts, inconclusive)
	}
	switch {
	case g.Short == g.Series:
		parts = append(parts, fmt.Sprintf("nothing to decide: no series has %d sessions", history.MinSessions))
	case len(parts) == 0:
		parts = append(parts, "no regression found in "+counted(g.Series-g.Short, "series"))
	}
	return fmt.Sprintf("gate: newest %d sessions: %s (exit %d)", newest, strings.Join(parts, "; "), exit)
}

// nothing says why there is nothing to show.
func (w History) nothing() []string {
	switch {
	case w.H.Known > 0 && w.Req.Regressions && w.H.Few == w.H.Known && w.Req.Method != history.Otava:
		return []string{fmt.Sprintf("none of %s could be checked: fewer than %d %ss", counted(w.H.Known, "series"), history.MinSessions, w.noun())}
	case w.H.Known > 0 && w.Req.Regressions:
		lines := []string{"no regression" + w.since() + " in " + counted(w.H.Known, "series")}
		return slices.Concat(lines, w.inconclusiveSeries(), w.fewSessions(w.H.Few))
	case w.H.Known > 0:
		return append([]string{"no ok run" + w.since()}, w.discontinued()...)
	case w.H.Failed > 0 && w.H.Failed == w.H.Requests:
		return []string{w.failedRequests()}
	case w.H.Failed > 0 && w.H.NoValue == 0:
		return []string{term.Count(w.H.Failed, "run") + " failed, and none is ok"}
	case w.H.NoValue > 0:
		return []string{term.Count(w.H.NoValue, "ok run") + " without a value of " + OrUnknown(w.Req.Metric)}
	}
	return []string{"no run matches"}
}

// undated says what was left out for want of an order.
func (w History) undated() string {
	return "left out, in no order: " + history.NoStart(w.H.Undated)
}

// failedRequests counts the runs that are left out because requests failed.
func (w History) failedRequests() string {
	return term.Count(w.H.Requests, "run") + " left out: more requests failed than allow_failed allows"
}

// discontinued counts the series that have nothing to show because all that is newer failed.
func (w History) discontinued() []string {
	if w.H.Discontinued == 0 {
		return nil
	}
	return []string{counted(w.H.Discontinued, "series") + " with an older last value, failing since"}
}

// since is the bound that was asked for, in local time.
func (w History) since() string {
	if w.Req.Since.IsZero() {
		return ""
	}
	return " since " + w.Req.Since.Local().Format("2006-01-02 15:04")
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
