package foreign

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// inSession is a run as a log says it: of when, of which session, on which machine.
type inSession struct {
	at, name, machine string
}

func (s inSession) run(t *testing.T, i int) schema.Run {
	t.Helper()
	r := measured(fmt.Sprint(i), 1)
	r.SessionID, r.Env.Machine = s.name, s.machine
	if s.at != "" {
		at, err := time.Parse("2006-01-2 15:04 -0700", "2026-11-"+s.at)
		if err != nil {
			if at, err = time.Parse("2006-01-02", s.at); err != nil {
				t.Fatal(err)
			}
		}
		r.StartedAt, r.TimeSource = at.UTC(), schema.TimeFile
	}
	return r
}

// sessionsOf returns the sessions of what a file says, a letter each in the order in which they come, a dash where it is not
// known; and their ids.
func sessionsOf(t *testing.T, log bool, said []inSession) (letters string, ids []string) {
	t.Helper()
	var runs []schema.Run
	for i, s := range said {
		runs = append(runs, s.run(t, i))
	}
	f := fake(runs...)
	f.Log = log
	got, report := readAll(t, f, Added{})
	if len(got) != len(said) {
		t.Fatalf("%+v", report)
	}
	letter := map[string]string{"": "-"}
	for _, r := range got {
		if letter[r.SessionID] == "" {
			letter[r.SessionID] = string(rune('a' + len(letter) - 1))
		}
		letters += letter[r.SessionID]
		ids = append(ids, r.SessionID)
	}
	if report.Sessions != len(letter)-1 {
		t.Errorf("%d sessions, want %d", report.Sessions, len(letter)-1)
	}
	return letters, ids
}

// TestSessions: a log is of one session a day and machine, in whatever order its runs come, unless it names them; of what
// says no time the session is not known. Any other file is one.
func TestSessions(t *testing.T) {
	const ulid, other = "01K9ATGCZ6QRA4HGSGQV9XY690", "01K9ATP50RVMB5BQME6Q34D99G" // of 2025-11-05
	for what, c := range map[string]struct {
		runs []inSession
		want string
	}{
		"no times":            {[]inSession{{}, {}, {}}, "---"},
		"a day":               {[]inSession{{at: "1 00:00 +0000"}, {at: "1 10:59 +0000"}, {at: "1 23:59 +0000"}}, "aaa"},
		"nights":              {[]inSession{{at: "1 23:50 +0000"}, {at: "2 00:10 +0000"}, {at: "2 02:50 +0000"}, {at: "3 00:30 +0000"}}, "abbc"},
		"days are those UTC":  {[]inSession{{at: "1 23:50 -0500"}, {at: "2 04:00 +0000"}, {at: "2 01:00 +0200"}}, "aab"},
		"sorted by point":     {[]inSession{{at: "1 10:00 +0000"}, {at: "2 10:00 +0000"}, {at: "1 10:30 +0000"}, {at: "2 10:30 +0000"}}, "abab"},
		"two machines":        {[]inSession{{at: "1 10:00 +0000", machine: "x"}, {at: "1 10:01 +0000", machine: "y"}, {at: "1 10:02 +0000", machine: "x"}}, "aba"},
		"some have no time":   {[]inSession{{}, {at: "1 10:00 +0000"}, {}, {at: "2 10:00 +0000"}, {}}, "-a-b-"},
		"names":               {[]inSession{{name: "x"}, {name: "y"}, {name: "x"}, {name: "y"}}, "abab"},
		"names against days":  {[]inSession{{at: "1 10:00 +0000", name: "x"}, {at: "1 10:01 +0000", name: "y"}, {at: "9 10:00 +0000", name: "x"}}, "aba"},
		"ULIDs":               {[]inSession{{name: ulid}, {name: other}, {name: strings.ToLower(ulid)}}, "aba"},
		"named, then not":     {[]inSession{{at: "1 10:00 +0000", name: "x"}, {at: "1 10:01 +0000"}, {}}, "ab-"},
		"from end to end":     {[]inSession{{at: "0001-01-02"}, {at: "9999-12-31"}, {at: "1969-12-31"}, {at: "1970-01-01"}}, "abcd"},
		"digits are no ULID":  {[]inSession{{at: "1 10:00 +0000", name: "20261001020000000000000017"}, {at: "1 10:00 +0000"}}, "ab"},
		"a ULID of the times": {[]inSession{{at: "1 10:00 +0000", name: ulid}, {at: "2 10:00 +0000", name: ulid}}, "aa"},
	} {
		got, ids := sessionsOf(t, true, c.runs)
		if got != c.want {
			t.Errorf("%s: got %s, want %s", what, got, c.want)
		}
		for i, id := range ids {
			if c.runs[i].name == ulid && id != ulid || id != "" && strings.HasPrefix(id, "20261001") {
				t.Errorf("%s: session %s became %s", what, c.runs[i].name, id)
			}
		}
		unnamed := slices.DeleteFunc(slices.Clone(c.runs), func(s inSession) bool { return s.name != "" })
		if got, _ := sessionsOf(t, false, unnamed); strings.Trim(got, "a") != "" {
			t.Errorf("%s, no log: got %s", what, got)
		}
	}
}

// TestSessionsSort: sessions without times are in the order of the file, and each keeps its id while the file grows.
func TestSessionsSort(t *testing.T) {
	var said []inSession
	for i := range 300 {
		said = append(said, inSession{name: fmt.Sprint("job-", i)})
	}
	_, ids := sessionsOf(t, true, said)
	if !slices.IsSorted(ids) {
		t.Errorf("got %s", ids[:5])
	}
	if _, some := sessionsOf(t, true, said[:100]); !slices.Equal(some, ids[:100]) {
		t.Error("other sessions before the file grew")
	}
}

// TestSessionsName: the name of a session in a file is kept, also in runs that share their facts.
func TestSessionsName(t *testing.T) {
	facts := map[string]string{"k": "v"}
	var runs []schema.Run
	for i, name := range []string{"nightly 17", "nightly 18"} {
		r := inSession{name: name}.run(t, i)
		r.Env.Facts = facts
		runs = append(runs, r)
	}
	got, _ := readAll(t, fake(runs...), Added{})
	if a, b := got[0].Env.Facts[schema.FactSession], got[1].Env.Facts[schema.FactSession]; a != "nightly 17" || b != "nightly 18" || len(facts) != 1 {
		t.Errorf("got %q and %q, %v", a, b, facts)
	}
}
