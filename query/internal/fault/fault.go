// Package fault holds the errors that all parts of query have in common.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrInput is wrapped by what is the asker's to mend, ErrStore by what is wrong with a store.
var (
	ErrInput = errors.New("input")
	ErrStore = errors.New("store")
)

// inputErr is an ErrInput whose message does not say so.
type inputErr string

func (e inputErr) Error() string        { return string(e) }
func (e inputErr) Is(target error) bool { return target == ErrInput }

// Input is an ErrInput: one line, which says on its own what is wrong.
func Input(format string, args ...any) error {
	return inputErr(Printable(fmt.Sprintf(format, args...)))
}

// Printable keeps a text with names of users in it on one line.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, text)
}

// Brief makes a text of a user fit into one line of an error: cut to 60 characters, nothing unprintable.
func Brief(text string) string {
	const limit = 60
	if utf8.RuneCountInString(text) > limit {
		text = string([]rune(text)[:limit]) + "…"
	}
	return Printable(text)
}

// InvalidAt is where a text is not UTF-8, in bytes; its length where it is.
func InvalidAt(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return len(text)
}

// storeErr is an ErrStore: what is wrong with the store in dir, as it was given.
type storeErr struct {
	dir   string
	cause error
}

func (e *storeErr) Error() string        { return Printable("store " + e.dir + ": " + e.cause.Error()) }
func (e *storeErr) Is(target error) bool { return target == ErrStore }
func (e *storeErr) Unwrap() error        { return e.cause }

// Store is an ErrStore that wraps its cause: the store in dir, as it was given.
func Store(dir string, cause error) error { return &storeErr{dir, cause} }
