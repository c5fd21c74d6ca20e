package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// sameSessions tells whether a session has runs of both sides.
func (m *comparing) sameSessions() bool {
	return slices.ContainsFunc(m.base.Sessions, func(id string) bool {
		_, there := slices.BinarySearch(m.head.Sessions, id)
		return there
	})
}

// sides finds the runs of both sides.
func (m *comparing) sides(ctx context.Context) error {
	base, head := m.req.Base, m.req.Head
	names := [2]string{"BASE", "HEAD"}
	switch {
	case m.req.Axis != "":
		word := m.req.Axis + "=" + m.req.Reference
		base, head = both(m.req.Base, word), both(m.req.Base, "not "+word)
		names = [2]string{word, "not " + word}
	case strings.TrimSpace(m.req.Head) == "":
		base, head = both(m.req.Base, "side=base"), both(m.req.Base, "side=head")
		names = [2]string{"side=base", "side=head"}
	}
	var err error
	if m.base, err = m.side(ctx, names[0], base); err != nil {
		return err
	}
	if m.head, err = m.side(ctx, names[1], head); err != nil {
		return err
	}
	return m.apart(ctx)
}

// both is the filter of what matches two.
func both(a, b string) string {
	a = strings.TrimSpace(a)
	switch {
	case a == "":
		return b
	case strings.ContainsAny(a, " \t\n"):
		return "(" + a + ") " + b
	}
	return a + " " + b
}

// apart refuses runs that are on both sides: what is compared with itself does not differ.
func (m *comparing) apart(ctx context.Context) error {
	if !m.sameSessions() && !(m.base.sessionless() && m.head.sessionless()) {
		return nil
	}
	sel, err := m.Selected(ctx, scan.Question{Filter: both(m.base.filter, "("+orAll(m.head.filter)+")")})
	if err != nil {
		return err
	}
	text := "SELECT count(*) FROM " + sel.Src.Scan(scan.WithColumns([]*schema.Column{schema.RunColumn("purpose")}, sel.Columns), sel.RestrictedTo(scan.Measured))
	row, err := m.Conn.One(ctx, duck.Statement{SQL: text, Args: sel.Args})
	if err != nil {
		return err
	}
	if n, _ := row[0].(int64); n > 0 {
		return fault.Input("compare: %d runs match both BASE and HEAD", n)
	}
	return nil
}

// orAll is a filter that matches all in place of none.
func orAll(filter string) string {
	if strings.TrimSpace(filter) == "" {
		return "not run_id=null"
	}
	return filter
}

// side is one side: its runs by session and machine, and how to find them.
type side struct {
	Side
	sel    scan.Selection
	strata []stratum
	kinds  []kindOfMetric // of the ok runs
}

// sessionless tells whether some run says no session.
func (s *side) sessionless() bool {
	return slices.ContainsFunc(s.strata, func(t stratum) bool { return t.session == "" })
}

// onlyMachine is the machine of all runs, if it is one.
func (s *side) onlyMachine() (machine string, ok bool) {
	other := func(t stratum) bool { return t.machine != s.strata[0].machine }
	return s.strata[0].machine, !slices.ContainsFunc(s.strata, other)
}

// has tells whether some run is of that side of its session.
func (s *side) has(name string) bool {
	return slices.ContainsFunc(s.strata, func(t stratum) bool { return t.side == name })
}

// CompareSide says what a side is.
type Side struct {
	Filter            string
	Runs              int
	Sessions          []string // ids, the oldest first
	Machines, Commits []string // ascending
	NoSession         int      // runs that do not say their session
	NoMachine         int      // or their machine
	NoCommit          int      // or their commit
	Dirty             int      // runs of code with changes that no commit has
	Imported          int      // runs that were read from files of other tools
	FactRuns          int      // of so many the facts were read, in which sides may differ
	Since, Until      int64    // starts of the first and the last run in Unix microseconds; 0 where not known

	filter string // Filter, narrowed to the runs that are meant
}

// side finds the runs of a side.
func (m *comparing) side(ctx context.Context, name, filter string) (*side, error) {
	s, err := m.selectSide(ctx, filter)
	if err != nil {
		return nil, err
	}
	if named := slices.ContainsFunc(s.sel.Columns, func(c *schema.Column) bool { return c.Name == "side" }); s.has("base") && s.has("head") && !named {
		// Both sides of a session together are neither: the newer one is meant.
		if s, err = m.selectSide(ctx, both(filter, "not side=base")); err != nil {
			return nil, err
		}
	}
	s.Filter = filter
	if s.Runs == 0 {
		if err := m.Check(ctx, s.sel.Unsure); err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, "side=") {
			return nil, fault.Input("compare: %s has no runs of two sides (bench --against makes them): want BASE and HEAD", nameOf("the store", m.req.Base))
		}
		return nil, fault.Input("compare: %s matches no run (%s)", nameOf(name, filter), m.sessionsKnown(ctx))
	}
	return s, nil
}

// selectSide compiles the filter of a side, and finds what its runs are of.
func (m *comparing) selectSide(ctx context.Context, filter string) (*side, error) {
	sel, err := m.Selected(ctx, scan.Question{Filter: filter})
	if err != nil {
		return nil, err
	}
	s := &side{Side: Side{filter: filter}, sel: sel}
	return s, m.stratify(ctx, s)
}

// nameOf is what to call a selection in an error: what was typed.
func nameOf(name, filter string) string {
	if strings.TrimSpace(filter) == "" {
		return name
	}
	return filter
}

// sessionsKnown says how many sessions there are to choose from.
func (m *comparing) sessionsKnown(ctx context.Context) string {
	session := []*schema.Column{schema.RunColumn("session_id")}
	row, err := m.Conn.One(ctx, duck.Statement{SQL: "SELECT count(DISTINCT session_id) FROM " + m.Src.Scan(session, "")})
	if err != nil || len(row) == 0 {
		return "no session is known"
	}
	n, _ := row[0].(int64)
	if n == 1 {
		return "1 session in this store"
	}
	return fmt.Sprintf("%d sessions in this store", n)
}
