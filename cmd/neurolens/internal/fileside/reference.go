// Package fileside reads one side of a comparison from a file instead of stored runs: a file on disk, or a file of a
// commit.
//
// The form of a name distinguishes a file from a filter. The readers of package ingest read the file into a private store,
// which is queried like any other. The store of the user is not written.
package fileside

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// What a reference begins with. A filter of a parameter that is called so begins with param.
const (
	gitPrefix  = "git:"
	filePrefix = "file:"
)

// reference names a file of which the runs of a side are read.
type reference struct {
	Commit string // that has the file; empty: it is on the disk
	Path   string
	Filter string // of its runs; empty: all
}

// IsFile reports whether a side of a comparison is a file.
func IsFile(side string) bool {
	_, is, _ := parse(side)
	return is
}

// parse reads a side of a comparison. It is a file if it is git:REF:PATH or file:PATH, or without these where it is a path that
// exists and cannot be a filter, which has an operator in every condition. A filter of the file's runs may follow.
func parse(side string) (r reference, isFile bool, err error) {
	if text, ok := strings.CutPrefix(side, gitPrefix); ok {
		ref, rest, found := strings.Cut(text, ":")
		r.Path, r.Filter = split(rest)
		if r.Commit = ref; !found || ref == "" || r.Path == "" {
			return r, true, fmt.Errorf("%q: want git:REF:PATH, as git:main:reports/summary.json", side)
		}
		return r, true, nil
	}
	text, ok := strings.CutPrefix(side, filePrefix)
	if !ok && (isCondition(side) || side == "") {
		first, _ := split(side)
		if isCondition(first) || !exists(first) {
			return reference{}, false, nil
		}
	}
	if !ok && !isCondition(side) && !exists(side) {
		if strings.ContainsAny(side, "./") {
			return r, true, fmt.Errorf("%q is neither a file nor a filter (KEY=VALUE)", side)
		}
		return reference{}, false, nil
	}
	if exists(text) {
		return reference{Path: text}, true, nil
	}
	if r.Path, r.Filter = split(text); r.Path == "" {
		return r, true, fmt.Errorf("%q: want file:PATH", side)
	}
	return r, true, nil
}

// split parts a path from the filter behind it, which begins with the first word that can be one.
func split(text string) (path, filter string) {
	for at := 0; at < len(text); at++ {
		if text[at] != ' ' {
			continue
		}
		rest := strings.TrimLeft(text[at:], " ")
		word, _, _ := strings.Cut(rest, " ")
		if isCondition(word) {
			return strings.TrimSpace(text[:at]), rest
		}
	}
	return strings.TrimSpace(text), ""
}

// isCondition tells whether a text has what every condition of a filter has.
func isCondition(text string) bool {
	return strings.ContainsAny(text, "=<>~!()") || slices.Contains([]string{"not", "or", "and"}, text)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
