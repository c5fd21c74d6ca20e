package filter

import (
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
)

// QuoteWord returns a text as a value of a filter, quoted unless it is a plain word.
func QuoteWord(text string) string {
	plain := text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", r)
	})
	if plain {
		return text
	}
	return Quote(text)
}

// periods are the units of an age, by the letters after the number.
var periods = map[string]time.Duration{
	"s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "hours": time.Hour,
	"d": day, "day": day, "days": day, "w": 7 * day, "week": 7 * day, "weeks": 7 * day,
}

const day = 24 * time.Hour

// Time parses a time as users type it: an age (90s 30m 12h 7d 2w), today, yesterday, or a date or time in local time. The error names
// asker, such as --since.
func Time(asker, text string, now time.Time) (time.Time, error) {
	if letters := strings.TrimLeft(text, "0123456789."); periods[letters] > 0 {
		amount := strings.TrimSuffix(text, letters)
		if f, err := strconv.ParseFloat(amount, 64); err == nil && f >= 0 && f*float64(periods[letters]) < 1<<62 {
			return now.Add(-time.Duration(f * float64(periods[letters]))), nil
		}
	}
	if back, ok := map[string]int{"today": 0, "yesterday": -1}[text]; ok {
		year, month, day := now.In(time.Local).Date()
		return time.Date(year, month, day+back, 0, 0, 0, 0, time.Local), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, answer.InputError("%s %q: want an age (90s 30m 12h 7d 2w) or a date (2026-11-01)", asker, answer.Brief(text))
}
