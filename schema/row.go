package schema

import (
	"iter"
	"reflect"
	"time"
)

// RunValues returns the values of a run, in the order of Runs.Columns: pointers to its fields, and nil for NULL. It copies nothing.
// digest is the result of DigestOf.
func RunValues(r *Run, digest string) iter.Seq[any] {
	row := &runRow{Run: r, digest: digest, primary: r.Metric(r.Primary)}
	if row.primary == nil {
		row.primary = &Metric{}
	}
	return runColumns.values(row)
}

// MetricValues returns the values of a metric as RunValues does, in the order of Samples.Columns, without run_id.
func MetricValues(m *Metric) iter.Seq[any] { return sampleColumns[1:].values(m) }

// OpValues returns the values of an op as RunValues does, in the order of Ops.Columns, without run_id.
func OpValues(o *Op) iter.Seq[any] { return opColumns[1:].values(o) }

// RunRow returns the values of a run in the order of Runs.Columns. digest is the result of DigestOf.
func RunRow(r *Run, digest string) []any { return rowOf(RunValues(r, digest), len(runColumns)) }

// MetricRow returns the values of a metric in the order of Samples.Columns, without run_id.
func MetricRow(m *Metric) []any { return rowOf(MetricValues(m), len(sampleColumns)-1) }

// OpRow returns the values of an op in the order of Ops.Columns, without run_id.
func OpRow(o *Op) []any { return rowOf(OpValues(o), len(opColumns)-1) }

// RunOf returns the inverse of RunRow: it gives the run of a row of runs, without metrics and ops. Derived values are left
// out: the digest and the summary, except the name of the primary metric.
func RunOf(row []any) Run {
	r, _ := StoredRunOf(row)
	r.Metrics = nil
	return r
}

// StoredRunOf is RunOf with the derived values: the digest and, as the only metric of the run, the primary one with its
// summary and without samples.
func StoredRunOf(row []any) (r Run, digest string) {
	var m Metric
	stored := runRow{Run: &r, primary: &m}
	runColumns.set(&stored, row)
	r.Primary = m.Name
	if m.Name != "" || m.Summary != (Summary{}) {
		r.Metrics = []Metric{m}
	}
	return r, stored.digest
}

// MetricOf returns the inverse of MetricRow.
func MetricOf(row []any) (m Metric) { sampleColumns[1:].set(&m, row); return m }

// OpOf returns the inverse of OpRow.
func OpOf(row []any) (o Op) { opColumns[1:].set(&o, row); return o }

func (all columns[T]) values(t *T) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, c := range all {
			if !yield(valueIn(c.field(t))) {
				return
			}
		}
	}
}

func (all columns[T]) set(t *T, row []any) {
	for i, c := range all {
		setField(c.field(t), row[i])
	}
}

// rowOf returns a row of n values, each with the type that Kind names.
func rowOf(values iter.Seq[any], n int) []any {
	row := make([]any, 0, n)
	for value := range values {
		row = append(row, plain(value))
	}
	return row
}

// valueIn returns the pointer to the value in a field, or nil if the value is NULL. Empty texts, nil and the zero time are NULL; so is a
// tick of 0.
func valueIn(field any) any {
	switch f := field.(type) {
	case *string:
		return orNull(f, *f == "")
	case **int64:
		return orNull(*f, *f == nil)
	case **float64:
		return orNull(*f, *f == nil)
	case *float64:
		return orNull(f, *f == 0)
	case **bool:
		return orNull(*f, *f == nil)
	case *time.Time:
		return orNull(f, f.IsZero())
	case *[]string:
		return orNull(f, *f == nil)
	case *[]int64:
		return orNull(f, *f == nil)
	case *[]float64:
		return orNull(f, *f == nil)
	case *map[string]string:
		return orNull(f, *f == nil)
	case *map[string]float64:
		return orNull(f, *f == nil)
	case *[]Artifact:
		if *f == nil {
			return nil
		}
		rows := make([][]any, len(*f))
		for i := range rows {
			rows[i] = rowOf(artifactColumns.values(&(*f)[i]), len(artifactColumns))
		}
		return &rows
	}
	return field
}

func orNull[T any](value *T, null bool) any {
	if null {
		return nil
	}
	return value
}

// plain returns the value that a pointer points to.
func plain(value any) any {
	if t, ok := value.(*time.Time); ok {
		return t.UTC()
	}
	if p := reflect.ValueOf(value); p.Kind() == reflect.Pointer {
		return p.Elem().Interface()
	}
	return value
}

// setField sets a field to a value of a row, or leaves it unchanged if the value is NULL.
func setField(field, value any) {
	if value == nil {
		return
	}
	switch f := field.(type) {
	case *string:
		*f, _ = value.(string)
	case *int64:
		*f, _ = value.(int64)
	case *float64:
		*f, _ = value.(float64)
	case **int64:
		*f = optional[int64](value)
	case **float64:
		*f = optional[float64](value)
	case **bool:
		*f = optional[bool](value)
	case *time.Time:
		*f, _ = value.(time.Time)
	case *[]string:
		*f, _ = value.([]string)
	case *[]int64:
		*f, _ = value.([]int64)
	case *[]float64:
		*f, _ = value.([]float64)
	case *map[string]string:
		*f, _ = value.(map[string]string)
	case *map[string]float64:
		*f, _ = value.(map[string]float64)
	case *[]Artifact:
		rows, _ := value.([][]any)
		*f = make([]Artifact, len(rows))
		for i, row := range rows {
			artifactColumns.set(&(*f)[i], row)
		}
	}
}

// optional points to a value, if it has the type.
func optional[T any](value any) *T {
	if v, ok := value.(T); ok {
		return &v
	}
	return nil
}
