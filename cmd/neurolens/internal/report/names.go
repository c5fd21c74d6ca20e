package report

import (
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
)

// namer names points by that in which those of a report differ.
type namer struct{ same map[string]bool }

// namerOf finds the columns in which all points agree.
func namerOf(points []summary.Point) namer {
	n := namer{map[string]bool{}}
	if len(points) < 2 {
		return n
	}
	first := &points[0].Subject
	agree := func(same func(s *summary.Subject) bool) bool {
		for i := range points {
			if !same(&points[i].Subject) {
				return false
			}
		}
		return true
	}
	for _, name := range views.RunColumns {
		want := text(first, name)
		n.same[name] = agree(func(s *summary.Subject) bool { return text(s, name) == want })
	}
	for param, want := range first.Params {
		n.same["param."+param] = agree(func(s *summary.Subject) bool {
			value, ok := s.Params[param]
			return ok && value == want
		})
	}
	return n
}

// text is that of a column of a point.
func text(s *summary.Subject, column string) string {
	if column == "side" {
		return string(s.Side)
	}
	p := s.Point()
	return term.ValueString(p.Value(column))
}

// pair names the points of a pair, whose sides need not be told.
func (n namer) pair(p *summary.Pair) string {
	subject := p.Subject
	subject.Side = ""
	return n.name(&subject)
}

// name names a point. One that differs in nothing from others has its benchmark or its model for a name.
func (n namer) name(s *summary.Subject) string {
	constants, _ := views.AxesBut([]views.Subject{{Point: s.Point(), Side: string(s.Side)}}, views.RunColumns, func(name string) bool { return n.same[name] || n.same["param."+name] })
	if len(constants) == 0 {
		return views.OrUnknown(string(s.Benchmark))
	}
	return strings.Join(constants, " ")
}
