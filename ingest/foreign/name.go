package foreign

import "strings"

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
