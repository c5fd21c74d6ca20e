package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strconv"
	"strings"
)

// The reasons for which a fact is not known.
const (
	absent      = "absent"
	permission  = "permission"
	unsupported = "unsupported"
	timeout     = "timeout"
)

// longest is the most bytes that a value keeps; the rest says nothing new.
const longest = 4096

// facts collects what is known and, for the rest, why it is not. A name is in one of the two.
type facts struct{ known, missing map[string]string }

func newFacts() *facts {
	return &facts{known: map[string]string{}, missing: map[string]string{}}
}

// set notes a value unless the fact is known. An empty text is no value.
func (f *facts) set(name, value string) {
	if _, ok := f.known[name]; ok {
		return
	}
	value = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", " "), "\uFFFD"))
	if value == "" {
		f.miss(name, absent)
		return
	}
	if len(value) > longest {
		value = strings.TrimSpace(strings.ToValidUTF8(value[:longest], ""))
	}
	f.known[name] = value
	delete(f.missing, name)
}

// miss notes why a fact is not known, unless it is or a reason stands already.
func (f *facts) miss(name, why string) {
	if f.known[name] == "" && f.missing[name] == "" {
		f.missing[name] = why
	}
}

// put returns a function that notes what a reader returns: f.put("name")(read()).
func (f *facts) put(name string) func(value string, err error) {
	return func(value string, err error) {
		if err != nil {
			f.miss(name, reason(err))
			return
		}
		f.set(name, value)
	}
}

// merge takes over the facts of other, which has none of f's names.
func (f *facts) merge(other *facts) {
	maps.Copy(f.known, other.known)
	maps.Copy(f.missing, other.missing)
}

// integer returns a fact as a number; nil where it is not known.
func (f *facts) integer(name string) *int64 {
	n, err := strconv.ParseInt(f.known[name], 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// reason puts an error into one of the four words.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent
	case errors.Is(err, fs.ErrPermission):
		return permission
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return timeout
	}
	return unsupported
}

// malformed says that a source holds something that this program cannot read.
func malformed(what, text string) error {
	if len(text) > 40 {
		text = text[:40]
	}
	return fmt.Errorf("reading %s: unexpected value %q", what, text)
}
