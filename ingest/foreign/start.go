package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Start returns a function that determines the start of runs of a file that have none.
type Start func(in *Input) RunStart

// RunStart returns the start of a run of a file. It returns an error if there is none; the run is then refused.
type RunStart func(r *schema.Run) (time.Time, error)

// same returns the same start for all runs of a file.
func same(at time.Time, err error) RunStart {
	return func(*schema.Run) (time.Time, error) { return at, err }
}

// StartAt returns a start that the user names.
func StartAt(at time.Time) Start { return func(*Input) RunStart { return same(at, nil) } }

// StartOfName returns the date in the name of the file, with its time of day if it has one: 2026-10-01, 20261001 or
// 2026-10-01T12:00:00Z. A time without a zone is in the zone of the input, or UTC.
func StartOfName(in *Input) RunStart {
	name := path.Base(filepath.ToSlash(in.Name))
	at, err := dateIn(name, in.Location)
	if errors.Is(err, errNoDate) {
		err = fmt.Errorf("no date in the name %q, such as 2026-10-01 or 20261001T120000", Brief(name))
	}
	return same(at, err)
}

// StartOfPath returns the date in the path of the file as the user named it: in its name, or else in the closest folder that has one.
// Folders of years, months and days (2026/10/01) are a date too.
func StartOfPath(in *Input) RunStart {
	whole := filepath.ToSlash(in.Name)
	parts := strings.Split(whole, "/")
	for _, part := range slices.Backward(parts) {
		if at, err := dateIn(part, in.Location); !errors.Is(err, errNoDate) {
			return same(at, err)
		}
	}
	for end := len(parts) - 1; end >= 3; end-- {
		if at, err := dateIn(strings.Join(parts[end-3:end], "-"), in.Location); err == nil && len(parts[end-3]) == 4 {
			return same(at, nil)
		}
	}
	return same(time.Time{}, fmt.Errorf("no date in the path %q, such as 2026-10-01 or 2026/10/01", Brief(whole)))
}

// StartOfChange returns the time at which the file was changed last (mtime), in milliseconds.
func StartOfChange(in *Input) RunStart {
	if in.Folder == nil {
		return same(time.Time{}, errors.New("standard input and pipes have no time of change"))
	}
	info, err := fs.Stat(in.Folder, in.Path)
	if err != nil {
		return same(time.Time{}, cause(err))
	}
	return same(info.ModTime().Truncate(time.Millisecond), nil)
}

// dated matches a date and, after it, a time of day. dateOf decides whether a match is a date.
var dated = regexp.MustCompile(`([0-9]{4})(?:-([0-9]{2})-([0-9]{2})|_([0-9]{2})_([0-9]{2})|\.([0-9]{2})\.([0-9]{2})|([0-9]{2})([0-9]{2}))` +
	`(?:[T_ -]?([0-9]{2})[:.h_-]?([0-9]{2})(?:[:.m_-]?([0-9]{2})(?:\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}|\+[0-9]{4})?)?`)

// Groups of dated. Each way to write a month and a day has two groups; one pair matches.
const (
	yearGroup       = 1
	firstMonthGroup = 2
	compactMonth    = 8 // of 20261001, without separators
	hourGroup       = 10
	minuteGroup     = 11
	secondGroup     = 12 // without fractions
	zoneGroup       = 13
)

// date is a date in a name.
type date struct {
	text string
	at   time.Time // in UTC, or in the zone that it names
	zone bool      // it names one
}

var errNoDate = errors.New("no date")

// dateIn returns the date in a name. If it has several, they must be equal.
func dateIn(name string, location *time.Location) (time.Time, error) {
	all := datesIn(name)
	if len(all) == 0 {
		return time.Time{}, errNoDate
	}
	if i := slices.IndexFunc(all, func(d date) bool { return !d.at.Equal(all[0].at) }); i > 0 {
		return time.Time{}, fmt.Errorf("two dates in %q: %s and %s", Brief(name), all[0].text, all[i].text)
	}
	at := all[0].at
	if location != nil && !all[0].zone {
		at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, location)
	}
	return at, nil
}

// datesIn finds the dates in a name.
func datesIn(name string) (all []date) {
	for from := 0; from < len(name); {
		at := dated.FindStringSubmatchIndex(name[from:])
		if at == nil {
			break
		}
		for i := range at {
			if at[i] >= 0 {
				at[i] += from
			}
		}
		d, ok := dateOf(name, at)
		if !ok {
			from = at[0] + 1
			continue
		}
		all = append(all, d)
		from = at[0] + len(d.text)
	}
	return all
}

// dateOf reads a match of dated, given its indexes. ok is false if the date is a part of a longer number or of a hash, or if there is no
// such day. The digits after the date are not read as a time of day if there is no such time, or if they are a part of a longer number, of
// another date, or an amount (isAmount).
func dateOf(name string, at []int) (d date, ok bool) {
	group := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return name[at[2*i]:at[2*i+1]]
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	month, day, end := "", "", 0
	for i := firstMonthGroup; i < hourGroup; i += 2 {
		if group(i) != "" {
			month, day, end = group(i), group(i+1), at[2*(i+1)+1]
		}
	}
	if at[0] > 0 && isDigit(name[at[0]-1]) || isHash(name, at[0]) {
		return d, false
	}
	year := number(group(yearGroup))
	midnight := time.Date(year, time.Month(number(month)), number(day), 0, 0, 0, 0, time.UTC)
	if year < 1971 || year > 2199 || int(midnight.Month()) != number(month) || midnight.Day() != number(day) {
		return d, false
	}
	whole := at[1] == len(name) || !isDigit(name[at[1]])
	another := false // a second date follows, such as the end of a period
	for i := end; i < min(end+2, at[1]) && !another; i++ {
		next := dated.FindStringSubmatchIndex(name[i:])
		if next != nil && next[0] == 0 {
			for k := range next {
				if next[k] >= 0 {
					next[k] += i
				}
			}
			_, another = dateOf(name, next)
		}
	}
	hour, minute, second := number(group(hourGroup)), number(group(minuteGroup)), number(group(secondGroup))
	if !whole && !another && group(hourGroup) != "" && !isDigit(name[at[2*minuteGroup+1]]) { // apparent seconds are a part of another number
		at, whole, second = slices.Clone(at), true, 0
		at[1], at[2*zoneGroup] = at[2*minuteGroup+1], -1
	}
	if group(hourGroup) != "" && whole && !another && !isAmount(name, at, end) && hour < 24 && minute < 60 && second < 60 {
		zone, named := time.UTC, group(zoneGroup) != ""
		if named && group(zoneGroup) != "Z" {
			digits := strings.ReplaceAll(group(zoneGroup)[1:], ":", "")
			offset := number(digits[:2])*3600 + number(digits[2:])*60
			if group(zoneGroup)[0] == '-' {
				offset = -offset
			}
			zone = time.FixedZone("", offset)
		}
		return date{name[at[0]:at[1]], time.Date(year, midnight.Month(), midnight.Day(), hour, minute, second, 0, zone), named}, true
	}
	if end < len(name) && isDigit(name[end]) {
		return d, false
	}
	return date{name[at[0]:end], midnight, false}, true
}

// isAmount reports whether the digits after a date that ends at index end are no time of day: a letter follows (2026-10-01-1600MHz), or
// they are four digits after a hyphen (2026-10-01-2048) and the date has separators, which a time would have too (20261001-2048 has
// none).
func isAmount(name string, at []int, end int) bool {
	hour, bare := at[2*hourGroup], at[2*hourGroup+1] == at[2*minuteGroup]
	if hour == end || !bare || at[2*zoneGroup] >= 0 {
		return false
	}
	if at[1] < len(name) && isLetter(name[at[1]]) {
		return true
	}
	return name[end] == '-' && at[2*secondGroup] < 0 && at[2*compactMonth] < 0
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isHash reports whether the letters and digits at a place in a name are a hash: hexadecimal, with a letter.
func isHash(name string, at int) bool {
	alphanumeric := func(c byte) bool { return isDigit(c) || isLetter(c) }
	from, end := at, at
	for from > 0 && alphanumeric(name[from-1]) {
		from--
	}
	for end < len(name) && alphanumeric(name[end]) {
		end++
	}
	const hexadecimal = "0123456789abcdefABCDEF"
	word := name[from:end]
	return strings.Trim(word, hexadecimal) == "" && strings.ContainsAny(word, "abcdefABCDEF")
}

// turned matches the numbers, dates and words that the rotation of logs adds at the end of a name.
var turned = regexp.MustCompile(`(?i)(\.(gz|xz|bz2|zst|old|bak|prev)|[._-][0-9]+)+$`)

// stem returns the part of a file's name that a log keeps when it is rotated, compressed or copied with its date: log, log.1, log.2.gz and
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
