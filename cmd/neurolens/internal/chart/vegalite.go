package chart

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// vegaSchema is the version of Vega-Lite that a specification is for.
const vegaSchema = "https://vega.github.io/schema/vega-lite/v6.json"

// object is one of JSON, of which the members are written in the order of their names.
type object = map[string]any

// VegaLite is the specification of a figure.
func VegaLite(f *Figure) ([]byte, error) {
	if n := f.Marks(); n > MaxMarks {
		return nil, fmt.Errorf("writing the chart for Vega-Lite: %d marks, at most %d", n, MaxMarks)
	}
	rows := vegaRowsOf(f)
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"$schema\": %q,\n  \"data\": {\"values\": [", vegaSchema)
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
