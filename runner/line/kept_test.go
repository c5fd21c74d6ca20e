package line

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
)

// flags are options of bench with some of their values.
var flags = map[string][]string{
	"suite": {"mine", "7", "a: b"}, "repeats": {"2", "7"}, "warmup": {"0", "3"}, "iterations": {"1", "9"}, "budget": {"2s"}, "order": {"random"},
	"rel_error": {"2%"}, "timeout_multiplier": {"2"},
}

// TestKept: the file that a line is kept in has the points and the settings of the line, whatever its flags.
func TestKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := [][]string{{"sleep {n}"}, {"sleep {n}", "sleep 0.{n}"}, {"echo {n} {k}", "printf '%s' {n}{k}"}}
	for range 300 {
		o := sweep.Overrides{Given: map[string]string{}, Params: map[string]string{"n": []string{"1", "1,2", "1..9..4", "1..8*2"}[random.IntN(4)]}}
		texts := lines[random.IntN(len(lines))]
		if len(texts[0]) > len("sleep {n}") {
			o.Params["k"] = "x,y"
		}
		for _, name := range slices.Sorted(maps.Keys(flags)) {
			values := flags[name]
			if random.IntN(3) == 0 {
				o.Given[name] = values[random.IntN(len(values))]
			}
		}
		if o.Given["rel_error"] != "" {
			delete(o.Given, "iterations")
		}
		if random.IntN(2) == 0 {
			o.Tags = map[string]string{"note": "7"}
		}
		src, err := line{Texts: texts, Axes: slices.Collect(maps.Keys(o.Params))}.sweep()
		if err != nil {
			t.Fatal(err)
		}
		kept, err := sweep.Kept(src, o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if want, got := settings(t, src, o), settings(t, kept, sweep.Overrides{}); got != want {
			t.Fatalf("%+v\nkept as\n%s\nis  %s\nwant %s", o, kept, got, want)
		}
	}
}

// settings are the points of a sweep and how they run.
func settings(t *testing.T, src []byte, o sweep.Overrides) string {
	t.Helper()
	s, err := sweep.Read("line", bytes.NewReader(src), o)
	if err != nil {
		t.Fatalf("%s%+v: %v", src, o, err)
	}
	text := fmt.Sprint(s.Suite, s.Repeats, s.Order, s.RelError, s.MaxRepeats, s.Timeout, s.Tags)
	for i := range s.Points {
		p := &s.Points[i]
		text += fmt.Sprint("\n", p.PointID, p.Variant, p.Command, p.Settings(), p.Timeouts, p.Warmup, p.WarmupOnce, p.Iterations, p.Budget)
	}
	return text
}
