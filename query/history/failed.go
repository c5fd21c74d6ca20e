package history

import (
	"database/sql/driver"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// pointOn is a point on a machine.
type pointOn struct{ point, machine string }

// failedIn is a failed run of a point on a machine.
type failedIn struct {
	metric  string // empty if unknown
	session int32  // index of the interned text
	began   int64  // start of the run in Unix microseconds
	wrong   bool   // its result is wrong
}

// addFailed adds a failed run; the row has the same columns as the argument of add.
func (h *historian) addFailed(row []driver.Value) {
	h.Failed++
	of, session := pointOn{duck.Text(row[0]), duck.Text(row[1])}, duck.Text(row[5])
	f := failedIn{metric: duck.Text(row[2]), session: h.sessions.place(session), wrong: row[12] == true}
	f.began, _ = startOf(row[7], session)
	h.failed[of] = append(h.failed[of], f)
}

// dropWrong drops the values of a point in every session in which one of its runs had a wrong result: a fast but wrong run
// must not look like an improvement.
func (h *historian) dropWrong() {
	wrong := map[pointOn]map[int32]bool{}
	for of, all := range h.failed {
		for _, f := range all {
			if f.wrong && wrong[of] == nil {
				wrong[of] = map[int32]bool{}
			}
			if f.wrong {
				wrong[of][f.session] = true
			}
		}
	}
	if len(wrong) == 0 {
		return
	}
	for _, l := range h.byKey {
		sessions := wrong[l.pointOn()]
		l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return sessions[e.session] })
	}
}

// okSessions returns the sessions with at least one ok run, for each point that has failed runs. The run need not have a value.
func (h *historian) okSessions() map[pointOn]map[int32]bool {
	ok := make(map[pointOn]map[int32]bool, len(h.failed))
	for of := range h.failed {
		ok[of] = map[int32]bool{}
	}
	for _, l := range h.byKey {
		if sessions := ok[l.pointOn()]; sessions != nil {
			for _, e := range l.entries {
				sessions[e.session] = true
			}
		}
	}
	return ok
}

// failedSince counts the sessions after the last value of a series in which all runs of its point failed. A failed run counts for
// the series of its metric or, if its metric is unknown, for all series of the point.
func (h *historian) failedSince(l *line, ok map[int32]bool) int {
	last := l.entries[len(l.entries)-1]
	sessions := map[int32]bool{}
	for _, f := range h.failed[l.pointOn()] {
		if f.began > last.began && !ok[f.session] && (f.metric == "" || f.metric == l.metric) {
			sessions[f.session] = true
		}
	}
	return len(sessions)
}

func (l *line) pointOn() pointOn { return pointOn{l.point, l.machine} }

// notTried are the statuses of runs that do not show whether their point still works, because they did not run to their end.
var notTried = []string{
	string(schema.StatusUnsupported), string(schema.StatusSkipped), string(schema.StatusCancelled), string(schema.StatusLost),
}
