package runner

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// TestAfterOutOfMemory: what is skipped once batch_size 8 with n 64 ran out of memory. More of a parameter is larger
// only where less of it ran.
func TestAfterOutOfMemory(t *testing.T) {
	parse := func(src string) *sweep.Point {
		s, err := sweep.Read("x.yaml", strings.NewReader("command: [echo, '{bs}', '{n}']\n"+src), sweep.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		return &s.Points[0]
	}
	const base, head = 0, 1
	failed := parse("grid: {bs: 8, n: 64}")
	for src, want := range map[string]struct{ alone, lessRan bool }{
		"grid: {bs: 16, n: 64}":                   {true, true},
		"grid: {bs: 16, n: 128}":                  {false, true},
		"grid: {bs: 8, n: 128}":                   {false, true},
		"grid: {bs: 8, n: 64}":                    {false, false}, // it has its own launches
		"grid: {bs: 16, n: 32}":                   {false, false},
		"grid: {bs: 4, n: 64}":                    {false, false},
		"grid: {bs: 16, n: x}":                    {false, false},
		"grid: {bs: 16, n: 64}\nbenchmark: other": {false, false},
	} {
		var o outOfMemory
		larger := parse(src)
		o.note(subject{Point: failed, Side: base}, schema.StatusOOM)
		o.note(subject{Point: failed, Side: base}, schema.StatusOOM) // its second repeat
		o.note(subject{Point: parse("grid: {bs: 4, n: 32}"), Side: base}, schema.StatusOK)
		o.note(subject{Point: parse("grid: {bs: 8, n: 32}"), Side: head}, schema.StatusOK)
		o.note(subject{Point: parse("grid: {bs: 8, n: 16}"), Side: base}, schema.StatusTimeout)
		if got := o.smaller(subject{Point: larger, Side: base}) == failed; got != want.alone {
			t.Errorf("%s is skipped: %v", src, got)
		}
		o.note(subject{Point: parse("grid: {bs: 8, n: 32}"), Side: base}, schema.StatusOK)
		if got := o.smaller(subject{Point: larger, Side: base}) == failed; got != want.lessRan {
			t.Errorf("%s is skipped where less of n ran: %v", src, got)
		}
		if o.smaller(subject{Point: larger, Side: head}) != nil {
			t.Errorf("%s is skipped on the other side", src)
		}
	}
	if got := describeSizes(failed); got != "echo batch_size=8 n=64" {
		t.Errorf("described as %q", got)
	}
}
