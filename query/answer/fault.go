package answer

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrInput is wrapped by errors that the user can fix, ErrStore by errors of a store.
var (
	ErrInput = errors.New("input")
	ErrStore = errors.New("store")
)

// inputErr is an ErrInput with its own message, which does not mention ErrInput.
type inputErr string

func (e inputErr) Error() string        { return string(e) }
func (e inputErr) Is(target error) bool { return target == ErrInput }

// InputError makes an ErrInput. The message is one line and complete by itself.
func InputError(format string, args ...any) error {
	return inputErr(Printable(fmt.Sprintf(format, args...)))
}

// Printable replaces control characters, so that a text with user input is one line and does not control the terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, text)
}

// Brief shortens user input for an error message: at most 60 characters, without control characters.
func Brief(text string) string {
	const limit = 60
	if utf8.RuneCountInString(text) > limit {
		text = string([]rune(text)[:limit]) + "…"
	}
	return Printable(text)
}

// InvalidAt returns the byte offset at which a text is not valid UTF-8; its length if it is valid.
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

// storeErr is an ErrStore about the store in dir, as the user gave it.
type storeErr struct {
	dir   string
	cause error
}

func (e *storeErr) Error() string        { return Printable("store " + e.dir + ": " + e.cause.Error()) }
func (e *storeErr) Is(target error) bool { return target == ErrStore }
func (e *storeErr) Unwrap() error        { return e.cause }

// StoreError makes an ErrStore about the store in dir, as the user gave it. It wraps the cause.
func StoreError(dir string, cause error) error { return &storeErr{dir, cause} }
