package measuring

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/schema"
)

// TestGoesOn: the message about the rest of a session is what the same command does.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	done := func(string) ([]schema.Run, error) { return nil, nil }
	for want, o := range map[string]runner.Options{
		"the same command continues":                                          {Done: done},
		"the same command without --rerun all continues":                      {Done: done, Rerun: runner.RerunAll},
		"the same command starts over, because --against measures both sides": {Against: "main", Done: done},
		"the same command starts over; a sweep file would continue":           {},
	} {
		if got := GoesOn(o); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
