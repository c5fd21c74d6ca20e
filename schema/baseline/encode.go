package baseline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// digits is the number of significant digits of numbers in a file. More would be noise, and fewer could change a verdict.
const digits = 10

// round leaves the digits of a number that a file has.
func round(v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v // not finite
	}
	return short
}

// Encode returns the text of a file: always the same for the same document, with a few lines per point. Numbers have 10
// digits.
func Encode(d *Document) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n\"neurolens_baseline\": %d,\n\"sessions\": {", formVersion)
	for i, id := range slices.Sorted(maps.Keys(d.Sessions)) {
		text, err := compact(d.Sessions[id])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s\n%q: %s", comma(i), id, text)
	}
	b.WriteString("\n},\n\"points\": [")
	for i, p := range d.Points {
		metrics := slices.Clone(p.Metrics)
		p.Metrics = nil
		head, err := compact(p)
		if err != nil {
			return nil, err
		}
		head = bytes.TrimSuffix(head, []byte("\"metrics\":null}"))
		fmt.Fprintf(&b, "%s\n%s\n \"metrics\": [", comma(i), head)
		for k := range metrics {
			metrics[k].Runs = slices.Clone(metrics[k].Runs)
			for r, v := range metrics[k].Runs {
				metrics[k].Runs[r] = round(v)
			}
			metrics[k].Summarize()
			text, err := compact(metrics[k])
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "%s\n  %s", comma(k), text)
		}
		b.WriteString("\n ]}")
	}
	b.WriteString("\n]\n}\n")
	return b.Bytes(), nil
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// compact prints a value on one line, without escaping < and &.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("writing a baseline: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
