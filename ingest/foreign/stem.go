package foreign

import (
	"path"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// turned matches what the rotation of logs adds to a name: numbers, dates and words at its end.
var turned = regexp.MustCompile(`(?i)(\.(gz|xz|bz2|zst|old|bak|prev)|[._-][0-9]+)+$`)

// stem is the part of a file's name that a log keeps when it is rotated, compressed or copied with its date: log, log.1, log.2.gz and
// log-20261001 have the same one, and so have log-2026-10-01.txt and log-2026-10-02.txt.
func stem(name string) string {
	base := path.Base(name)
	for _, d := range datesIn(base) {
		base = strings.Replace(base, d.text, "", 1)
	}
	if short := turned.ReplaceAllString(base, ""); short != "" {
		base = short
	}
	return strings.TrimRight(base, "._-")
}
