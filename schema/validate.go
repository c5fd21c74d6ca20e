package schema

import (
	"fmt"
	"slices"
	"unicode/utf8"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Validate returns what is wrong with a run: an id that is not a ULID or does not have the start time, a point_id that is
// not the hash of its fields, an unknown status, a metric without samples or summary, text that is not UTF-8. A store
// takes only valid runs.
func (r *Run) Validate() error {
	for _, check := range []func(*Run) error{validateID, validateWords, validateMetrics, validateOps, validateText} {
		if err := check(r); err != nil {
			return fmt.Errorf("run %s: %w", r.RunID, err)
		}
	}
	return nil
}

// Valid is a run that has passed Validate; only Check makes one, so nobody needs to check it again. Do not change the run
// while a Valid of it is in use.
type Valid struct{ run Run }

// Check gives the run as a Valid, or the error of Validate.
func Check(r Run) (Valid, error) {
	if err := r.Validate(); err != nil {
		return Valid{}, err
	}
	return Valid{r}, nil
}

// Run gives the run. That of the zero Valid has no id.
func (v Valid) Run() Run { return v.run }

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
		oneOf("status", r.Status, Statuses, false),
		oneOf("stage", r.Stage, StageNames, true),
		oneOf("purpose", r.Purpose, []Purpose{PurposeMeasure, PurposeProfile}, false),
		oneOf("executor", r.Executor, executors, true),
		oneOf("precision", r.Precision, Precisions, true),
		oneOf("side", r.Side, []string{"base", "head"}, true),
		oneOf("time_source", r.TimeSource, []TimeSource{TimeClock, TimeFile, TimeNaive}, true),
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

var metricName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:/-]*$`)

// Validate returns what is wrong with a metric by itself: its name, its direction or level, or inconsistent samples.
func (m *Metric) Validate() error {
	if !metricName.MatchString(m.Name) {
		return fmt.Errorf("a name must begin with a letter and may contain letters, digits and _ . : / -")
	}
	for _, err := range []error{
		oneOf("better", m.Better, []Better{BetterLower, BetterHigher}, true),
		oneOf("level", m.Level, levels, true),
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

// validateText returns an error for text that a Parquet string cannot store.
func validateText(r *Run) error {
	check := func(columns []*Column, row []any) error {
		for i, c := range columns {
			if !validUTF8(row[i]) {
				return fmt.Errorf("column %s is not UTF-8", c.Name)
			}
		}
		return nil
	}
	if err := check(Runs.Columns, RunRow(r, "")); err != nil {
		return err
	}
	for i := range r.Metrics {
		if err := check(Samples.Columns[1:], MetricRow(&r.Metrics[i])); err != nil {
			return err
		}
	}
	for i := range r.Ops {
		if err := check(Ops.Columns[1:], OpRow(&r.Ops[i])); err != nil {
			return err
		}
	}
	return nil
}

func validUTF8(value any) bool {
	switch v := value.(type) {
	case string:
		return utf8.ValidString(v)
	case []string:
		return !slices.ContainsFunc(v, func(s string) bool { return !utf8.ValidString(s) })
	case map[string]string:
		for key, text := range v {
			if !utf8.ValidString(key) || !utf8.ValidString(text) {
				return false
			}
		}
	case map[string]float64:
		for key := range v {
			if !utf8.ValidString(key) {
				return false
			}
		}
	case [][]any:
		return !slices.ContainsFunc(v, func(fields []any) bool {
			return slices.ContainsFunc(fields, func(f any) bool { return !validUTF8(f) })
		})
	}
	return true
}
