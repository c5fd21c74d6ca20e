package views

import (
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// WrongResult stands in the place of the status of a run whose result is wrong.
const (
	WrongResult  = "wrong result"
	WrongMeaning = "the result is wrong, which never counts as a win"
)

// Ended says how a run ended.
func Ended(status schema.Status, wrong bool) string {
	if wrong {
		return WrongResult
	}
	return string(status)
}

// IgnoreExit says how an exit status is taken as no failure, of a run that ended by one of a program that is measured; empty for
// any other.
func IgnoreExit(kind, reason string) string {
	if kind != "exit" || !strings.HasPrefix(reason, "process ") { // as of a hook
		return ""
	}
	return "if this exit status is not a failure: bench --ignore-exit"
}
