package sides

import (
	"database/sql/driver"
	"slices"
	"strconv"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/query/internal/duck"
)

// Shared keeps one of equal texts and one of equal sets of parameters: what points are called is mostly the same. It is
// for one goroutine at a time, and what it gives nobody may change.
type Shared struct {
	texts  map[string]string
	params map[string]map[string]string
	key    []byte // of params, for one look
}

// NewShared has nothing yet.
func NewShared() *Shared {
	return &Shared{texts: map[string]string{}, params: map[string]map[string]string{}}
}

// text is a text of the driver; empty for NULL.
func (s *Shared) text(v driver.Value) string {
	text := duck.Text(v)
	if same, ok := s.texts[text]; ok {
		return same
	}
	s.texts[text] = text
	return text
}

// parameters are those of a point.
func (s *Shared) parameters(v driver.Value) map[string]string {
	m, ok := v.(duckdb.OrderedMap)
	if !ok {
		return nil
	}
	s.key = s.key[:0]
	for _, part := range slices.Concat(m.Keys(), m.Values()) {
		s.key = strconv.AppendQuote(s.key, duck.Text(part))
	}
	params, ok := s.params[string(s.key)]
	if !ok {
		params = map[string]string{}
		for i, value := range m.Values() {
			if text, ok := value.(string); ok { // without a value it is no parameter
				params[duck.Text(m.Keys()[i])] = text
			}
		}
		s.params[string(s.key)] = params
	}
	return params
}
