package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// sameSessions reports whether some session has runs of both sides.
func (m *comparing) sameSessions() bool {
	return slices.ContainsFunc(m.base.Sessions, func(id string) bool {
		_, there := slices.BinarySearch(m.head.Sessions, id)
		return there
	})
}

// sides selects the runs of both sides.
func (m *comparing) sides(ctx context.Context) error {
	base, head := m.req.Base, m.req.Head
	names := [2]string{"BASE", "HEAD"}
	switch {
	case m.req.Axis != "":
		word := m.req.Axis + "=" + m.req.Reference
		base, head = bothFilters(m.req.Base, word), bothFilters(m.req.Base, "not "+word)
		names = [2]string{word, "not " + word}
	case strings.TrimSpace(m.req.Head) == "" && !m.isBeside():
		base, head = bothFilters(m.req.Base, "side=base"), bothFilters(m.req.Base, "side=head")
		names = [2]string{"side=base", "side=head"}
	}
	var err error
	if m.base, err = m.side(ctx, m.ofBase, names[0], base); err != nil {
		return err
	}
	if m.head, err = m.side(ctx, m.Reader, names[1], head); err != nil {
		return err
	}
	if m.isBeside() {
		if err := m.sameMachines(ctx, names[0]); err != nil {
			return err
		}
	}
	m.base.Filter, m.head.Filter = cmp.Or(m.req.BaseFile, m.base.Filter), cmp.Or(m.req.HeadFile, m.head.Filter)
	return m.apart(ctx)
}

// isBeside reports whether the base has stores of its own.
func (m *comparing) isBeside() bool { return m.ofBase != m.Reader }

// fileOf is the name of the file that a reader's runs come from; empty: they are stored runs.
func (m *comparing) fileOf(r *scan.Reader) string {
	if r == m.ofBase {
		return m.req.BaseFile
	}
	return m.req.HeadFile
}

// sameMachines narrows a base with several machines to those that the head has. A baseline file may have all machines; points of
// other machines must not be reported as missing.
func (m *comparing) sameMachines(ctx context.Context, name string) error {
	shared := slices.DeleteFunc(slices.Clone(m.base.Machines), func(machine string) bool {
		_, there := slices.BinarySearch(m.head.Machines, machine)
		return !there
	})
	if len(shared) == 0 || len(shared) == len(m.base.Machines) {
		return nil
	}
	for i, machine := range shared {
		shared[i] = filter.Quote(machine)
	}
	var err error
	m.base, err = m.side(ctx, m.ofBase, name, bothFilters(m.base.Narrowed, "machine="+strings.Join(shared, ",")))
	return err
}

// apart rejects runs that are on both sides: a run does not differ from itself.
func (m *comparing) apart(ctx context.Context) error {
	if m.isBeside() {
		if m.sameSessions() {
			return answer.InputError("compare: BASE and HEAD have runs of the same session: want a HEAD measured after the file BASE was written")
		}
		return nil
	}
	if !m.sameSessions() && !(m.base.Sessionless() && m.head.Sessionless()) {
		return nil
	}
	sel, err := m.Selected(ctx, scan.Question{Filter: bothFilters(m.base.Narrowed, "("+orAllRuns(m.head.Narrowed)+")")})
	if err != nil {
		return err
	}
	text := "SELECT count(*) FROM " + sel.Src.Scan(scan.WithColumns([]*schema.Column{schema.RunColumn("purpose")}, sel.Columns), sel.RestrictedTo(scan.IsMeasurement))
	row, err := m.Conn.One(ctx, duck.Statement{SQL: text, Args: sel.Args})
	if err != nil {
		return err
	}
	switch n, _ := row[0].(int64); n {
	case 0:
		return nil
	case 1:
		return answer.InputError("compare: 1 run matches both BASE and HEAD")
	default:
		return answer.InputError("compare: %d runs match both BASE and HEAD", n)
	}
}

// side selects the runs of a side.
func (m *comparing) side(ctx context.Context, r *scan.Reader, name, filter string) (*selectedSide, error) {
	s, err := selectSide(ctx, r, filter)
	if err != nil {
		return nil, err
	}
	if named := slices.ContainsFunc(s.Sel.Columns, func(c *schema.Column) bool { return c.Name == "side" }); s.Has("base") && s.Has("head") && !named {
		// If a session has both sides, and the filter names neither, the newer code (the head) is meant.
		if s, err = selectSide(ctx, r, bothFilters(filter, "not side=base")); err != nil {
			return nil, err
		}
	}
	s.Filter = filter
	if s.Runs == 0 {
		if m.fileOf(r) == "" && len(r.Src.Live) == 0 && len(r.Src.Read) == 0 {
			return nil, answer.InputError("compare: the store has no runs yet")
		}
		if strings.HasPrefix(name, "side=") {
			return nil, cmp.Or(r.Check(ctx, s.Sel.PossibleTypos),
				answer.InputError("compare: %s has no session with two sides (bench --against makes one): name BASE and HEAD", cmp.Or(m.fileOf(r), nameOf("the store", m.req.Base))))
		}
		if profiles, err := r.OnlyProfiles(ctx, s.Sel); err != nil || profiles {
			return nil, cmp.Or(err, answer.InputError("compare: %s matches only runs under a profiler, which are not compared: `neurolens ls --like RUN` compares their operators, `neurolens show RUN --ops` lists them", cmp.Or(m.fileOf(r), nameOf(name, filter))))
		}
		why, err := r.EmptyReasons(ctx, s.Sel)
		return nil, cmp.Or(err, answer.InputError("compare: %s matches no run (%s)%s", cmp.Or(m.fileOf(r), nameOf(name, filter)), sessionsKnown(ctx, r), strings.Join(append([]string{""}, why...), "; ")))
	}
	return s, nil
}

// nameOf is the name of a selection in an error: the filter that the user typed, if any.
func nameOf(name, filter string) string {
	if strings.TrimSpace(filter) == "" {
		return name
	}
	return filter
}

// sessionsKnown says how many sessions the store has.
func sessionsKnown(ctx context.Context, r *scan.Reader) string {
	session := []*schema.Column{schema.RunColumn("session_id")}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT count(DISTINCT session_id) FROM " + r.Src.Scan(session, "")})
	if err != nil || len(row) == 0 {
		return "no session is known"
	}
	n, _ := row[0].(int64)
	if n == 1 {
		return "1 session in this store"
	}
	return fmt.Sprintf("%d sessions in this store", n)
}

// fileLacks is the error for a base file without the only metric that was asked for: each point would count as added.
func (m *comparing) fileLacks(ctx context.Context, metric string) error {
	if metric == "" || m.req.BaseFile == "" || len(m.req.Metrics) != 1 {
		return nil
	}
	names, err := m.ofBase.Metrics(ctx)
	if err != nil || slices.Contains(names, metric) {
		return err
	}
	return answer.InputError("compare: %s has no metric %s, but %s: neurolens bless --metric %s --to FILE makes a baseline file that has it",
		m.req.BaseFile, metric, strings.Join(names[:min(len(names), fileMetrics)], ", "), metric)
}

// fileMetrics is how many metrics of a file an error names.
const fileMetrics = 5
