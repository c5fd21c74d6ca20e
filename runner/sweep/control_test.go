package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// kinds are sweeps of every kind of what runs, with two points each.
var kinds = map[string]string{
	"command": "command: [a, '{k}']\nwarmup: 3\nenv: {A: b}\ncwd: /x\nwrapper: [n]\ngrid: {k: [1, 2]}\n",
	"file":    "file: a.py:N\nbuild: make\npython: p\niterations: 7\ngrid: {k: [1, 2]}\n",
	"builtin": tiny + "warmup: 3\niterations: 7\norder: random\ngrid: {k: [1, 2]}\n",
	"onnxrt":  "backend: onnxrt\nmodel: a.onnx\nthreads: 3\nprofile: ort\nflush_l2: true\ngrid: {k: [1, 2]}\n",
	"torch":   "backend: torch\nmodel: a.pt\ndevice: cpu\ncold_start: true\nrel_error: 1%\ngrid: {k: [1, 2]}\n",
}

// TestCalibrate: calibrate adds the same three points, launched in the same way, to a sweep of any kind, in every repeat
// and on both sides, and changes no other point.
func TestCalibrate(t *testing.T) {
	var first []Point
	for name, src := range kinds {
		without := parse(t, src+"repeats: 2", Overrides{})
		with := parse(t, src+"repeats: 2\ncalibrate: true", Overrides{})
		n := len(without.Points)
		equal(t, with.Points[:n], without.Points)
		added := with.Points[n:]
		var names []string
		for i := range added {
			p := &added[i]
			names = append(names, fmt.Sprint(p.Benchmark, " ", p.Variant, " ", p.Executor, " ", p.Warmup, " ", p.Iterations, p.Control, p.Calibration))
			p.Line = 0
		}
		equal(t, names, []string{
			"calibration integer-v1 builtin 10 100 true true",
			"calibration memory-v1 builtin 10 100 true true",
			"calibration branch-v1 builtin 10 100 true true",
		})
		if first == nil {
			first = added
		}
		equal(t, added, first)
		for _, o := range []LaunchOptions{{}, {Sides: 2}} {
			launched := map[string]int{}
			for _, l := range with.Launches(o) {
				if l.Point.Calibration {
					launched[fmt.Sprint(l.Repeat, l.Side, l.Point.Variant)]++
				}
			}
			if want := 2 * 3 * o.sides(); len(launched) != want {
				t.Errorf("%s, %d sides: launched %v, want %d", name, o.sides(), launched, want)
			}
		}
		checkSweep(t, with)
		equal(t, parse(t, src+"repeats: 2\ncalibrate: false", Overrides{}).Points, without.Points)
	}
}

// TestCalibrateIsFixed: what the command line says of launching does not reach the points of calibrate, and their
// identity is one that no later version may change.
func TestCalibrateIsFixed(t *testing.T) {
	s := parse(t, tiny+"calibrate: true", Overrides{
		Given:  map[string]string{"warmup": "3", "rel_error": "1%", "cold_start": "true", "timeout_multiplier": "2"},
		Tags:   map[string]string{"a": "b"},
		Params: map[string]string{"k": "1,2", "benchmark": "y"},
	})
	var ids []string
	for _, p := range s.Points {
		if p.Calibration {
			ids = append(ids, p.Variant+" "+p.PointID)
			equal(t, []any{p.Warmup, p.Iterations, p.RelError, p.ColdStart, p.Fixed == nil}, []any{10, 100, 0.0, false, true})
			equal(t, p.Timeouts.Setup, 2*defaultTimeouts(false).Setup)
		}
	}
	equal(t, ids, []string{
		"integer-v1 8671133410121cf37f6bbb741b54010b",
		"memory-v1 88057b4c4f38a7f7aaf40fbc0f386e81",
		"branch-v1 591dee0fd454150716de2adca71197e1",
	})
}

// TestCalibrateTargets: --targets chooses among the points of the file; those of calibrate stay, and can be asked for
// alone.
func TestCalibrateTargets(t *testing.T) {
	src := "benchmark: [GELU, Swish]\nbackend: builtin\ncalibrate: true"
	for targets, want := range map[string]string{
		"GELU":        "GELU calibration calibration calibration",
		"calibration": "calibration calibration calibration",
	} {
		s := parse(t, src, Overrides{Targets: []string{targets}})
		var names []string
		for _, p := range s.Points {
			names = append(names, p.Benchmark)
		}
		equal(t, strings.Join(names, " "), want)
		checkSweep(t, s)
	}
}

// kernelOrder writes launches as one letter each, the points of calibrate as i, m and b.
func kernelOrder(launches []Launch) string {
	var b strings.Builder
	for _, l := range launches {
		name := "."
		if l.Point.Calibration {
			name = l.Point.Variant[:1]
		}
		b.WriteString(name)
	}
	return b.String()
}

// TestCalibrateOrder: the points of calibrate lie evenly among the others, over the whole session also where each point
// has all its repeats at once, and take turns at coming first.
func TestCalibrateOrder(t *testing.T) {
	src := tiny + "repeats: 3\ngrid: {k: [1, 2, 3, 4, 5, 6]}\ncalibrate: true\norder: "
	check := func(order, want string) {
		t.Helper()
		equal(t, kernelOrder(parse(t, src+order, Overrides{}).Launches(LaunchOptions{})), want)
	}
	check("interleaved", ".i..m..b."+".m..b..i."+".b..i..m.")
	check("sequential", ".i..m..b."+".m..b..i."+".b..i..m.")
	one := parse(t, tiny+"repeats: 2\ncalibrate: true", Overrides{})
	equal(t, kernelOrder(one.Launches(LaunchOptions{})), "i.mb"+"m.bi")

	random := parse(t, src+"random", Overrides{})
	plain := parse(t, strings.Replace(src, "calibrate: true", "", 1)+"random", Overrides{})
	o := LaunchOptions{Seed: 4}
	var places string
	others := slices.DeleteFunc(random.Launches(o), func(l Launch) bool { return l.Point.Calibration })
	for _, l := range random.Launches(o) {
		places += map[bool]string{true: "c", false: "."}[l.Point.Calibration]
	}
	equal(t, places, strings.Repeat(".c..c..c.", 3))
	for i, l := range plain.Launches(o) { // the order of the others is what it is without
		equal(t, []string{others[i].Point.PointID, fmt.Sprint(others[i].Repeat)}, []string{l.Point.PointID, fmt.Sprint(l.Repeat)})
	}
	checkSweep(t, random)
}

// TestCalibrateSides: base and head of a kernel are neighbours in each repeat.
func TestCalibrateSides(t *testing.T) {
	for _, order := range []string{OrderInterleaved, orderSequential} {
		s := parse(t, tiny+"repeats: 4\ncalibrate: true\ngrid: {k: [1, 2, 3]}\norder: "+order, Overrides{})
		sides := map[string]string{}
		for pair := range slices.Chunk(s.Launches(LaunchOptions{Sides: 2}), 2) {
			if pair[0].Point.Calibration {
				equal(t, pair[0].Point == pair[1].Point && pair[0].Side != pair[1].Side, true)
				sides[pair[0].Point.Variant] += "."
			}
		}
		equal(t, sides, map[string]string{"integer-v1": "....", "memory-v1": "....", "branch-v1": "...."})
	}
}

// TestCalibrateRounds: a round of a precision has the points of calibrate, but is not made for them.
func TestCalibrateRounds(t *testing.T) {
	for _, order := range keyOf("order").Value.Words {
		s := parse(t, tiny+"repeats: 2\nrel_error: 1%\ncalibrate: true\ngrid: {k: [1, 2, 3]}\norder: "+order, Overrides{})
		o := LaunchOptions{Seed: 5}
		last := s.Launches(o)
		all := s.Round(2, o, nil)
		equal(t, []int{len(all), all[0].Block}, []int{6, last[len(last)-1].Block + 1})
		got := s.Round(2, o, func(p *Point) bool { return p.Params["k"] == "2" })
		want := slices.DeleteFunc(all, func(l Launch) bool { return !l.Point.Calibration && l.Point.Params["k"] != "2" })
		equal(t, got, want)
		equal(t, len(got), 4)
		equal(t, s.Round(2, o, func(p *Point) bool { return p.Calibration }), []Launch(nil))
	}
}

// controlled names the points of a sweep that are controls.
func controlled(s *Sweep) []string {
	names := []string{}
	for i, p := range s.Points {
		if p.Control {
			names = append(names, points(s)[i])
		}
	}
	return names
}

func TestControl(t *testing.T) {
	check := func(src string, o Overrides, want ...string) {
		t.Helper()
		s := parse(t, src, o)
		equal(t, controlled(s), append([]string{}, want...))
	}
	variants := "benchmark: [GELU, Swish]\nbackend: builtin\nvariant: [base, fast]\ngrid: {bs: [1, 2]}\n"
	check(variants, Overrides{})
	check(variants+"control: variant=base", Overrides{},
		"GELU base builtin 1", "GELU base builtin 2", "Swish base builtin 1", "Swish base builtin 2")
	check(variants+"control: [benchmark=GELU, batch_size=2]", Overrides{},
		"GELU base builtin 1", "GELU base builtin 2", "GELU fast builtin 1", "GELU fast builtin 2", "Swish base builtin 2", "Swish fast builtin 2")
	check(variants+"control: bs=2.0", Overrides{Targets: []string{"Swish"}}, "Swish base builtin 2", "Swish fast builtin 2")
	check(variants+"control: benchmark=GELU", Overrides{Targets: []string{"Swish"}})

	// Values as they are at the point: filled in, canonical, text or number as the axis has it.
	check(tiny+"benchmark: 'x{k}'\ngrid: {k: [1, 2]}\ncontrol: benchmark=x2", Overrides{}, "x2 builtin builtin:x k=2")
	check(tiny+"grid: {k: ['1.0', '1']}\ncontrol: k=1.0", Overrides{}, "builtin:x builtin builtin:x k=1.0")
	check(tiny+"grid: {k: [1e3, 1]}\ncontrol: k=1000", Overrides{}, "builtin:x builtin builtin:x k=1000")
	check(tiny+"grid: {dtype: [half, float32]}\ncontrol: dtype=fp32", Overrides{}, "builtin:x builtin builtin:x fp32")
	check("backend: torch\nmodel: [a/m.pt, {name: n, path: y}]\ncontrol: [model=n]", Overrides{}, "n torch n")
	// Every point has a benchmark, also where no key names it.
	check("command: [/bin/dd, '{k}']\ngrid: {k: [1]}\ncontrol: benchmark=dd", Overrides{}, "dd k=1")

	// The command line has the last word, as over baseline: what it has taken away is no mistake of the file.
	check(tiny+"grid: {k: [1, 2]}\ncontrol: k=1", Overrides{Params: map[string]string{"k": "2,3"}})
	check(tiny+"grid: {k: [1], j: [1]}\ninclude: [{k: 5, j: 2}]\ncontrol: k=5", Overrides{Params: map[string]string{"j": "3"}})
	// The points of calibrate are controls by themselves, and may be named.
	s := parse(t, tiny+"calibrate: true\ncontrol: benchmark=calibration", Overrides{})
	equal(t, len(controlled(s)), 3)
	equal(t, s.Points[0].Control, false)
	checkSweep(t, s)
}

func TestControlIsNoIdentity(t *testing.T) {
	src := tiny + "grid: {k: [1, 2]}\n"
	with, without := parse(t, src+"control: k=1", Overrides{}), parse(t, src, Overrides{})
	equal(t, with.Points[0].Control, true)
	with.Points[0].Control = false
	equal(t, with.Points, without.Points)
}

func TestErrorsOfControls(t *testing.T) {
	check := refuses(t, "backend: builtin\nbenchmark: [GELU, Swish]\nvariant: [baseline, fused]\ngrid: {k: [1, 2]}\n")
	check("calibrate: yes", `5: calibrate: want true or false, got "yes"`)
	check("calibrate: [true]", "5: calibrate: want true or false, got a list")
	check("calibrate: 1", "5: calibrate: want true or false, got 1")
	check("calibrat: true", "5: unknown key calibrat: did you mean calibrate?")
	check("controls: k=1", "5: unknown key controls: did you mean control?")
	check("control: variant=basline", "5: control: no point has variant=basline: did you mean baseline?")
	check("control: benchmark=gelu", "5: control: no point has benchmark=gelu: did you mean GELU?")
	check("control: varient=fused", "5: control: varient is not an axis of this sweep: did you mean variant?")
	check("control: x=1", "5: control: x is not an axis of this sweep")
	check("control: variant", `5: control: want axis=value, got "variant"`)
	check("control: {variant: fused}", "5: control: want text, got a map")
	check("control: []", "5: control: is empty")
	check("control:\n  - k=1\n  - k=3", "7: control: no point has k=3: want one of 1 2")
	check("control:\n  - k=1\n  - k=1.0", `7: control: "k=1.0" appears twice`)
	check("control: k=", `5: control: "" is not a value of axis k`)
	check("control: k=1_0", "5: control: 1_0 has _ between digits: quote it to keep it as text, or write the number without")
	check("control: k=2\nexclude: [{k: 2}]", "5: control: no point has k=2: want one of 1")
	check("control: benchmark=calibration", "5: control: no point has benchmark=calibration: calibrate: true adds such points")
	check("exclude: [{k: [1, 2]}]\ncalibrate: true", "5: exclude: no point is left")
	check("control: ["+strings.Repeat("k=1, ", 1001)+"]", "5: control: more than 1000 entries")

	check = refuses(t, "command: [dd]\n")
	check("control: benchmark=", `2: control: "" is not a value of axis benchmark`)
	check("control: benchmark=cp", "2: control: no point has benchmark=cp: want one of dd")
	check("benchmark: calibration\nvariant: branch-v1\nbackend: builtin\ncalibrate: true",
		"5: calibrate: the point benchmark=calibration variant=branch-v1 already exists, from line 1")

	// As many launches as are allowed, but for those of calibrate.
	check = refuses(t, "")
	check(tiny+"repeats: 33334\ncalibrate: true", "1: 133336 runs (points x repeats): want at most 100000")
}

// TestCalibrationIsNoAxis: names of axes that begin alike are axes.
func TestCalibrationIsNoAxis(t *testing.T) {
	s := parse(t, tiny+"grid: {control: [1, 2], calibrate: x}\ncontrol: control=2", Overrides{})
	equal(t, controlled(s), []string{"builtin:x builtin builtin:x calibrate=x control=2"})
	equal(t, s.Points[0].Executor, schema.ExecutorBuiltin)
}
