package stat

import "github.com/neurolens/neurolens/schema"

// Words of warning about samples, stored with a run.
const (
	// WarnSpread: the middle half of the samples is wider than a tenth of their median.
	WarnSpread = "spread"
)

// spreadLimit is the interquartile range, as a share of the median, above which samples are called wide; spreadLeast
// is the fewest samples it is said of.
const (
	spreadLimit = 0.10
	spreadLeast = 10
)

// Warnings says what is wrong with the samples that a summary describes.
func Warnings(s schema.Summary) []string {
	if s.P50 == nil || *s.N < spreadLeast || *s.P50 <= 0 {
		return nil
	}
	if (*s.P75-*s.P25) / *s.P50 > spreadLimit {
		return []string{WarnSpread}
	}
	return nil
}
