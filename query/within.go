package query

import (
	"context"
	"strings"
	"time"
)

// noneWithin remarks, if no run is within the bounds, when the newest run started that matches the rest of the request.
func (db *DB) noneWithin(ctx context.Context, req ListRequest) error {
	if db.stores.Remark == nil || req.Since.IsZero() && req.Until.IsZero() {
		return nil
	}
	newest, err := db.Runs(ctx, ListRequest{Filter: req.Filter, Metrics: req.Metrics, Limit: 1}, "started_at")
	if err != nil || len(newest) == 0 {
		return err
	}
	text := "no run "
	if strings.TrimSpace(req.Filter) != "" {
		text = "no such run "
	}
	zone := req.Since.Location()
	switch {
	case req.Until.IsZero():
		text += "since " + minute(req.Since, zone)
	case req.Since.IsZero():
		zone = req.Until.Location()
		text += "before " + minute(req.Until, zone)
	default:
		text += "from " + minute(req.Since, zone) + " to " + minute(req.Until, zone)
	}
	if began := newest[0].StartedAt; began.IsZero() {
		text += "; none has a start time"
	} else {
		text += "; the newest started at " + minute(began, zone)
	}
	db.stores.Remark(text)
	return nil
}

// minute formats a time for remarks, in the zone of the bounds.
func minute(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04 MST")
}
