package views

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// TestMergedAxes: where the axes have no room, a row still names its point.
func TestMergedAxes(t *testing.T) {
	got := (Display{}).MergedAxes([]Axis{{"batch_size", []string{"1", ""}}, {"precision", []string{"fp32", "fp64"}}, {"status", []string{"x", "y"}}})
	if len(got) != 1 || got[0].Values[0] != "bs=1 fp32 status=x" || got[0].Values[1] != "fp64 status=y" {
		t.Errorf("merged to %v", got)
	}
	if c := AxisColumn(Axis{"status", []string{"x"}}); c.Header != "status" {
		t.Errorf("a parameter's column is called %s", c.Header)
	}
}

// TestEmptyIsNotUnknown: a text without characters is a value.
func TestEmptyIsNotUnknown(t *testing.T) {
	rows := make([]Subject, 3)
	rows[0].Params, rows[1].Params = map[string]string{"weird": ""}, map[string]string{"weird": "x"}
	constants, varying := Axes(rows, nil)
	if len(constants) != 0 || len(varying) != 1 {
		t.Fatalf("axes are %v, %v", constants, varying)
	}
	for i, want := range []string{`""`, "x", term.Unknown} {
		if got := AxisCell(varying[0], i).Text; got != want {
			t.Errorf("row %d is %s, want %s", i, got, want)
		}
	}
	if constants, _ := Axes(rows[:1], nil); !slices.Equal(constants, []string{`weird=""`}) {
		t.Errorf("constants are %v", constants)
	}
}

// TestRunsAreTold: what runs are for and of which side is said where it is not the same, or not to measure.
func TestRunsAreTold(t *testing.T) {
	rows := []Subject{{Side: "base", Purpose: "measure"}, {Side: "head", Purpose: "measure"}, {Purpose: "profile"}}
	_, varying := Axes(rows, RunColumns)
	var headers []string
	for _, x := range varying {
		headers = append(headers, AxisColumn(x).Header)
	}
	if !slices.Equal(headers, []string{"SIDE", "PURPOSE"}) {
		t.Errorf("columns are %v", headers)
	}
	if got := (Display{}).MergedAxes(varying)[0].Values; !slices.Equal(got, []string{"base", "head", "profile"}) {
		t.Errorf("merged they are %v", got)
	}
	for row, want := range map[int]string{0: "base", 2: "profile"} {
		constants, _ := Axes(rows[row:row+1], RunColumns)
		if !slices.Equal(constants, []string{want}) {
			t.Errorf("a run alone is %v, want %s", constants, want)
		}
	}
}
