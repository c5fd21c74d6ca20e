package schema

import (
	"slices"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var (
	causeWord   = regexp.MustCompile(`[\w.:/\\+%µ-]+`)
	causeNumber = regexp.MustCompile(`^[+-]?(0x[0-9a-fA-F]+|(\d+(\.\d+)?([eE][+-]?\d+)?(%|[kKMGT]?i?B|[nuµm]?s|m|min|h)?)+)[.:]?$`)
	causeAt     = regexp.MustCompile(`^process \d+ of \w+: `)
	causeUnit   = regexp.MustCompile(`^([kKMGT]?i?B|bytes|[nuµm]?s)[.:]?$`)
)

// codes are words before a number that identifies the failure, such as an exit status.
var codes = []string{"status", "code", "error", "errno", "signal", "line", "http"}

// Cause replaces amounts, addresses and other numbers in the error of a run with #, so that runs that failed in the same
// way have the same text, even if one wrote 1234 B and another 1300 B. Numbers that identify the failure stay, as in
// "exit status 2", and so do numbers in names. It leaves out what WithoutProcess does.
func Cause(text string) string {
	text = WithoutProcess(text)
	before, number := "", false
	return causeWord.ReplaceAllStringFunc(text, func(word string) string {
		isCode := slices.Contains(codes, strings.ToLower(before))
		number = !isCode && causeNumber.MatchString(word) || number && causeUnit.MatchString(word)
		before = strings.TrimRight(word, ".:")
		if number {
			return "#"
		}
		return word
	})
}

// WithoutProcess returns the error of a run without the process of the program that failed: the first may be of the warm-up, and the others of
// the measurement.
func WithoutProcess(text string) string { return causeAt.ReplaceAllString(text, "") }
