package foreign

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// SetAxis sets an axis of a run: in its column if it has one (bs is batch_size), otherwise as a parameter. A number must
// already be canonical text (Canonical). A value becomes a parameter, under a name that is not a column, if it does not
// fit the column, if it is an unknown precision, or if another axis has set the column, as bs beside batch_size. So no
// axis replaces another.
func SetAxis(r *schema.Run, name, text string) {
	switch column := axisOf(r, name).(type) {
	case **int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil && (*column == nil || **column == n) {
			*column = &n
			return
		}
	case *string:
		value, err := text, error(nil)
		if column == &r.Precision {
			value, err = schema.CanonicalPrecision(text)
		}
		if err == nil && (*column == "" || *column == value) {
			*column = value
			return
		}
	}
	if other := axisParams[name]; other != "" {
		name = other
	}
	Put(&r.Params, name, text)
}

// axisParams are the parameters with the values that the columns of axes cannot have.
var axisParams = map[string]string{"batch_size": "batch", "seq_len": "seq", "precision": "dtype", "backend": "backend_param", "model": "model_param"}

// axisOf returns the column of an axis: **int64 or *string; nil if the axis is a parameter.
func axisOf(r *schema.Run, name string) any {
	switch schema.CanonicalAlias(name) {
	case "batch_size":
		return &r.BatchSize
	case "seq_len":
		return &r.SeqLen
	case "precision":
		return &r.Precision
	case "backend":
		return &r.Backend
	case "model":
		return &r.Model
	}
	return nil
}

// HasAxis reports whether a run has a value of an axis.
func HasAxis(r *schema.Run, name string) bool {
	switch column := axisOf(r, name).(type) {
	case **int64:
		return *column != nil
	case *string:
		return *column != ""
	}
	_, ok := r.Params[name]
	return ok
}

// SetParam sets a parameter of a run. Numbers become canonical text. An empty text is not a value.
func SetParam(r *schema.Run, name, text string) {
	if text != "" {
		SetAxis(r, name, Canonical(text))
	}
}

// Canonical returns the canonical text of a number, and any other text unchanged.
func Canonical(text string) string {
	if number, err := schema.CanonicalNumber(text); err == nil {
		return number
	}
	return text
}

// TextOf returns the canonical text of a JSON value: strings unchanged, numbers and containers as schema.CanonicalJSON prints
// them, and an empty text for null.
func TextOf(value jsontext.Value) string {
	switch value.Kind() {
	case jsontext.KindInvalid, jsontext.KindNull:
		return ""
	case jsontext.KindString:
		var s string
		if Decode(value, &s) == nil {
			return s
		}
	case jsontext.KindNumber:
		return Canonical(string(value))
	}
	text, err := schema.CanonicalValue(value)
	if err != nil { // a number in it is out of range
		return string(value)
	}
	return text
}

// Text is a JSON scalar or container as text; see TextOf.
type Text string

// UnmarshalJSON takes any value.
func (t *Text) UnmarshalJSON(value []byte) error {
	*t = Text(TextOf(value))
	return nil
}

// MetricName makes the name of a metric from any text: letters, digits and _ . : / - stay, everything else becomes _. An
// empty text stays empty.
func MetricName(text string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_.:/-", r):
			return r
		}
		return '_'
	}, strings.TrimSpace(text))
	if name != "" && !strings.Contains("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", name[:1]) {
		name = "_" + name
	}
	return name
}

// Secret reports whether a name that a user chose looks like the name of a secret.
func Secret(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{"key", "_token", "secret", "password", "passwd", "auth", "authorization", "credential", "credentials"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == "token"
}

// SetStart sets when a run began. A time outside of 1970 to 2200 counts as unknown.
func SetStart(r *schema.Run, at time.Time, source schema.TimeSource) {
	if at.Unix() <= 0 || at.Year() > 2200 {
		return
	}
	r.StartedAt, r.TimeSource = at.UTC().Truncate(time.Microsecond), source
}

// SetStart sets when a run began to a time of the file with one of the layouts, which are ISO by default. A text that is not a time sets
// nothing.
func (in *Input) SetStart(r *schema.Run, text string, layouts ...string) {
	if len(layouts) == 0 {
		layouts = ISO
	}
	if at, source, err := in.Time(text, layouts...); err == nil {
		SetStart(r, at, source)
	}
}

// Time parses a time with the first layout that fits. A time without a zone is in the zone that the user named, or else
// is read as UTC and marked as naive.
func (in *Input) Time(text string, layouts ...string) (time.Time, schema.TimeSource, error) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil && saysZone(layout) {
			return at, schema.TimeFile, nil
		}
		if in.Location != nil {
			if at, err := time.ParseInLocation(layout, text, in.Location); err == nil {
				return at, schema.TimeFile, nil
			}
		}
		if at, err := time.Parse(layout, text); err == nil {
			return at, schema.TimeNaive, nil
		}
	}
	return time.Time{}, "", fmt.Errorf("%q is not a time", Brief(text))
}

// saysZone reports whether times of a layout have a zone.
func saysZone(layout string) bool {
	summer := time.Date(2000, 1, 1, 0, 0, 0, 0, time.FixedZone("", 7200))
	return summer.Format(layout) != summer.UTC().Add(2*time.Hour).Format(layout)
}

// ISO are the layouts of ISO 8601 that tools write, with and without a zone.
var ISO = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999Z0700"}
