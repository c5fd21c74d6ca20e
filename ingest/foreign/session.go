package foreign

import (
	"maps"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// fileSessions are the sessions of a file. A file of one invocation is one session. In a log, to which invocations append,
// they are what it names, else the days (UTC) of each machine: taken for one session, what a machine differs by from day to
// day would look like a change. A run of a log that says neither when it began nor in which session is of none that is known.
type fileSessions struct {
	log   bool
	only  string            // of a file that is no log
	named map[string]string // by their names
	days  map[machineDay]string
}

// machineDay is a day on a machine.
type machineDay struct {
	machine string
	begins  int64 // in Unix seconds, at midnight UTC
}

func newFileSessions(log bool) fileSessions {
	return fileSessions{log: log, named: map[string]string{}, days: map[machineDay]string{}}
}

// of is the session of a run, empty where it is not known. A session has its id from the first of its runs, of which
// seed is one of a kind, so that it keeps it when more is appended to the file.
func (s *fileSessions) of(r *schema.Run, seed string) string {
	first := func(at time.Time) string { return schema.ULIDFrom(at, bits("session", seed)).String() }
	switch {
	case r.SessionID != "":
		if id, ok := sessionULID(r); ok {
			return id
		}
		name, at := r.SessionID, r.StartedAt
		r.Env.Facts = maps.Clone(r.Env.Facts)
		SetFact(r, schema.FactSession, name)
		if s.named[name] == "" {
			if at.IsZero() { // no time is known, but sessions sort by their ids: in the order of the file
				at = time.UnixMilli(int64(len(s.named) + 1))
			}
			s.named[name] = first(at)
		}
		return s.named[name]
	case !s.log:
		if s.only == "" {
			s.only = first(r.StartedAt)
		}
		return s.only
	case r.StartedAt.IsZero():
		return ""
	}
	day := machineDay{r.Env.Machine, r.StartedAt.UTC().Truncate(24 * time.Hour).Unix()}
	if s.days[day] == "" {
		s.days[day] = first(r.StartedAt)
	}
	return s.days[day]
}

// sessionULID is what a file calls a session where that is a ULID. Its time has to be about that of the run: a number of 26
// digits is no ULID.
func sessionULID(r *schema.Run) (string, bool) {
	const about = 366 * 24 * time.Hour
	id, err := schema.ParseULID(strings.ToUpper(r.SessionID))
	if err != nil || !r.StartedAt.IsZero() && id.Time().Sub(r.StartedAt).Abs() > about {
		return "", false
	}
	return id.String(), true
}
