// Package vegalite writes figures as Vega-Lite 6 specifications with their data, for people who restyle them or draw them
// in a notebook.
//
// The data have every mark with its numbers in stored units and all texts of the figure. Calculated fields (shown_x,
// shown_y ...) have the values in readable units for the axes. Unknown values are absent, which shows as a gap.
package vegalite

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// schema is the version of Vega-Lite that a specification is for.
const schema = "https://vega.github.io/schema/vega-lite/v6.json"

// object is one of JSON, of which the members are written in the order of their names.
type object = map[string]any

// Spec is the specification of a figure.
func Spec(f *figure.Figure) ([]byte, error) {
	if n := f.Marks(); n > figure.MaxMarks {
		return nil, fmt.Errorf("writing the chart for Vega-Lite: %d marks, at most %d", n, figure.MaxMarks)
	}
	rows := rowsOf(f)
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"$schema\": %q,\n  \"data\": {\"values\": [", schema)
	for i, r := range rows {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("writing the chart for Vega-Lite: mark %d: %w", i, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(text)
	}
	rest, err := json.MarshalIndent(newChart(f, rows).spec(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the chart for Vega-Lite: %w", err)
	}
	b.WriteString("\n  ]},")
	b.Write(rest[1:])
	b.WriteByte('\n')
	inert := func(r rune) bool { return r != '\n' && term.Steers(r) }
	return []byte(term.Escaped(b.String(), inert)), nil
}
