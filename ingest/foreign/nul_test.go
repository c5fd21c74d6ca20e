package foreign

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestNULRemoved: a name with a NUL character, which nobody can type, loses it, and that is said. Other characters stay.
func TestNULRemoved(t *testing.T) {
	t.Parallel()
	format := &Format{Name: "x", Read: func(_ *Input, out *Output) error {
		r := schema.Run{Benchmark: "SUT\x00\x00", Params: map[string]string{"scenario\x00": "ser\x00ver", "plain": "a\tb"}, Env: schema.Env{Machine: "lab3\x00"}}
		return out.Run("", r)
	}}
	in, err := FromReader(strings.NewReader("text"), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got schema.Run
	report, err := NewReader(Added{}, nil).Read(in, format, func(valid schema.Valid) bool { got = valid.Run(); return true })
	if err != nil {
		t.Fatal(err)
	}
	if got.Benchmark != "SUT" || got.Params["scenario"] != "server" || got.Params["plain"] != "a\tb" || got.Env.Machine != "lab3" || len(got.Params) != 2 {
		t.Errorf("the run is %q %q %q", got.Benchmark, got.Params, got.Env.Machine)
	}
	if !slices.Contains(got.Warnings, nulRemoved) || report.Notes[nulRemoved] != 1 {
		t.Errorf("the warnings are %q, the notes %v", got.Warnings, report.Notes)
	}
	if got.PointID != schema.PointID(&got) {
		t.Error("the point is that of the names with NUL characters")
	}
}
