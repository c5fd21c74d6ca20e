package sweep

import (
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestPrecision(t *testing.T) {
	check := func(src string, o Overrides, relError float64, repeats, maxRepeats, iterations int) {
		t.Helper()
		s := parse(t, tiny+src, o)
		p := s.Points[0]
		equal(t, []any{s.RelError, p.RelError, s.Repeats, s.MaxRepeats, p.Iterations},
			[]any{relError, relError, repeats, maxRepeats, iterations})
	}
	check("", Overrides{}, 0, 1, 1, 0)
	check("repeats: 3", Overrides{}, 0, 3, 3, 0)
	check("rel_error: 1%", Overrides{}, 0.01, 1, 20, 0)
	check("rel_error: 0.5%\nrepeats: 3\nmax_repeats: 3", Overrides{}, 0.005, 3, 3, 0)
	check("rel_error: 2e-3\nrepeats: 30", Overrides{}, 0.002, 30, 30, 0)
	check("", Overrides{Given: map[string]string{"rel_error": "0.02", "max_repeats": "9"}}, 0.02, 1, 9, 0)
	check("rel_error: 1%", Overrides{Given: map[string]string{"max_repeats": "7"}}, 0.01, 1, 7, 0)
	// Of iterations and a precision, what the command line says is meant.
	check("iterations: 9", Overrides{Given: map[string]string{"rel_error": "0.02"}}, 0.02, 1, 20, 0)
	check("rel_error: 1%\nmax_repeats: 9", Overrides{Given: map[string]string{"iterations": "5"}}, 0, 1, 1, 5)
	// Two commits take more repeats, unless told.
	check("", Overrides{Against: true}, 0, 6, 6, 0)
	check("repeats: 2", Overrides{Against: true}, 0, 2, 2, 0)
	check("rel_error: 1%", Overrides{Given: map[string]string{"repeats": "4"}, Against: true}, 0.01, 4, 20, 0)
}

// TestLooks: with --until-settled looks are planned, whatever the file says of repeats.
func TestLooks(t *testing.T) {
	for limit, want := range map[int][]int{
		6: {6}, 7: {7}, 8: {6, 8}, 13: {6, 9, 13}, 20: {6, 9, 14, 20}, 30: {6, 9, 14, 20, 30}, 60: {6, 9, 14, 20, 30, 46, 60},
	} {
		s := parse(t, tiny+"repeats: 2", Overrides{Given: map[string]string{"max_repeats": strconv.Itoa(limit)}, Against: true, UntilConclusive: true})
		equal(t, []any{s.Looks, s.Repeats, s.MaxRepeats}, []any{want, want[0], limit})
	}
	s := parse(t, tiny+"rel_error: 1%\nmax_repeats: 20", Overrides{Against: true, UntilConclusive: true})
	equal(t, []any{s.Looks, s.Points[0].RelError}, []any{[]int{6, 9, 14, 20}, .01})
	s = parse(t, tiny, Overrides{Against: true, UntilConclusive: true})
	equal(t, []any{s.Looks, s.MaxRepeats}, []any{[]int{6, 9, 14, 20, 30}, 30})
	s = parse(t, tiny, Overrides{Against: true})
	equal(t, []any{len(s.Looks), s.MaxRepeats}, []any{0, 6})
}

func TestErrorsOfPrecision(t *testing.T) {
	check := refuses(t, tiny)
	check("rel_error: 1", "3: rel_error: want more than 0 and less than 1 (100%), got 1")
	check("rel_error: 100%", "3: rel_error: want more than 0 and less than 1 (100%), got 1")
	check("rel_error: 0", "3: rel_error: want more than 0 and less than 1 (100%), got 0")
	check("rel_error: -1%", "3: rel_error: want more than 0 and less than 1 (100%), got -0.01")
	check("rel_error: nan", `3: rel_error: want a share (1% or 0.01), got "nan"`)
	check("rel_error: nan%", "3: rel_error: want more than 0 and less than 1 (100%), got NaN")
	check("rel_error: true", "3: rel_error: want a share (1% or 0.01), got true")
	check("rel_error: one%", `3: rel_error: want a share (1% or 0.01), got "one%"`)
	check("rel_error: [1%]", "3: rel_error: want a share (1% or 0.01), got a list")
	check("rel_error:", "3: rel_error: want a share (1% or 0.01), got nothing")
	check("rel_error: 1%\niterations: 5", "3: rel_error: cannot be combined with iterations (line 4), which is an exact number: use one of them")
	check("max_repeats: 5", "3: max_repeats: has no effect without rel_error or --until-conclusive")
	check("rel_error: 1%\nmax_repeats: 2\nrepeats: 3", "4: max_repeats: want at least repeats (3), got 2")
	check("rel_error: 1%\nmax_repeats: 0", "4: max_repeats: want a whole number from 1 to 10000000, got 0")
	check("order: fast", `3: order: want one of interleaved random sequential, got "fast"`)

	options := func(src string, o Overrides, want string) {
		t.Helper()
		valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(tiny+src), o)), want)
	}
	options("", Overrides{Given: map[string]string{"rel_error": "0.01", "iterations": "5"}}, "--rel-error: cannot be combined with --iterations, which is an exact number: use one of them")
	options("", Overrides{Given: map[string]string{"rel_error": "1.5"}}, "--rel-error: want more than 0 and less than 1 (100%), got 1.5")
	options("", Overrides{Given: map[string]string{"max_repeats": "5"}, UntilConclusive: true}, "--max-repeats: want at least 6 with --until-conclusive, got 5")
	options("max_repeats: 5", Overrides{UntilConclusive: true}, "sweep.yaml:3: max_repeats: want at least 6 with --until-conclusive, got 5")
	options("", Overrides{Given: map[string]string{"max_repeats": "5"}}, "--max-repeats: has no effect without rel_error or --until-conclusive")
	options("rel_error: 1%", Overrides{Given: map[string]string{"iterations": "5", "max_repeats": "5"}},
		"--max-repeats: has no effect without rel_error or --until-conclusive")
	options("rel_error: 1%", Overrides{Given: map[string]string{"max_repeats": "0"}}, "--max-repeats: want a whole number from 1 to 10000000, got 0")
	options("rel_error: 1%\nmax_repeats: 5", Overrides{Against: true},
		"sweep.yaml:4: max_repeats: want at least repeats (6), got 5")
	options("repeats: 60000", Overrides{Against: true},
		"sweep.yaml:1: 120000 runs (points x repeats x sides): want at most 100000")
}

func TestTargets(t *testing.T) {
	src := "suite: ops\nbackend: builtin\nbenchmark: [GELU, Swish, net/MSE]\ngrid: {k: [1, 2, 3]}\nvariant: [a, b]\n" +
		"exclude: [{k: 3}]\n"
	check := func(want int, targets ...string) {
		t.Helper()
		s := parse(t, src, Overrides{Targets: targets})
		equal(t, len(s.Points), want)
		checkSweep(t, s)
	}
	check(12, "ops")
	check(12, "o*")
	check(4, "GELU")
	check(4, "ops:S*")
	check(8, "ops:GELU", "Swis?")
	check(4, "net/*")
	check(12, "*") // the suite matches
	check(2, "ops:GELU:a")
	check(4, "ops:*:b") // no * is a /
	check(6, "ops:*:b", "ops:net/MSE:b")
	refuse := func(want string, targets ...string) {
		t.Helper()
		valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(src), Overrides{Targets: targets})), want)
	}
	const have = "no point matches (suite ops, benchmarks: GELU, Swish, net/MSE)"
	refuse(`--targets "gelu": `+have, "gelu")
	refuse(`--targets "other:GELU": `+have, "GELU", "other:GELU")
	refuse(`--targets "[": want a pattern with *, ? and [a-z]`, "[")

	// What is left out still says what runs, and does not make an exclude useless.
	parse(t, net+"benchmark: [a, b]\nprovider: A\nexclude: [{backend: onnxrt, benchmark: b}]",
		Overrides{Targets: []string{"b"}})
	many := "backend: builtin\nbenchmark: [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10]"
	valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(many), Overrides{Targets: []string{"x"}})), "…b8, b9, …)")
}

func TestSource(t *testing.T) {
	s := parse(t, "backend: builtin\nmodel: builtin:x\n", Overrides{})
	equal(t, s.Name, "sweep.yaml")
	equal(t, s.SHA256, "61b880f08301abed425fec4b6a5bc3742ba4adee8cb3a8ffdc5552d82d4fddd7")
}

func TestParseShare(t *testing.T) {
	for text, want := range map[string]float64{"1%": 0.01, "0.01": 0.01, "250%": 2.5, "-3e-2": -0.03} {
		valuetest.DeepEqual(t, valuetest.Must(parseShare(text)), want, text)
	}
	for _, text := range []string{"", "%", "1%%", "one", "1 %", " 1%", "1/100"} {
		valuetest.ErrorText(t, valuetest.Error(parseShare(text)), strconv.Quote(text)+": want a share such as 1%")
	}
}

// TestSuiteOfStandardInput: a sweep that is no file has no suite, unless it says one.
func TestSuiteOfStandardInput(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"command: [a]": "", "command: [a]\nsuite: own": "own"} {
		s := valuetest.Must(Read(StandardInput, strings.NewReader(text), Overrides{}))
		equal(t, s.Suite, want)
		equal(t, s.Points[0].Suite, want)
	}
}

// TestSuites: a benchmark may be of another suite than the rest, which is what a target calls it by.
func TestSuites(t *testing.T) {
	src := "suite: book\nfile: b.py\nbenchmarks:\n  ch1/sum: {suite: ch1}\n  ch13/moe: {suite: ch13}\n  other:\n" +
		"variants: {baseline: , sparse: }\n"
	check := func(want []string, targets ...string) {
		t.Helper()
		s := parse(t, src, Overrides{Targets: targets})
		var got []string
		for _, p := range s.Points {
			got = append(got, p.Suite+" "+p.Benchmark+" "+p.Variant)
		}
		equal(t, got, want)
	}
	s := parse(t, src, Overrides{})
	equal(t, s.Suites(), []string{"book", "ch1", "ch13"})
	equal(t, s.Suite, "sweep") // as the file is called
	moe := []string{"ch13 ch13/moe baseline", "ch13 ch13/moe sparse"}
	check(moe, "ch13")
	check(moe, "ch13:moe")
	check(moe, "ch13:ch13/moe")
	check(moe[1:], "ch13:moe:sparse")
	check([]string{"ch1 ch1/sum sparse", "ch13 ch13/moe sparse"}, "ch*:*:sp*")
	s = parse(t, src, Overrides{Given: map[string]string{"suite": "all"}})
	equal(t, s.Suites(), []string{"all"})
	equal(t, s.Suite, "all")
}

func TestThresholds(t *testing.T) {
	equal(t, parse(t, tiny, Overrides{}).Points[0].Thresholds, map[string]string(nil))
	s := parse(t, tiny+`
thresholds:
  latency: 5%
  energy: 7%
  throughput: 0.07
  peak_memory: {abs: 64 MiB}
  ttft: {abs: 2ms}
  rmse: {abs: 1e-3}
  accuracy: {abs: 0.5%}
  of my own: {abs: 3}
  max_error: {abs: 0}
`, Overrides{})
	equal(t, s.Points[0].Thresholds, map[string]string{
		"latency": "5%", "energy": "7%", "throughput": "7%", "peak_memory": "67108864 B", "ttft": "2000000 ns", "rmse": "0.001",
		"accuracy": "0.005", "of my own": "3", "max_error": "0",
	})
}

func TestErrorsOfThresholds(t *testing.T) {
	check := refuses(t, tiny)
	check("thresholds: 5%", `3: thresholds: want a map, got "5%"`)
	check("thresholds: {}", "3: thresholds: is empty")
	check("thresholds:\n  latency: 5%\n  latency: 6%", "5: duplicate key latency: line 4 sets it already")
	check("thresholds:\n  latency: 5", "4: thresholds.latency: want more than 0 and less than 1 (100%), got 5")
	check("thresholds:\n  latency: 0%", "4: thresholds.latency: want more than 0 and less than 1 (100%), got 0")
	check("thresholds:\n  latency: -5%", "4: thresholds.latency: want more than 0 and less than 1 (100%), got -0.05")
	check("thresholds:\n  latency: 5ms", `4: thresholds.latency: want a share (1% or 0.01), got "5ms"`)
	check("thresholds:\n  latency: [5%]", "4: thresholds.latency: want a share (1% or 0.01), got a list")
	check("thresholds:\n  latency:", "4: thresholds.latency: want a share (1% or 0.01), got nothing")
	check("thresholds:\n  rmse:\n    absolute: 1", "5: thresholds.rmse: unknown key absolute: want one of abs")
	check("thresholds:\n  rmse: {}", "4: thresholds.rmse: want a share (5%) or {abs: amount}, got a map")
	check("thresholds:\n  rmse:\n    abs: few", `5: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got "few"`)
	check("thresholds:\n  rmse: {abs: -1}", "4: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got -1")
	check("thresholds:\n  rmse: {abs: .nan}", "4: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got .nan")
	check("thresholds:\n  rmse: {abs: 1e999}", `4: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got "1e999"`)
	check("thresholds:\n  rmse: {abs: }", "4: thresholds.rmse.abs: want an amount (1e-3, 2 ms), got nothing")
	check("thresholds:\n  ttft: {abs: 2 parsec}", `4: thresholds.ttft.abs: unit "parsec" is not known`)
	check("thresholds:\n  latency: {abs: 2 MiB}", "4: thresholds.latency.abs: latency is in ns, not in MiB")
}
