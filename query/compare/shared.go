package compare

import (
	"database/sql/driver"
	"strconv"

	"github.com/neurolens/neurolens/query/internal/duck"
)

// interner stores equal texts and equal sets of parameters once, because most points share them. It is for one goroutine at a time, and
// its values must not be changed.
type interner struct {
	texts  map[string]string
	params map[string]map[string]string
	key    []byte // buffer for a key of params

	// What is left of the last slab of each: a few large pieces of memory take the garbage collector less time than very many small ones.
	groups []sideGroup
	reals  []float64
}

// Sizes of slabs.
const (
	groupsAtOnce = 64
	realsAtOnce  = 1024
)

// group is a new group.
func (s *interner) group() *sideGroup {
	if len(s.groups) == 0 {
		s.groups = make([]sideGroup, groupsAtOnce)
	}
	g := &s.groups[0]
	s.groups = s.groups[1:]
	return g
}

// numbers are n new numbers, to which nothing can be appended in place.
func (s *interner) numbers(n int) []float64 {
	if n > realsAtOnce/4 {
		return make([]float64, n)
	}
	if len(s.reals) < n {
		s.reals = make([]float64, realsAtOnce)
	}
	some := s.reals[:n:n]
	s.reals = s.reals[n:]
	return some
}

// newInterner is an empty Shared.
func newInterner() *interner {
	return &interner{texts: map[string]string{}, params: map[string]map[string]string{}}
}

// text is a text of the driver; empty for NULL.
func (s *interner) text(v driver.Value) string {
	text := duck.Text(v)
	if same, ok := s.texts[text]; ok {
		return same
	}
	s.texts[text] = text
	return text
}

// parameters are the parameters of a point with these names and values; nil if there are no names.
func (s *interner) parameters(names, values []any) map[string]string {
	if names == nil {
		return nil
	}
	s.key = s.key[:0]
	for i, name := range names {
		s.key = strconv.AppendQuote(s.key, duck.Text(name))
		s.key = strconv.AppendQuote(s.key, duck.Text(values[i]))
	}
	params, ok := s.params[string(s.key)]
	if !ok {
		params = map[string]string{}
		for i, value := range values {
			if text, ok := value.(string); ok { // without a value it is no parameter
				params[duck.Text(names[i])] = text
			}
		}
		s.params[string(s.key)] = params
	}
	return params
}
