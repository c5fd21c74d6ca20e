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
		"the same command goes on":                                 {Done: done},
		"the same command without --rerun all goes on":             {Done: done, Rerun: runner.RerunAll},
		"two sides are measured in one session, another --against": {Against: "main", Done: done},
		"a line is measured anew each time":                        {},
	} {
		if got := GoesOn(o); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
