package chartdata

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

const (
	maxMarked   = 8   // things that were said of sessions, in a chart: more lines hide what is measured
	markedWidth = 28  // columns of one beside its line
	panelWidth  = 15  // columns of one in one of several panels
	notedWidth  = 100 // columns of one below the chart
	noteWidth   = 280 // columns of a note, which a page shows whole
)

// marked are the sessions of a chart about which something was said.
type marked struct {
	Maker
	all   []query.Annotation  // the newest that are drawn, the oldest first
	of    int                 // how many there are in the time that is drawn
	texts map[string][]string // all that was said of a session, by its id

	failed []schema.Run // the newest first
}

// markedSessions returns the marked sessions between the first and the last session of trends, failed ones too.
func (m Maker) markedSessions(trends []*trend, failed []schema.Run, said []query.Annotation) marked {
	drawn := map[string]bool{}
	var first, last time.Time
	take := func(session string, at time.Time) {
		drawn[session] = true
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	for _, t := range trends {
		for i := range t.rows {
			take(t.rows[i].SessionID, startOf(&t.rows[i]))
		}
	}
	for i := range failed {
		if slices.ContainsFunc(trends, func(t *trend) bool { return t.failedIn(&failed[i]) }) {
			take(failed[i].SessionID, beganOf(&failed[i]))
		}
	}
	all := slices.DeleteFunc(slices.Clone(said), func(a query.Annotation) bool {
		return !drawn[a.SessionID] && (a.At.Before(first) || a.At.After(last))
	})
	k := marked{Maker: m, of: len(all), texts: map[string][]string{}, failed: failed}
	for _, a := range all {
		k.texts[a.SessionID] = append(k.texts[a.SessionID], saidOf(a, notedWidth))
	}
	k.all = all[max(len(all)-maxMarked, 0):]
	return k
}

// guides returns lines at the marked sessions, each at the mark of a series where it has one. Their names have so many columns.
func (k *marked) guides(t *trend, width int) (all []chart.Guide) {
	at := map[string]float64{}
	for i := range k.failed {
		if r := &k.failed[i]; at[r.SessionID] == 0 && t.failedIn(r) {
			at[r.SessionID] = seconds(beganOf(r))
		}
	}
	for i := range t.rows {
		at[t.rows[i].SessionID] = seconds(startOf(&t.rows[i]))
	}
	for _, a := range k.all {
		place := cmp.Or(at[a.SessionID], seconds(a.At))
		all = append(all, chart.Guide{Along: chart.Vertical, At: place, Until: place, Text: saidOf(a, width), Noted: true})
	}
	return all
}

// notes say in words what the lines are, some in each.
func (k *marked) notes() (all []string) {
	if len(k.all) == 0 {
		return nil
	}
	line := "vertical lines mark sessions with a note, a tag or a release (neurolens note, neurolens tag): "
	if k.of > len(k.all) {
		line = fmt.Sprintf("vertical lines mark the newest %d of %s notes, tags and releases: ", len(k.all), term.Thousands(k.of))
	}
	for i, a := range k.all {
		part := k.when(a.At) + " " + saidOf(a, notedWidth)
		switch {
		case i == 0:
			line += part
		case term.Width(line)+term.Width(part) > noteWidth:
			all, line = append(all, line), "and "+part
		default:
			line += "; " + part
		}
	}
	return append(all, line)
}

// saidOf returns what was said of a session, in at most so many columns.
func saidOf(a query.Annotation, width int) string {
	text := term.OneLine(a.Text)
	switch a.Kind {
	case query.Release:
		text = "release " + text
	case query.Tag:
		text = term.OneLine(a.Key) + "=" + text
	case query.Note:
		text = "note: " + text
	}
	return term.Cut(text, width)
}
