package layout

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// own is the member neurolens of a result: the values that the other members leave out or express differently.
type own struct {
	RunID     string  `json:"run_id"`
	PointID   string  `json:"point_id"`
	Purpose   string  `json:"purpose"`
	StartedAt *string `json:"started_at"` // RFC 3339, UTC
	Machine   string  `json:"machine,omitempty"`
	Status    string  `json:"status"`
	Stage     string  `json:"stage,omitempty"`
	ErrorKind string  `json:"error_kind,omitempty"`
	Error     string  `json:"error,omitempty"`
	ExitCode  *int64  `json:"exit_code,omitempty"`
	Signal    string  `json:"signal,omitempty"`
	Suite     string  `json:"suite,omitempty"`
	Commit    string  `json:"commit,omitempty"`
	Repeat    *int64  `json:"repeat,omitempty"` // from 0

	Point    schema.Point      `json:"point"`
	Tags     map[string]string `json:"tags,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`

	Clock  string `json:"clock,omitempty"`  // of the times
	Level  string `json:"level,omitempty"`  // of the times
	Better string `json:"better,omitempty"` // of the times, if they are not the latency
	// Metrics has, by member, the metric that it holds, where this is not the one that the original system measures.
	Metrics    map[string]string `json:"metrics,omitempty"`
	RawTimesMS []number          `json:"raw_times_ms,omitempty"` // where the system has no member for them
	Primary    string            `json:"primary,omitempty"`      // the primary metric of the run
	// Values has every metric except the time. Other members may show it in the unit of the system, or another statistic of it.
	Values []ownValue `json:"values,omitempty"`
}

// ownValue is a run's value of a metric: the median, or the mean if the median is unknown.
type ownValue struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"` // as stored
	Better string `json:"better,omitempty"`
	Clock  string `json:"clock,omitempty"`
	Level  string `json:"level,omitempty"`
	N      *int64 `json:"n,omitempty"`    // number of samples
	Mean   bool   `json:"mean,omitempty"` // the value is the mean, because the median is unknown
	Value  number `json:"value"`
}

// ownOf returns the member for a run.
func ownOf(r *schema.Run) *own {
	o := &own{
		RunID: r.RunID, PointID: r.PointID, Purpose: string(r.Purpose), Suite: r.Suite, Machine: r.Env.Machine,
		Status: string(r.Status), Stage: string(r.Stage), ErrorKind: r.ErrorKind, Error: r.Error, ExitCode: r.ExitCode, Signal: r.Signal,
		Commit: r.Env.GitCommit, Repeat: r.RepeatIndex, Tags: r.Tags, Warnings: r.Warnings,
		Point: schema.PointOf(r),
	}
	if !r.StartedAt.IsZero() {
		o.StartedAt = new(r.StartedAt.UTC().Format(time.RFC3339Nano))
	}
	return o
}

// ownID has the members that identify a run in a member neurolens.
type ownID struct {
	RunID   string        `json:"run_id"`
	PointID string        `json:"point_id"`
	Status  schema.Status `json:"status"`
	Point   schema.Point  `json:"point"`
}

// ownIn returns the member neurolens of a result that this package wrote, or the one of the first of its runs. It returns an empty ownID
// if the named member of its system is not a text in the result. For several runs, the status is the status of one that was tried, if
// possible.
func ownIn(result []byte, member string) ownID {
	var members map[string]json.RawMessage
	var r struct {
		Own  ownID `json:"neurolens"`
		Runs []struct {
			Own ownID `json:"neurolens"`
		} `json:"runs"`
	}
	if json.Unmarshal(result, &members) != nil || !bytes.HasPrefix(members[member], []byte(`"`)) || json.Unmarshal(result, &r) != nil {
		return ownID{}
	}
	for i, run := range r.Runs {
		if i == 0 {
			r.Own = run.Own
		} else if run.Own.tried() {
			r.Own.Status = run.Own.Status
		}
	}
	return r.Own
}

// tried reports whether the run was not skipped, and is supported.
func (o *ownID) tried() bool { return rankOf(o.Status) != 1 }

// shows records the metric of a member if it is not the usual one.
func (o *own) shows(member string, m *schema.Metric, usual string) {
	if m == nil || m.Name == usual {
		return
	}
	if o.Metrics == nil {
		o.Metrics = map[string]string{}
	}
	o.Metrics[member] = m.Name
}

// rest records the metrics of an ok run other than its time, whose values the layout has in another form.
func (o *own) rest(r *schema.Run, time *schema.Metric) {
	if r.Status != schema.StatusOK {
		return
	}
	o.Primary = r.Primary
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if v := in(middle(m), ""); v != "" && m != time {
			o.Values = append(o.Values, ownValue{m.Name, m.Unit, string(m.Better), m.Clock, string(m.Level), m.Summary.N, m.Summary.P50 == nil, v})
		}
	}
}

// timed records the method by which the times were measured, and the samples if the layout has no member for them.
func (o *own) timed(member string, m *schema.Metric, samples bool) {
	if m == nil {
		return
	}
	o.Clock, o.Level = m.Clock, string(m.Level)
	if o.shows(member, m, schema.PrimaryMetric); m.Name != schema.PrimaryMetric {
		o.Better = string(m.Better)
	}
	if samples {
		o.RawTimesMS = times(m)
	}
}

// axes returns the axes of a point by name as JSON values, except those in without.
func axes(r *schema.Run, without ...string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	put := func(name, text string) {
		if text != "" && !slices.Contains(without, name) {
			all[name] = jsonValue(text)
		}
	}
	put("variant", r.Variant)
	put("model", r.Model)
	put("precision", r.Precision)
	if r.BatchSize != nil {
		put("batch_size", strconv.FormatInt(*r.BatchSize, 10))
	}
	if r.SeqLen != nil {
		put("seq_len", strconv.FormatInt(*r.SeqLen, 10))
	}
	for name, text := range r.Params {
		put(name, text)
	}
	return all
}

// jsonValue parses a canonical text: a number, true, false, a list or a map, otherwise the text itself.
func jsonValue(text string) json.RawMessage {
	if canonical, err := schema.CanonicalValue([]byte(text)); err == nil && canonical == text && text != "null" {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil { // cannot fail for a text
		return nil
	}
	return quoted
}

// described formats a map of axes: hidden_size=512 seed=42.
func described(all map[string]json.RawMessage) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		words = append(words, name+"="+strings.Trim(string(all[name]), `"`))
	}
	return strings.Join(words, " ")
}
