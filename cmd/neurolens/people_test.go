package main

import (
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// TestMergedAxes: where the axes have no room, a row still names its point.
func TestMergedAxes(t *testing.T) {
	got := mergedAxes([]axis{{"batch_size", []string{"1", ""}}, {"precision", []string{"fp32", "fp64"}}, {"status", []string{"x", "y"}}})
	if len(got) != 1 || got[0].values[0] != "bs=1 fp32 status=x" || got[0].values[1] != "fp64 status=y" {
		t.Errorf("merged to %v", got)
	}
	if c := axisColumn(axis{"status", []string{"x"}}); c.Header != "status" {
		t.Errorf("a parameter's column is called %s", c.Header)
	}
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"7d": now.AddDate(0, 0, -7), "90s": now.Add(-90 * time.Second), "1.5h": now.Add(-90 * time.Minute), "2w": now.AddDate(0, 0, -14),
		"2026-11-01T10:00:00Z": time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local),
	} {
		if got, err := parseSince(s, now); err != nil || !got.Equal(want) {
			t.Errorf("%s is %v, %v; want %v", s, got, err, want)
		}
	}
	for _, bad := range []string{"", "d", "7", "7y", "-1d", "1e99d", "nand", "yesterday"} {
		if got, err := parseSince(bad, now); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"fp32": "fp32", "a b": `"a b"`, `x"y\`: `"x\"y\\"`, "": `""`} {
		if got := quoted(in); got != want {
			t.Errorf("%q quotes as %s, want %s", in, got, want)
		}
	}
}

// TestEmptyIsNotUnknown: a text without characters is a value.
func TestEmptyIsNotUnknown(t *testing.T) {
	rows := make([]subject, 3)
	rows[0].Params, rows[1].Params = map[string]string{"weird": ""}, map[string]string{"weird": "x"}
	constants, varying := axes(rows, nil)
	if len(constants) != 0 || len(varying) != 1 {
		t.Fatalf("axes are %v, %v", constants, varying)
	}
	for i, want := range []string{`""`, "x", term.Unknown} {
		if got := axisCell(varying[0], i).Text; got != want {
			t.Errorf("row %d is %s, want %s", i, got, want)
		}
	}
	if constants, _ := axes(rows[:1], nil); !slices.Equal(constants, []string{`weird=""`}) {
		t.Errorf("constants are %v", constants)
	}
	d := describe(parsed(t, "command: ['true', '{weird}']\ngrid: {weird: [x, '']}\n"))
	if got := d.names[d.sweep.Points[1].PointID]; got != `weird=""` {
		t.Errorf("the point is called %s", got)
	}
}

// TestRunsAreTold: what runs are for and of which side is said where it is not the same, or not to measure.
func TestRunsAreTold(t *testing.T) {
	rows := []subject{{side: "base", purpose: "measure"}, {side: "head", purpose: "measure"}, {purpose: "profile"}}
	_, varying := axes(rows, runColumns)
	var headers []string
	for _, x := range varying {
		headers = append(headers, axisColumn(x).Header)
	}
	if !slices.Equal(headers, []string{"SIDE", "PURPOSE"}) {
		t.Errorf("columns are %v", headers)
	}
	if got := mergedAxes(varying)[0].values; !slices.Equal(got, []string{"base", "head", "profile"}) {
		t.Errorf("merged they are %v", got)
	}
	for row, want := range map[int]string{0: "base", 2: "profile"} {
		constants, _ := axes(rows[row:row+1], runColumns)
		if !slices.Equal(constants, []string{want}) {
			t.Errorf("a run alone is %v, want %s", constants, want)
		}
	}
}
