package foreign

import (
	"maps"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// fileSessions assigns the runs of a file to sessions. A file of one invocation is one session. A log, to which many
// invocations append, has the sessions that it names, or else one per day (UTC) and machine: in a single session,
// differences between days would look like changes. A run of a log without a start and a session belongs to no session.
type fileSessions struct {
	log   bool
	only  string            // the session of a file that is not a log
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

// of returns the session of a run, or empty if it is unknown. The id of a session is computed from its first run, of which seed is
// unique, so the id stays the same when the file grows.
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
			if at.IsZero() { // without a time, give the sessions ids that sort in the order of the file
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

// sessionULID returns the session id of a file if it is a ULID. Its time must be close to the time of the run, because a number of 26
// digits is not a ULID.
func sessionULID(r *schema.Run) (string, bool) {
	const about = 366 * 24 * time.Hour
	id, err := schema.ParseULID(strings.ToUpper(r.SessionID))
	if err != nil || !r.StartedAt.IsZero() && id.Time().Sub(r.StartedAt).Abs() > about {
		return "", false
	}
	return id.String(), true
}
