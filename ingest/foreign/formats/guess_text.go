package formats

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// text returns the mapping as a file. It lists the columns in the order of the table, with some of their values as comments.
func (g *guessed) text() string {
	var b strings.Builder
	line := func(text, comment string) {
		b.WriteString(text)
		if comment != "" {
			b.WriteString("  # " + comment)
		}
		b.WriteByte('\n')
	}
	line("# This draft is made of the names and values of the columns. Check the units, and", "")
	line("# which columns are axes: variant, backend, model, precision, batch_size, seq_len", "")
	line("# and params. Runs with equal axes are repeats of one point.", "")
	if g.Benchmark != "" {
		line("benchmark: "+inYAML(g.Benchmark), "no column names it")
	}
	for _, key := range []struct{ name, value string }{
		{"comment", g.Comment},
		{"decimal", strings.TrimPrefix(g.Decimal, ".")},
		{"thousands", g.Thousands},
		{"time", g.Time},
		{"primary", g.Primary},
		{"rows", strings.TrimPrefix(g.Rows, rowsRuns)},
	} {
		if key.value != "" {
			line(key.name+": "+inYAML(key.value), "")
		}
	}
	g.section(line, "fields", func(c *guessedColumn) string {
		if g.Fields[c.name] == "" {
			return ""
		}
		return inYAML(g.Fields[c.name])
	})
	g.section(line, "metrics", func(c *guessedColumn) string {
		if g.Metrics[c.name].Metric == "" {
			return ""
		}
		return g.Metrics[c.name].inYAML()
	})
	if g.Long != nil {
		line("long:", "one value per row")
		line("  metric: "+inYAML(g.Long.Metric), "")
		line("  value: "+inYAML(g.Long.Value), "")
		if g.Long.Unit != "" {
			line("  unit: "+inYAML(g.Long.Unit), "")
		}
		if len(g.Long.Names) > 0 {
			line("  names:", "")
		}
		for _, name := range slices.Sorted(maps.Keys(g.Long.Names)) {
			line("    "+inYAML(name)+": "+g.Long.Names[name].inYAML(), "")
		}
	}
	if len(g.Statuses) > 0 {
		comment := ""
		if g.failures {
			comment = "a run with such a word in place of a number failed"
		}
		line("statuses: "+flow(g.Statuses), comment)
	}
	if len(g.Units) > 0 {
		line("units: "+flow(g.Units), "")
	}
	if len(g.Missing) > 0 {
		words := make([]string, len(g.Missing))
		for i, word := range g.Missing {
			words[i] = inYAML(word)
		}
		line("missing: ["+strings.Join(words, ", ")+"]", "cells without a value")
	}
	if len(g.Ignore) > 0 {
		line("ignore:", "")
		for _, c := range g.columns {
			if slices.Contains(g.Ignore, c.name) {
				line("- "+inYAML(c.name), g.comment(c, g.doubts[c.name]))
			}
		}
	}
	if !g.has("machine") {
		line("# No column names the machine. Without --machine NAME, compare gives no verdict.", "")
	}
	if !g.has("started_at") {
		line("# No column has the start of the runs, which history needs: add --at WHEN.", "")
	}
	return b.String()
}

// section writes the columns of a key that have a value there.
func (g *guessed) section(line func(text, comment string), key string, value func(*guessedColumn) string) {
	begun := false
	for _, c := range g.columns {
		if value(c) == "" {
			continue
		}
		if !begun {
			line(key+":", "")
			begun = true
		}
		line("  "+inYAML(c.name)+": "+value(c), g.comment(c, g.doubts[c.name]))
	}
}

// inYAML writes a metric as a map in one line.
func (m mappedMetric) inYAML() string {
	parts := []string{"metric: " + inYAML(m.Metric)}
	for _, key := range []struct{ name, value string }{{"unit", m.Unit}, {"better", string(m.Better)}, {"as", m.As}} {
		if key.value != "" {
			parts = append(parts, key.name+": "+inYAML(key.value))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// flow writes a map of texts in one line.
func flow(m map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, inYAML(key)+": "+inYAML(m[key]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// inYAML writes a text as a scalar of YAML: as it is, if it is read back as this text in a map of one line, too.
func inYAML(text string) string {
	var back map[string]any
	plain := !strings.ContainsAny(text, "{}[],#&*!|>'\"%@`") && text == strings.TrimSpace(text) &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	if plain && yaml.Load([]byte("{"+text+": "+text+"}"), &back) == nil && back[text] == text {
		return text
	}
	quoted, err := json.Marshal(text)
	if err != nil { // no text is an error
		return strconv.Quote(text)
	}
	return string(quoted)
}

// comment returns some values of a column, and the doubt about its role.
func (g *guessed) comment(c *guessedColumn, doubt string) string {
	const most, longest = 3, 16
	if g.isNumeric(c) && g.Metrics[c.name].Metric != "" {
		r := c.read[0]
		return joined(strconv.FormatFloat(r.min, 'g', 6, 64)+" to "+strconv.FormatFloat(r.max, 'g', 6, 64), doubt)
	}
	var shown []string
	for _, value := range c.order[:min(most, len(c.order))] {
		value = strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return ' '
		}, value)
		if runes := []rune(value); len(runes) > longest {
			value = string(runes[:longest]) + "…"
		}
		shown = append(shown, value)
	}
	switch more := len(c.order) - most; {
	case c.more:
		shown = append(shown, fmt.Sprintf("… (more than %d values)", maxDistinct))
	case more > 0:
		shown = append(shown, fmt.Sprintf("… (%d values)", len(c.order)))
	}
	return joined(strings.Join(shown, ", "), doubt)
}

// joined puts a doubt behind values.
func joined(values, doubt string) string {
	if values == "" || doubt == "" {
		return values + doubt
	}
	return values + "; " + doubt
}
