package schema

import (
	"fmt"
	"iter"
	"unicode/utf8"
)

// Validate returns an error if a run is invalid: an id that is not a ULID or does not have the start time, a point_id that is not the
// hash of its fields, an unknown status, a metric without samples or summary, an artifact whose kind is no word or whose size is
// negative, text that is not UTF-8, more text than maxRunText. A store takes only valid runs.
func (r *Run) Validate() error {
	for _, check := range []func(*Run) error{validateID, validateWords, validateMetrics, validateOps, validateArtifacts, validateText} {
		if err := check(r); err != nil {
			return fmt.Errorf("run %s: %w", r.RunID, err)
		}
	}
	return nil
}

// Valid is a run that has passed Validate. Only Check makes one, so a Valid need not be checked again. Do not change the run while a
// Valid of it is in use.
type Valid struct{ run *Run } // a pointer, because it goes through many hands

// Check returns the run as a Valid, or the error of Validate.
func Check(r Run) (Valid, error) {
	if err := r.Validate(); err != nil {
		return Valid{}, err
	}
	return Valid{&r}, nil
}

// Run returns the run. That of the zero Valid has no id.
func (v Valid) Run() Run {
	if v.run == nil {
		return Run{}
	}
	return *v.run
}

func validateID(r *Run) error {
	id, err := ParseULID(r.RunID)
	if err != nil {
		return fmt.Errorf("run_id: %w", err)
	}
	if want := ULIDFrom(r.StartedAt, [10]byte{}).Time(); !id.Time().Equal(want) {
		return fmt.Errorf("run_id has the time %s, but started_at is %s", id.Time(), r.StartedAt)
	}
	for _, session := range []string{r.SessionID, r.Resumes} {
		if session == "" {
			continue
		}
		if _, err := ParseULID(session); err != nil {
			return fmt.Errorf("session: %w", err)
		}
	}
	if want := PointID(r); r.PointID != want {
		return fmt.Errorf("point_id is %q, but its fields give %s", r.PointID, want)
	}
	return nil
}

func validateWords(r *Run) error {
	if r.Source == "" {
		return fmt.Errorf("source is missing")
	}
	for _, err := range []error{
		oneOf("status", r.Status, false),
		oneOf("stage", r.Stage, true),
		oneOf("purpose", r.Purpose, false),
		oneOf("executor", r.Executor, true),
		oneOf("precision", r.Precision, true),
		oneOf("side", r.Side, true),
		oneOf("time_source", r.TimeSource, true),
	} {
		if err != nil {
			return err
		}
	}
	for name := range r.Params {
		if IsAxisColumn(name) {
			return fmt.Errorf("parameter %q has a column of its own", name)
		}
	}
	return nil
}

func validateMetrics(r *Run) error {
	seen := map[string]bool{}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if seen[m.Name] {
			return fmt.Errorf("metric %q appears twice", m.Name)
		}
		seen[m.Name] = true
		if err := m.Validate(); err != nil {
			return fmt.Errorf("metric %q: %w", m.Name, err)
		}
	}
	if r.Primary != "" && !seen[r.Primary] {
		return fmt.Errorf("primary metric %q is not among the metrics", r.Primary)
	}
	return nil
}

// isMetricName reports whether a name begins with a letter or _, and has only these, digits and . : / -
func isMetricName(name string) bool {
	for i, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && (c >= '0' && c <= '9' || c == '.' || c == ':' || c == '/' || c == '-'):
		default:
			return false
		}
	}
	return name != ""
}

// Validate returns an error if a metric is invalid by itself: its name, its direction or level, or inconsistent samples.
func (m *Metric) Validate() error {
	if !isMetricName(m.Name) {
		return fmt.Errorf("a name must begin with a letter and may contain letters, digits and _ . : / -")
	}
	for _, err := range []error{
		oneOf("better", m.Better, true),
		oneOf("level", m.Level, true),
	} {
		if err != nil {
			return err
		}
	}
	n := max(len(m.Ticks), len(m.Reals))
	switch {
	case m.Ticks != nil && m.Reals != nil:
		return fmt.Errorf("it has both ticks and reals")
	case (m.Ticks != nil || m.WarmupTicks != nil) && !(m.Tick > 0):
		return fmt.Errorf("tick is %v, want a positive number", m.Tick)
	case m.AtNS != nil && len(m.AtNS) != n:
		return fmt.Errorf("at_ns has %d times for %d samples", len(m.AtNS), n)
	case len(m.IterationsPerSample) > 1 && len(m.IterationsPerSample) != n:
		return fmt.Errorf("iterations_per_sample has %d numbers for %d samples", len(m.IterationsPerSample), n)
	case m.Ticks == nil && m.Reals == nil && m.Summary == (Summary{}):
		return fmt.Errorf("it has neither samples nor a summary")
	}
	return nil
}

func validateOps(r *Run) error {
	seen := map[int64]bool{}
	for _, o := range r.Ops {
		if seen[o.Index] {
			return fmt.Errorf("op %d appears twice", o.Index)
		}
		seen[o.Index] = true
	}
	return nil
}

func validateArtifacts(r *Run) error {
	for _, a := range r.Artifacts {
		if a.Kind != "" && !IsArtifactKind(a.Kind) {
			return fmt.Errorf("artifact %q: kind %.70q is not a word of up to 64 letters, digits and _ . -", a.Path, a.Kind)
		}
		if a.Bytes != nil && *a.Bytes < 0 {
			return fmt.Errorf("artifact %q: bytes: %d is below 0", a.Path, *a.Bytes)
		}
	}
	return nil
}

// validateText returns an error for text that a Parquet string cannot store.
func validateText(r *Run) error {
	check := textCheck{bytes: runBeside}
	if err := check.row(Runs.Columns, RunValues(r, "")); err != nil {
		return err
	}
	if check.bytes > maxRunText {
		return fmt.Errorf("its texts take %d bytes, and may take %d", check.bytes, maxRunText)
	}
	for i := range r.Metrics {
		if err := check.row(Samples.Columns[1:], MetricValues(&r.Metrics[i])); err != nil {
			return err
		}
	}
	for i := range r.Ops {
		if err := check.row(Ops.Columns[1:], OpValues(&r.Ops[i])); err != nil {
			return err
		}
	}
	return nil
}

// textCheck looks for text in rows that is not UTF-8.
type textCheck struct {
	bytes int // that the rows take in a file: see maxRunText
}

// row checks a row.
func (t *textCheck) row(columns []*Column, values iter.Seq[any]) error {
	i := 0
	for value := range values {
		if !t.value(value) {
			return fmt.Errorf("column %s is not UTF-8", columns[i].Name)
		}
		i++
	}
	return nil
}

// value counts the texts in a value, and reports whether they are UTF-8.
func (t *textCheck) value(value any) bool {
	valid := true
	count := func(text string) {
		t.bytes += len(text) + textBeside
		valid = valid && utf8.ValidString(text)
	}
	switch v := value.(type) {
	case *string:
		count(*v)
	case *[]string:
		for _, text := range *v {
			count(text)
		}
	case *map[string]string:
		for key, text := range *v {
			count(key)
			count(text)
		}
	case *map[string]float64:
		for key := range *v {
			count(key)
		}
	case *[][]any:
		for _, fields := range *v {
			for _, field := range fields {
				text, _ := field.(string) // other fields take no more than an empty text
				count(text)
			}
		}
	}
	return valid
}
