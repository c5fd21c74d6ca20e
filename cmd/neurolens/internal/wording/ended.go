package wording

import "github.com/neurolens/neurolens/schema"

// WrongResult stands in the place of the status of a run whose result is wrong.
const (
	WrongResult  = "wrong result"
	WrongMeaning = "what was computed is wrong: that is no win, however fast it is"
)

// Ended says how a run ended.
func Ended(status schema.Status, wrong bool) string {
	if wrong {
		return WrongResult
	}
	return string(status)
}
