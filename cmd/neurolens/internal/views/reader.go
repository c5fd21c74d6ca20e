package views

import (
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// Reader is who reads a screen: how wide it is, what time it is there, and which stores were named.
type Reader struct {
	Width  int
	Whole  bool // names are not cut, as on a pipe
	Now    time.Time
	Stores []string
	UTC    bool // times are printed with the date and in UTC, for readers elsewhere
}

// Page is what the reader has before them, without colour.
func (r Reader) Page() term.Page { return term.Page{Width: r.Width, Whole: r.Whole} }

// When prints a time, in local time unless the reader is elsewhere; what is no time is not known.
func (r Reader) When(v any) string {
	t, ok := v.(time.Time)
	if !ok || t.IsZero() {
		return term.Unknown
	}
	if r.UTC {
		return t.UTC().Format("2006-01-02 15:04 UTC")
	}
	t, now := t.Local(), r.Now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return "today " + t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// Offset is the offset of local time from UTC, for the header above times: UTC, or UTC+02:00.
func (r Reader) Offset() string {
	return strings.TrimSuffix("UTC"+r.Now.Local().Format("-07:00"), "+00:00")
}

// OfStores are the words of a command that name the stores again.
func (r Reader) OfStores() string {
	words := ""
	for _, dir := range r.Stores {
		words += " --store " + term.ShellWord(dir)
	}
	return words
}
