package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/internal/sides"
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
		base, head = sides.Both(m.req.Base, word), sides.Both(m.req.Base, "not "+word)
		names = [2]string{word, "not " + word}
	case strings.TrimSpace(m.req.Head) == "":
		base, head = sides.Both(m.req.Base, "side=base"), sides.Both(m.req.Base, "side=head")
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

// apart refuses runs that are on both sides: what is compared with itself does not differ.
func (m *comparing) apart(ctx context.Context) error {
	if !m.sameSessions() && !(m.base.Sessionless() && m.head.Sessionless()) {
		return nil
	}
	sel, err := m.Selected(ctx, scan.Question{Filter: sides.Both(m.base.Narrowed, "("+sides.OrAll(m.head.Narrowed)+")")})
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

// side finds the runs of a side.
func (m *comparing) side(ctx context.Context, name, filter string) (*sides.Selected, error) {
	s, err := sides.Select(ctx, m.Reader, filter)
	if err != nil {
		return nil, err
	}
	if named := slices.ContainsFunc(s.Sel.Columns, func(c *schema.Column) bool { return c.Name == "side" }); s.Has("base") && s.Has("head") && !named {
		// Both sides of a session together are neither: the newer one is meant.
		if s, err = sides.Select(ctx, m.Reader, sides.Both(filter, "not side=base")); err != nil {
			return nil, err
		}
	}
	s.Filter = filter
	if s.Runs == 0 {
		if err := m.Check(ctx, s.Sel.Unsure); err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, "side=") {
			return nil, fault.Input("compare: %s has no runs of two sides (bench --against makes them): want BASE and HEAD", nameOf("the store", m.req.Base))
		}
		return nil, fault.Input("compare: %s matches no run (%s)", nameOf(name, filter), m.sessionsKnown(ctx))
	}
	return s, nil
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
