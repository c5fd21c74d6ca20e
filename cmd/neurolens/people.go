package main

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// shortRun is what people see of a run id, and may type.
func shortRun(id string) string {
	if len(id) <= 8 {
		return id
	}
	return id[len(id)-8:]
}

// when prints a time for people, in local time.
func (a *app) when(v any) string {
	t, ok := v.(time.Time)
	if !ok || t.IsZero() {
		return term.Unknown
	}
	t, now := t.Local(), a.now().Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return "today " + t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// offset is the offset of local time from UTC, for the header above times.
func (a *app) offset() string { return a.now().Local().Format("-07:00") }

func percent(v any) string {
	f, ok := v.(float64)
	if !ok {
		return term.Unknown
	}
	return fmt.Sprintf("%.1f %%", 100*f)
}
