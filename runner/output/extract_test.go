package output

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// outputs returns what processes wrote on standard output, one after the other.
func outputs(texts ...string) (ExtractJob, io.ReaderAt) {
	job := ExtractJob{Processes: len(texts)}
	var all bytes.Buffer
	for i, text := range texts {
		job.Sections = append(job.Sections, Section{Process: i, From: Stdout, Offset: int64(all.Len()), Size: int64(len(text))})
		all.WriteString(text)
	}
	return job, bytes.NewReader(all.Bytes())
}

// read applies one rule.
func read(t *testing.T, rule ExtractRule, texts ...string) Extracted {
	t.Helper()
	if rule.From == "" {
		rule.From = Stdout
	}
	if rule.Name == "" {
		rule.Name = "m"
	}
	job, kept := outputs(texts...)
	job.Rules = []ExtractRule{rule}
	return Extract(t.Context(), job, kept, func(int) {})[0]
}

func TestRegex(t *testing.T) {
	const percent = `(?i)test accuracy:\s*([0-9]*\.?[0-9]+)\s*%`
	long := strings.Repeat("x", maxLine-10)
	for _, c := range []struct {
		name, text string
		rule       ExtractRule
		want       []float64
	}{
		{"percent", "epoch 1\nTest accuracy: 97.88 %\n", ExtractRule{Regex: percent, Unit: "%"}, []float64{0.9788}},
		{"no leading digit", "Test accuracy: .97 %", ExtractRule{Regex: percent, Unit: "%"}, []float64{0.0097}},
		{"whole match", "a 12 b", ExtractRule{Regex: `[0-9]+`}, []float64{12}},
		{"named group", "took 3 of 7", ExtractRule{Regex: `took (\d+) of (?P<n>\d+)`}, []float64{7}},
		{"named group, as others write it", "took 3 of 7", ExtractRule{Regex: `(\d+) of (?<n>\d+)`}, []float64{7}},
		{"first of two groups", "took 3 of 7", ExtractRule{Regex: `took (\d+) of (\d+)`}, []float64{3}},
		{"last", "l 1\nl 2\nl 3\n", ExtractRule{Regex: `l (\d)`, Take: TakeLast}, []float64{3}},
		{"first", "l 1\nl 2\nl 3\n", ExtractRule{Regex: `l (\d)`, Take: TakeFirst}, []float64{1}},
		{"all", "l 1\nl 2\nl 3\n", ExtractRule{Regex: `l (\d)`, Take: TakeAll}, []float64{1, 2, 3}},
		{"several in a line", "1 2 3", ExtractRule{Regex: `\d`, Take: TakeAll}, []float64{1, 2, 3}},
		{"a progress bar", "10%\r50%\r100%\r\ndone", ExtractRule{Regex: `^(\d+)%$`, Take: TakeLast}, []float64{100}},
		{"Windows", "x: 4\r\ny: 5\r\n", ExtractRule{Regex: `^y: (\d)$`}, []float64{5}},
		{"no newline at the end", "x: 4", ExtractRule{Regex: `^x: (\d)$`}, []float64{4}},
		{"bytes that are no UTF-8", "\xff\xfe\x00 x: 4\xff\n", ExtractRule{Regex: `x: (\d)`}, []float64{4}},
		{"its own unit", "took 980 ms", ExtractRule{Regex: `took (.*)`, Unit: "s"}, []float64{980e6}},
		{"a long line", long + "\nx: 4", ExtractRule{Regex: `^x: (\d)$`}, []float64{4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := read(t, c.rule, c.text); !slices.Equal(got.Values, c.want) || got.Error != "" {
				t.Errorf("%+v: want %v", got, c.want)
			}
		})
	}
}

func TestJQ(t *testing.T) {
	for _, c := range []struct {
		name, text string
		rule       ExtractRule
		want       []float64
	}{
		{"one value", `{"accuracy": 97.88}`, ExtractRule{JQ: ".accuracy", Unit: "%"}, []float64{0.9788}},
		{"JSON lines", "{\"a\": 1}\n{\"a\": 2}\n", ExtractRule{JQ: ".a", Take: TakeAll}, []float64{1, 2}},
		{"null is no match", `{"a": null} {"a": 2}`, ExtractRule{JQ: ".a"}, []float64{2}},
		{"a text", `{"a": "1.5 ms"}`, ExtractRule{JQ: ".a", Unit: "ms"}, []float64{1.5e6}},
		{"first of many", `null`, ExtractRule{JQ: `range(1e18)`, Take: TakeFirst}, []float64{0}},
		{"a large integer", `{"a": 9007199254740993}`, ExtractRule{JQ: ".a"}, []float64{9007199254740992}},
		{"a mean", `[1, 2, 4.5]`, ExtractRule{JQ: "add / length"}, []float64{2.5}},
		{"halt", `{"a": 1} {"a": 2}`, ExtractRule{JQ: ".a, halt"}, []float64{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := read(t, c.rule, c.text); !slices.Equal(got.Values, c.want) || got.Error != "" {
				t.Errorf("%+v: want %v", got, c.want)
			}
		})
	}
}

// TestNothingFound: what has no number, or no one number, says so in a line.
func TestNothingFound(t *testing.T) {
	number := ExtractRule{Regex: "x: (.*)"}
	with := func(change func(*ExtractRule)) ExtractRule {
		r := number
		change(&r)
		return r
	}
	for _, c := range []struct {
		name, text string
		rule       ExtractRule
		want       string
		absent     bool
	}{
		{"no match", "y: 1", number, "stdout: no match", true},
		{"no output", "", number, "stdout: no match", true},
		{"two matches", "x: 1\nx: 2", number, "stdout: 2 matches: set take to first, last or all", false},
		{"many matches", strings.Repeat("x: 1\n", 2000), number, "stdout: more than 1000 matches: set take to first, last or all", false},
		{"too many samples", strings.Repeat("1", maxMatches+1), ExtractRule{Regex: "1", Take: TakeAll}, "stdout: more than 262144 matches", false},
		{"no number", "x: n/a", number, `stdout: "n/a": want a number`, false},
		{"not a number", "x: nan", number, `stdout: "nan": want a number`, false},
		{"infinite", "x: -inf", number, `stdout: "-inf": want a number`, false},
		{"hexadecimal", "x: 0x1F", with(func(r *ExtractRule) { r.Unit = "s" }), `stdout: "0x1F": unit "x1F" is not known`, false},
		{"thousands", "x: 1,234", number, `stdout: "1,234": a comma may be a decimal point or separate thousands: match digits only`, false},
		{"beyond float64", "x: 1e999", number, `stdout: "1e999": too large for a float64`, false},
		{"below float64", "x: 1e-999", number, `stdout: "1e-999": too small for a float64`, false},
		{"a bomb of an exponent", "x: 1e999999999", number, `stdout: "1e999999999": the exponent is beyond 2000`, false},
		{"an exponent without end", "x: 1e" + strings.Repeat("9", 99), number, `the exponent is beyond 2000`, false},
		{"many digits", "x: " + strings.Repeat("9", 801), number, `has 801 characters: want a number`, false},
		{"a unit that nobody asked for", "x: 3 ms", number, `stdout: "3 ms": want a number without a unit, or set the unit of the metric: unit: "ms"`, false},
		{"another unit", "x: 3 MB", with(func(r *ExtractRule) { r.Unit = "ms" }), `stdout: "3 MB": MB is not a unit for a metric in ms`, false},
		{"a long line", strings.Repeat("x", maxLine+1), number, "stdout: a line has more than 16 MiB", false},
		{"a group without part", "b", ExtractRule{Regex: "(a)|b"}, "stdout: line 1 matches, but the group does not", false},
		{"empty", "x: ", number, `stdout: "": want a number`, false},
		{"bytes", "x: \xff", number, `stdout: "\xff": want a number`, false},

		{"no JSON", "hello", ExtractRule{JQ: "."}, "stdout: invalid JSON at byte 0: invalid character 'h' looking for beginning of value", false},
		{"half a JSON", `{"a": 1`, ExtractRule{JQ: ".a"}, "stdout: invalid JSON at byte 0: unexpected EOF", false},
		{"text after JSON", "{\"a\": 1}\ndone", ExtractRule{JQ: ".a"}, "stdout: invalid JSON at byte 8: invalid character 'd' looking for beginning of value", false},
		{"null", `{"a": null}`, ExtractRule{JQ: ".a"}, "stdout: no match", true},
		{"empty program", `{}`, ExtractRule{JQ: "empty"}, "stdout: no match", true},
		{"an array", `{"a": [1]}`, ExtractRule{JQ: ".a"}, "stdout: jq gives an array: want numbers; add [] at the end to get them one by one", false},
		{"an object", `{"a": {}}`, ExtractRule{JQ: ".a"}, "stdout: jq gives {}: want a number", false},
		{"a bool", `{"a": true}`, ExtractRule{JQ: ".a"}, "stdout: jq gives true: want a number", false},
		{"an empty text", `{"a": ""}`, ExtractRule{JQ: ".a"}, `stdout: "": want a number`, false},
		{"NaN of jq", `null`, ExtractRule{JQ: "nan"}, `stdout: "NaN": want a number`, false},
		{"an error of jq", `[1]`, ExtractRule{JQ: ".a"}, "stdout: jq: expected an object but got: array ([1])", false},
		{"two of jq", `[1, 2]`, ExtractRule{JQ: ".[]"}, "stdout: 2 matches: set take to first, last or all", false},
		{"without end", `null`, ExtractRule{JQ: "range(1e18)"}, "stdout: more than 1000 matches: set take to first, last or all", false},
		{"no environment", `null`, ExtractRule{JQ: "env.HOME"}, "stdout: no match", true},
		{"deep", strings.Repeat("[", 20000), ExtractRule{JQ: "."}, "stdout: invalid JSON at byte 0: invalid character '[' exceeded max depth", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := read(t, c.rule, c.text)
			if len(got.Values) > 0 || !strings.Contains(got.Error, c.want) || got.Absent != c.absent || strings.ContainsAny(got.Error, "\n\r") {
				t.Errorf("%+v: want %s, absent %v", got, c.want, c.absent)
			}
		})
	}
}

// TestProcesses: there is a value for each process, in their order, or none of the metric.
func TestProcesses(t *testing.T) {
	rule := ExtractRule{Name: "m", From: Stdout, Regex: `\d+`}
	if got := read(t, rule, "1", "2", "3"); !slices.Equal(got.Values, []float64{1, 2, 3}) {
		t.Errorf("%+v", got)
	}
	if got := read(t, rule, "1", "no", "3"); got.Values != nil || got.Error != "process 2: stdout: no match" || !got.Absent {
		t.Errorf("%+v", got)
	}
	job, kept := outputs("1", "2")
	job.Rules = []ExtractRule{rule, {Name: "f", From: "out.txt", Regex: `\d`}}
	job.Sections[1].Missing = "more than 64 MiB"
	job.Processes = 3
	found := Extract(t.Context(), job, kept, func(int) {})
	if found[0].Error != "process 2: stdout: more than 64 MiB" || found[0].Absent {
		t.Errorf("%+v", found[0])
	}
	if found[1].Error != "process 1: out.txt: the process did not write it" || !found[1].Absent {
		t.Errorf("%+v", found[1])
	}
}

// TestNumbers: a number in a unit is the float64 nearest to the decimal number in the stored one.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		want       float64
	}{
		{"97.88", "%", 0.9788},
		{"17.88", "%", 0.1788},
		{"5.69", "%", 0.0569},
		{"110", "%", 1.1},
		{".97", "", 0.97},
		{"97.", "", 97},
		{"+1", "", 1},
		{"-0.5", "", -0.5},
		{"1e-3", "", 1e-3},
		{"1E+3", "s", 1e12},
		{"0", "ms", 0},
		{"0e0", "", 0},
		{"0.0e-1999", "", 0},
		{"1.1", "us", 1100},
		{"0.1", "kHz", 1e-4},
		{"2", "KiB", 2048},
		{"1.7976931348623157e308", "", math.MaxFloat64},
		{"3", "tokens/s", 3},
		{"3 tokens/s", "tokens/s", 3},
		{"1.5 1/s", "1/s", 1.5},
		{"1.5 k/s", "1/s", 1500},
	} {
		rule := ExtractRule{Name: "m", Unit: c.unit}
		if got, err := rule.number(c.text); got != c.want || err != nil {
			t.Errorf("%s %s: %v, %v: want %v", c.text, c.unit, got, err, c.want)
		}
	}
	accuracy := ExtractRule{Name: "accuracy"}
	if got, err := accuracy.number("97.88 %"); got != 0.9788 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// TestMetric: integers are ticks, all else reals; what is known of a metric need not be said.
func TestMetric(t *testing.T) {
	accuracy := ExtractRule{Name: "accuracy", Unit: "%"}
	f := Extracted{Values: []float64{1, 0.5}}
	m := f.Metric(&accuracy)
	if m.Unit != "ratio" || m.Better != "higher" || m.Level != "process" || !slices.Equal(m.Reals, f.Values) || m.Tick != 0 || m.Validate() != nil {
		t.Errorf("%+v", m)
	}
	own := ExtractRule{Name: "steps", Better: "lower", Take: TakeAll}
	f = Extracted{Values: []float64{3, 4}}
	m = f.Metric(&own)
	if m.Unit != "" || m.Better != "lower" || m.Level != "" || !slices.Equal(m.Ticks, []int64{3, 4}) || m.Tick != 1 || m.Validate() != nil {
		t.Errorf("%+v", m)
	}
	f = Extracted{Values: []float64{1e300}}
	if m = f.Metric(&own); m.Ticks != nil || m.Reals[0] != 1e300 {
		t.Errorf("%+v", m)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{CheckMetricName("accuracy"), "<nil>"},
		{CheckMetricName("latency"), "latency is measured in every run: choose another name"},
		{CheckMetricName("a b"), "a name must begin with a letter and may contain letters, digits and _ . : / -"},
		{CheckRegex("a("), "error parsing regexp: missing closing ): `a(`"},
		{CheckRegex("((a{500}){500}){500}"), "error parsing regexp: invalid repeat count: `{500}`"},
		{CheckJQ(".a |"), "unexpected EOF"},
		{CheckJQ("nope"), "function not defined: nope/0"},
		{CheckJQ(`import "x" as x; .`), `cannot load module: "x"`},
		{CheckJQ("input"), "input(s)/0 is not allowed"},
		{(&ExtractRule{Name: "accuracy", Unit: "ms"}).CheckUnit(), "accuracy is in ratio, not in ms"},
		{(&ExtractRule{Name: "accuracy", Unit: "%"}).CheckUnit(), "<nil>"},
		{(&ExtractRule{Name: "rmse", Unit: "ms"}).CheckUnit(), "<nil>"},
		{(&ExtractRule{Name: "accuracy", Better: "lower"}).CheckBetter(), "for accuracy, higher is better"},
		{(&ExtractRule{Name: "loss", Better: "lower"}).CheckBetter(), "<nil>"},
	} {
		valuetest.DeepEqual(t, fmt.Sprint(c.err), c.want)
	}
}

// FuzzExtract: whatever an output and a rule are, there are values or one line, and never both.
func FuzzExtract(f *testing.F) {
	f.Add("Test accuracy: 97.88 %", `accuracy:\s*([0-9.]+)`, "", "%", "last")
	f.Add(`{"a": [1, 2.5, "3 ms"]}`, "", ".a[]", "ms", "all")
	f.Add("x\r\ny\xff", `(a)|\xff`, "", "", "")
	f.Add("a", "(\r", "", "", "")
	f.Add("1e400 .5 -0", `\S+`, "", "s", "all")
	f.Fuzz(func(t *testing.T, text, regex, jq, unit, take string) {
		rule := ExtractRule{Name: "m", From: Stdout, Regex: regex, JQ: jq, Unit: unit, Take: take}
		if regex != "" {
			rule.JQ = "" // a jq program need not end, see cmd/neurolens
		} else if !slices.Contains([]string{".", ".a", ".a[]", ".[]", "..|numbers"}, jq) {
			return
		}
		found := read(t, rule, text, text)
		if (len(found.Values) > 0) == (found.Error != "") || strings.ContainsAny(found.Error, "\n\r") || found.Absent && found.Error == "" {
			t.Errorf("%+v", found)
		}
		if len(found.Values) > 0 {
			if m := found.Metric(&rule); m.Validate() != nil {
				t.Errorf("%+v: %v", m, m.Validate())
			}
		}
		for _, v := range found.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v", v)
			}
		}
	})
}

// TestBlame: where time is over, the rule is named that was being applied, and no later one.
func TestBlame(t *testing.T) {
	job, kept := outputs("1")
	job.Rules = []ExtractRule{{Name: "a", From: Stdout, JQ: "def f: f; f"}, {Name: "b", From: Stdout, Regex: `(\d)`}}
	ctx, cancel := context.WithCancel(t.Context())
	last := -1
	Extract(ctx, job, kept, func(rule int) {
		last = rule
		cancel()
	})
	valuetest.DeepEqual(t, last, 0, "rule")
}
