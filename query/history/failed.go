package history

import (
	"database/sql/driver"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// pointOn is a point on a machine.
type pointOn struct{ point, machine string }

// failedIn is a session in which a run of a point on a machine failed.
type failedIn struct {
	metric  string // empty where the run does not tell
	session int32  // place among texts
	began   int64  // start of the run in Unix microseconds
	wrong   bool   // its result is wrong
}

// addFailed takes in a run that failed: a row as of add.
func (h *historian) addFailed(row []driver.Value) {
	h.Failed++
	of, session := pointOn{duck.Text(row[0]), duck.Text(row[1])}, duck.Text(row[5])
	f := failedIn{metric: duck.Text(row[2]), session: h.sessions.place(session), wrong: row[11] == true}
	f.began, _ = startOf(row[7], session)
	h.failed[of] = append(h.failed[of], f)
}

// dropWrong drops what the points have of sessions in which the result of one of their runs was wrong: they are no win.
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

// okSessions are the sessions with an ok run of each point that failed at some time, also if it has no value.
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

// failedSince counts the sessions after the last value of a series in which runs of its point failed and none was ok. A
// failed run counts for the series of its metric, and where it tells none for each.
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

// notTried are the statuses of runs that do not say whether their point still works: it was not tried, or not to its end.
var notTried = []string{
	string(schema.StatusUnsupported), string(schema.StatusSkipped), string(schema.StatusCancelled), string(schema.StatusLost),
}
