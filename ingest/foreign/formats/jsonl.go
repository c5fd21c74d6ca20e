package formats

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// jsonLines is NeuroLens's own format: one run per line, with its samples and operators.
var jsonLines = foreign.Format{
	Name:      "jsonl",
	Log:       true,
	About:     "NeuroLens's own format, one run per line (neurolens ingest --json-schema; neurolens export - --format jsonl)",
	Level:     "a run is a line, which says what a sample is",
	Recognize: isRunLine,
	Read:      readRunLines,
}

// isRunLine reports whether a file begins with a run. A run after other text may be an example, as on a page about the
// format.
func isRunLine(h *foreign.Head) bool {
	return len(bytes.TrimSpace(h.Bytes[:max(h.JSONAt, 0)])) == 0 && h.Has("benchmark") && (h.HasAny("samples[].metric", "status") || h.Has("run_id", "point_id"))
}

func readRunLines(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	j.Strict()
	for n := 1; j.More(); n++ {
		text, err := j.Value()
		if err != nil {
			return fmt.Errorf("run %d: %w", n, err)
		}
		r, digest, err := runOfLine(text)
		if err != nil {
			out.Refuse(fmt.Sprintf("run %d", n), err)
			continue
		}
		if r.RunID != "" && digest != "" {
			asStored(out, &r, digest)
		}
		if err := out.Run(fmt.Sprintf("run %d", n), r); err != nil {
			return err
		}
	}
	return nil
}

// Names of members.
const (
	samplesMember = "samples"
	opsMember     = "ops"
	sessionMember = "session_id"
	valuesMember  = "values" // samples as real numbers in any unit
)

// runOfLine reads a run: the columns of the table of runs by name, and the rows of its samples and operators. It also returns the digest
// that the line names.
func runOfLine(text jsontext.Value) (r schema.Run, digest string, err error) {
	members, err := membersOf(text)
	if err != nil {
		return schema.Run{}, "", err
	}
	nested := map[string]jsontext.Value{}
	for _, name := range []string{samplesMember, opsMember} {
		nested[name] = members[name]
		delete(members, name)
	}
	if session := members[sessionMember]; session.Kind() == jsontext.KindNumber { // such as the number of a job
		members[sessionMember] = jsontext.Value(`"` + string(session) + `"`)
	}
	row, err := rowOf(schema.Runs.Columns, members, samplesMember, opsMember)
	if err != nil {
		return schema.Run{}, "", err
	}
	digest, _ = row[digestPlace].(string)
	r = schema.RunOf(row)
	if r.Benchmark == "" {
		return schema.Run{}, "", errors.New("benchmark is missing")
	}
	if r.RunID != "" && r.Primary != "" && nested[samplesMember] == nil {
		return schema.Run{}, "", errors.New("a stored run without its samples: write it with export - --format jsonl")
	}
	if err := metricsOf(&r, nested[samplesMember]); err != nil {
		return schema.Run{}, "", err
	}
	if err := opsOf(&r, nested[opsMember]); err != nil {
		return schema.Run{}, "", err
	}
	if r.RunID == "" {
		tidy(&r)
	}
	return r, digest, nil
}

var digestPlace = schema.Runs.Place("digest")

// maxLaterTags is the maximum number of tags of a run that may have been set later; each combination of them is tried.
const maxLaterTags = 10

// asStored removes the tags from a run that it was not stored with, so that it has the digest of the stored run. They were set later by
// events, and out sets them again in the same way. If no choice of tags results in the digest, the run was changed in another way, and
// stays unchanged.
func asStored(out *foreign.Output, r *schema.Run, digest string) {
	var digester schema.Digester
	if digester.Of(r) == digest {
		return
	}
	keys, all := slices.Sorted(maps.Keys(r.Tags)), r.Tags
	if len(keys) <= maxLaterTags {
		for later := 1<<len(keys) - 1; later > 0; later-- { // most often the run was stored without tags
			r.Tags = maps.Clone(all)
			set := map[string]string{}
			for i, key := range keys {
				if later&(1<<i) != 0 {
					set[key] = all[key]
					delete(r.Tags, key)
				}
			}
			if len(r.Tags) == 0 {
				r.Tags = nil
			}
			if digester.Of(r) == digest {
				out.Tag(r.RunID, set)
				return
			}
		}
	}
	r.Tags = all
	out.Note("the run is not as it was stored: its digest is another one, and store merge will not take it for the stored run", 1)
}

// tidy converts values that programs write to the form of the store: canonical text, columns of axes, times.
func tidy(r *schema.Run) {
	if p, err := schema.CanonicalPrecision(r.Precision); err == nil {
		r.Precision = p
	}
	if !r.StartedAt.IsZero() {
		r.StartedAt = r.StartedAt.UTC().Truncate(time.Microsecond)
		if r.TimeSource == "" {
			r.TimeSource = schema.TimeFile
		}
	}
	params := r.Params
	r.Params = nil
	for name, value := range params {
		foreign.SetAxis(r, name, foreign.Canonical(value))
	}
}

func membersOf(text jsontext.Value) (map[string]jsontext.Value, error) {
	if text.Kind() != jsontext.KindBeginObject {
		return nil, fmt.Errorf("%.40s is not an object", text)
	}
	if hasMany(text) {
		return nil, fmt.Errorf("an object of more than %d members", maxMembers)
	}
	var members map[string]jsontext.Value
	err := foreign.DecodeOnce(text, &members)
	return members, err
}

// maxMembers limits the members of an object, and the objects of a list: each takes much more memory and time than a number.
const maxMembers = 100_000

// hasMany reports whether an object or a list has more than maxMembers.
func hasMany(text jsontext.Value) bool {
	if bytes.Count(text, []byte(",")) < maxMembers {
		return false
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	begin, err := d.ReadToken()
	n := 0
	for ; err == nil && n <= maxMembers && d.PeekKind() != jsontext.KindEndObject && d.PeekKind() != jsontext.KindEndArray; n++ {
		if begin.Kind() == jsontext.KindBeginObject {
			_, err = d.ReadToken()
		}
		if err == nil {
			err = d.SkipValue()
		}
	}
	return n > maxMembers // decoding reports errors in the text
}

func metricsOf(r *schema.Run, text jsontext.Value) error {
	rows, err := listOf(text)
	if err != nil {
		return fmt.Errorf("samples: %w", err)
	}
	for _, one := range rows {
		m, unit, err := metricOf(one, r.RunID != "")
		if err != nil {
			return fmt.Errorf("samples: %w", err)
		}
		if unit != m.Unit {
			foreign.SetFact(r, "source.unit."+m.Name, unit)
		}
		r.Metrics = append(r.Metrics, m)
	}
	return nil
}

// metricOf reads a row of samples in any unit, and returns that unit. A stored metric stays unchanged.
func metricOf(text jsontext.Value, stored bool) (m schema.Metric, unit string, err error) {
	members, err := membersOf(text)
	if err != nil {
		return m, "", err
	}
	values := members[valuesMember]
	delete(members, valuesMember)
	row, err := rowOf(schema.Samples.Columns[1:], members, valuesMember)
	if err != nil {
		return m, "", err
	}
	m = schema.MetricOf(row)
	if m.Name == "" {
		return m, "", errors.New("metric is missing")
	}
	if stored && values == nil {
		return m, m.Unit, nil
	}
	if kind, known := schema.KindOfMetric(m.Name); known && m.Better == "" {
		m.Better = kind.Better
	}
	unit = m.Unit
	inStoredUnit(&m)
	if values == nil || m.Ticks != nil || m.Reals != nil {
		return m, unit, nil
	}
	s, err := foreign.ReadSeries(values, unit)
	if err != nil {
		return m, "", fmt.Errorf("metric %s: %w", m.Name, err)
	}
	m.Ticks, m.Reals, m.Summary = s.Ticks, s.Reals, schema.Summary{}
	if m.Ticks != nil {
		m.Tick = 1
	}
	return m, unit, nil
}

// inStoredUnit converts a metric to the stored unit of its unit.
func inStoredUnit(m *schema.Metric) {
	stored, factor, _ := schema.StoredUnit(m.Unit)
	m.Unit = stored
	if factor == 1 {
		return
	}
	m.Tick *= factor
	for i := range m.Reals {
		m.Reals[i] *= factor
	}
	for i := range m.WarmupReals {
		m.WarmupReals[i] *= factor
	}
	s := &m.Summary
	for _, v := range []*float64{s.Min, s.Max, s.Mean, s.StdDev, s.P25, s.P50, s.P75, s.P90, s.P95, s.P99, s.MAD, s.First} {
		if v != nil {
			*v *= factor
		}
	}
	s.LogMedian = nil // recomputed from the median
}

func opsOf(r *schema.Run, text jsontext.Value) error {
	rows, err := listOf(text)
	if err != nil {
		return fmt.Errorf("ops: %w", err)
	}
	for i, one := range rows {
		members, err := membersOf(one)
		if err != nil {
			return fmt.Errorf("ops: %w", err)
		}
		row, err := rowOf(schema.Ops.Columns[1:], members)
		if err != nil {
			return fmt.Errorf("ops: %w", err)
		}
		if row[0] == nil {
			row[0] = int64(i)
		}
		r.Ops = append(r.Ops, schema.OpOf(row))
	}
	return nil
}

func listOf(text jsontext.Value) ([]jsontext.Value, error) {
	if text == nil || text.Kind() == jsontext.KindNull {
		return nil, nil
	}
	if hasMany(text) {
		return nil, fmt.Errorf("a list of more than %d rows", maxMembers)
	}
	var rows []jsontext.Value
	err := foreign.Decode(text, &rows)
	return rows, err
}

// rowOf reads the members of an object as the columns of a table. A member that is not a column is an error, because it would be lost;
// others are names that the caller reads. Warnings, digests and summaries are read if present, and computed again when the run is
// stored.
func rowOf(columns []*schema.Column, members map[string]jsontext.Value, others ...string) ([]any, error) {
	row := make([]any, len(columns))
	read := 0
	for i, c := range columns {
		text, ok := members[c.Name]
		if !ok {
			continue
		}
		read++
		if text.Kind() == jsontext.KindNull {
			continue
		}
		value, err := valueOf(c, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		row[i] = value
	}
	if read < len(members) {
		return nil, unknownMember(columns, members, others)
	}
	return row, nil
}

func unknownMember(columns []*schema.Column, members map[string]jsontext.Value, others []string) error {
	names := slices.Clone(others)
	known := map[string]bool{}
	for _, c := range columns {
		names = append(names, c.Name)
		known[c.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !known[name] {
			if near := schema.Nearest(name, names); near != "" {
				return fmt.Errorf("unknown key %q: did you mean %q?", name, near)
			}
			return fmt.Errorf("unknown key %q: values without a column go into params, tags or env", name)
		}
	}
	return nil
}

func valueOf(c *schema.Column, text jsontext.Value) (any, error) {
	switch c.Kind {
	case schema.KindString:
		return stringOf(text)
	case schema.KindInt:
		return integerOf(text)
	case schema.KindReal:
		return realOf(text)
	case schema.KindBool:
		var b bool
		err := foreign.Decode(text, &b)
		return b, err
	case schema.KindTime:
		return timeOf(text)
	case schema.KindList:
		return listValue(c.Children[0], text)
	default:
		return mapValue(c.Children[1], text)
	}
}

func stringOf(text jsontext.Value) (any, error) {
	var s string
	if text.Kind() != jsontext.KindString {
		return nil, fmt.Errorf("%.40s is not a string", text)
	}
	if err := foreign.Decode(text, &s); err != nil {
		return nil, err
	}
	if s == "" {
		return nil, nil
	}
	return s, nil
}

func integerOf(text jsontext.Value) (any, error) {
	if text.Kind() == jsontext.KindNumber {
		if n := foreign.Number(text).Int64(); n != nil {
			return *n, nil
		}
	}
	return nil, fmt.Errorf("%.40s is not a 64-bit integer", text)
}

// realOf reads a number, or a word for one that JSON does not have.
func realOf(text jsontext.Value) (any, error) {
	switch string(text) {
	case `"NaN"`:
		return math.NaN(), nil
	case `"Infinity"`:
		return math.Inf(1), nil
	case `"-Infinity"`:
		return math.Inf(-1), nil
	}
	if text.Kind() != jsontext.KindNumber {
		return nil, fmt.Errorf("%.40s is not a number", text)
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return nil, fmt.Errorf("%.40s is not a 64-bit number", text)
	}
	return v, nil
}

func timeOf(text jsontext.Value) (any, error) {
	var s string
	if err := foreign.Decode(text, &s); err != nil {
		return nil, err
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return nil, fmt.Errorf("%q is not a time with a time zone: want 2026-01-31T10:00:00Z", s)
	}
	return at.UTC(), nil
}

func listValue(element *schema.Column, text jsontext.Value) (any, error) {
	var all []jsontext.Value
	if err := foreign.Decode(text, &all); err != nil {
		return nil, err
	}
	switch element.Kind {
	case schema.KindInt:
		return listAs[int64](element, all)
	case schema.KindReal:
		return listAs[float64](element, all)
	case schema.KindString:
		list := make([]string, len(all))
		for i, one := range all {
			if err := foreign.Decode(one, &list[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	default:
		rows := make([][]any, len(all))
		for i, one := range all {
			members, err := membersOf(one)
			if err != nil {
				return nil, err
			}
			if rows[i], err = rowOf(element.Children, members); err != nil {
				return nil, err
			}
		}
		return rows, nil
	}
}

func listAs[T any](element *schema.Column, all []jsontext.Value) (any, error) {
	list := make([]T, len(all))
	for i, one := range all {
		value, err := valueOf(element, one)
		if err != nil {
			return nil, err
		}
		list[i] = value.(T) // guaranteed by the kind of the column
	}
	return list, nil
}

// mapValue reads a map of numbers, or of texts; then numbers and other values become canonical text.
func mapValue(value *schema.Column, text jsontext.Value) (any, error) {
	members, err := membersOf(text)
	if err != nil {
		return nil, err
	}
	if value.Kind == schema.KindReal {
		numbers := make(map[string]float64, len(members))
		for name, one := range members {
			n, err := realOf(one)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			numbers[name] = n.(float64) // by realOf
		}
		return numbers, nil
	}
	texts := make(map[string]string, len(members))
	for name, one := range members {
		if one.Kind() != jsontext.KindNull {
			texts[name] = foreign.TextOf(one)
		}
	}
	return texts, nil
}

//go:embed run.schema.json
var runSchema string

// JSONSchema returns the JSON Schema (draft 2020-12) of one line of the format jsonl.
func JSONSchema() string { return runSchema }
