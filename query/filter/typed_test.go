package filter

import (
	"testing"
	"time"
)

func TestTime(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	year, month, today := now.In(time.Local).Date()
	midnight := time.Date(year, month, today, 0, 0, 0, 0, time.Local)
	for s, want := range map[string]time.Time{
		"7d": now.AddDate(0, 0, -7), "90s": now.Add(-90 * time.Second), "1.5h": now.Add(-90 * time.Minute), "2w": now.AddDate(0, 0, -14),
		"2026-11-01T10:00:00Z": time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local),
		"7days":                now.AddDate(0, 0, -7), "30min": now.Add(-30 * time.Minute),
		"yesterday": midnight.AddDate(0, 0, -1), "today": midnight,
	} {
		if got, err := Time("--since", s, now); err != nil || !got.Equal(want) {
			t.Errorf("%s is %v, %v; want %v", s, got, err, want)
		}
	}
	for _, bad := range []string{"", "d", "7", "7y", "-1d", "1e99d", "nand", "tomorrow", "7months"} {
		if got, err := Time("--since", bad, now); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestQuoteWord(t *testing.T) {
	for in, want := range map[string]string{"fp32": "fp32", "a b": `"a b"`, `x"y\`: `"x\"y\\"`, "": `""`} {
		if got := QuoteWord(in); got != want {
			t.Errorf("%q quotes as %s, want %s", in, got, want)
		}
		if got := Unquote(want); got != in {
			t.Errorf("%s unquotes as %q, want %q", want, got, in)
		}
	}
}

// TestQuoteFor: a column of numbers takes its value without quotes, and a word of the language is quoted elsewhere.
func TestQuoteFor(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"batch_size", "8", "8"}, {"seq_len", "16", "16"}, {"dim", "64", `"64"`}, {"variant", "null", `"null"`}, {"batch_size", "a b", `"a b"`}} {
		if got := QuoteFor(c[0], c[1]); got != c[2] {
			t.Errorf("%s=%s, want %s", c[0], got, c[2])
		}
	}
}
