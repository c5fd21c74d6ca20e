package filter

import (
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/internal/fault"
)

// QuoteWord is a text as a value of a filter: as it is where it is a plain word, which may be an alias.
func QuoteWord(text string) string {
	plain := text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", r)
	})
	if plain {
		return text
	}
	return Quote(text)
}

// Time reads what people type for a time: how long ago (90s 30m 12h 7d 2w), or a date or time in local time. The error names
// what asks for it, such as --since.
func Time(asker, text string, now time.Time) (time.Time, error) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if n := len(text); n > 1 && units[text[n-1]] > 0 {
		if f, err := strconv.ParseFloat(text[:n-1], 64); err == nil && f >= 0 && f*float64(units[text[n-1]]) < 1<<62 {
			return now.Add(-time.Duration(f * float64(units[text[n-1]]))), nil
		}
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fault.Input("%s %q: want how long ago (90s 30m 12h 7d 2w) or a date (2026-11-01)", asker, fault.Brief(text))
}
