package foreign

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// SetStart sets when a run began. A time outside of 1970 to 2200 counts as unknown.
func SetStart(r *schema.Run, at time.Time, source schema.TimeSource) {
	if at.Unix() <= 0 || at.Year() > 2200 {
		return
	}
	r.StartedAt, r.TimeSource = at.UTC().Truncate(time.Microsecond), source
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
