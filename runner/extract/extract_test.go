package extract

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// outputs are what processes wrote on standard output, one after the other.
func outputs(texts ...string) (Job, io.ReaderAt) {
	job := Job{Processes: len(texts)}
	var all bytes.Buffer
	for i, text := range texts {
		job.Sections = append(job.Sections, Section{Process: i, From: Stdout, Offset: int64(all.Len()), Size: int64(len(text))})
		all.WriteString(text)
	}
	return job, bytes.NewReader(all.Bytes())
}

// read applies one rule.
func read(t *testing.T, rule Rule, texts ...string) Found {
	t.Helper()
	if rule.From == "" {
		rule.From = Stdout
	}
	if rule.Name == "" {
		rule.Name = "m"
	}
	job, kept := outputs(texts...)
	job.Rules = []Rule{rule}
	return Read(t.Context(), job, kept, func(int) {})[0]
}

func TestRegex(t *testing.T) {
	const percent = `(?i)test accuracy:\s*([0-9]*\.?[0-9]+)\s*%`
	long := strings.Repeat("x", maxLine-10)
	for _, c := range []struct {
		name, text string
		rule       Rule
		want       []float64
	}{
		{"percent", "epoch 1\nTest accuracy: 97.88 %\n", Rule{Regex: percent, Unit: "%"}, []float64{0.9788}},
		{"no leading digit", "Test accuracy: .97 %", Rule{Regex: percent, Unit: "%"}, []float64{0.0097}},
		{"whole match", "a 12 b", Rule{Regex: `[0-9]+`}, []float64{12}},
		{"named group", "took 3 of 7", Rule{Regex: `took (\d+) of (?P<n>\d+)`}, []float64{7}},
		{"named group, as others write it", "took 3 of 7", Rule{Regex: `(\d+) of (?<n>\d+)`}, []float64{7}},
		{"first of two groups", "took 3 of 7", Rule{Regex: `took (\d+) of (\d+)`}, []float64{3}},
		{"last", "l 1\nl 2\nl 3\n", Rule{Regex: `l (\d)`, Take: TakeLast}, []float64{3}},
		{"first", "l 1\nl 2\nl 3\n", Rule{Regex: `l (\d)`, Take: TakeFirst}, []float64{1}},
		{"all", "l 1\nl 2\nl 3\n", Rule{Regex: `l (\d)`, Take: TakeAll}, []float64{1, 2, 3}},
		{"several in a line", "1 2 3", Rule{Regex: `\d`, Take: TakeAll}, []float64{1, 2, 3}},
		{"a progress bar", "10%\r50%\r100%\r\ndone", Rule{Regex: `^(\d+)%$`, Take: TakeLast}, []float64{100}},
		{"Windows", "x: 4\r\ny: 5\r\n", Rule{Regex: `^y: (\d)$`}, []float64{5}},
		{"no newline at the end", "x: 4", Rule{Regex: `^x: (\d)$`}, []float64{4}},
		{"bytes that are no UTF-8", "\xff\xfe\x00 x: 4\xff\n", Rule{Regex: `x: (\d)`}, []float64{4}},
		{"its own unit", "took 980 ms", Rule{Regex: `took (.*)`, Unit: "s"}, []float64{980e6}},
		{"a long line", long + "\nx: 4", Rule{Regex: `^x: (\d)$`}, []float64{4}},
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
		rule       Rule
		want       []float64
	}{
		{"one value", `{"accuracy": 97.88}`, Rule{JQ: ".accuracy", Unit: "%"}, []float64{0.9788}},
		{"JSON lines", "{\"a\": 1}\n{\"a\": 2}\n", Rule{JQ: ".a", Take: TakeAll}, []float64{1, 2}},
		{"null is no match", `{"a": null} {"a": 2}`, Rule{JQ: ".a"}, []float64{2}},
		{"a text", `{"a": "1.5 ms"}`, Rule{JQ: ".a", Unit: "ms"}, []float64{1.5e6}},
		{"first of many", `null`, Rule{JQ: `range(1e18)`, Take: TakeFirst}, []float64{0}},
		{"a large integer", `{"a": 9007199254740993}`, Rule{JQ: ".a"}, []float64{9007199254740992}},
		{"a mean", `[1, 2, 4.5]`, Rule{JQ: "add / length"}, []float64{2.5}},
		{"halt", `{"a": 1} {"a": 2}`, Rule{JQ: ".a, halt"}, []float64{1}},
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
	number := Rule{Regex: "x: (.*)"}
	with := func(change func(*Rule)) Rule {
		r := number
		change(&r)
		return r
	}
	for _, c := range []struct {
		name, text string
		rule       Rule
		want       string
		absent     bool
	}{
		{"no match", "y: 1", number, "stdout: no match", true},
		{"no output", "", number, "stdout: no match", true},
		{"two matches", "x: 1\nx: 2", number, "stdout: 2 matches: say take: first, last or all", false},
		{"many matches", strings.Repeat("x: 1\n", 2000), number, "stdout: more than 1000 matches: say take: first, last or all", false},
		{"too many samples", strings.Repeat("1", maxMatches+1), Rule{Regex: "1", Take: TakeAll}, "stdout: more than 262144 matches", false},
		{"no number", "x: n/a", number, `stdout: "n/a": want a number`, false},
		{"not a number", "x: nan", number, `stdout: "nan": want a number`, false},
		{"infinite", "x: -inf", number, `stdout: "-inf": want a number`, false},
		{"hexadecimal", "x: 0x1F", with(func(r *Rule) { r.Unit = "s" }), `stdout: "0x1F": unit "x1F" is not known`, false},
		{"thousands", "x: 1,234", number, `stdout: "1,234": a comma may stand for a decimal point or between thousands: match digits alone`, false},
		{"beyond float64", "x: 1e999", number, `stdout: "1e999": more than a float64 holds`, false},
		{"below float64", "x: 1e-999", number, `stdout: "1e-999": less than a float64 holds`, false},
		{"a bomb of an exponent", "x: 1e999999999", number, `stdout: "1e999999999": the exponent is beyond 2000`, false},
		{"an exponent without end", "x: 1e" + strings.Repeat("9", 99), number, `the exponent is beyond 2000`, false},
		{"many digits", "x: " + strings.Repeat("9", 801), number, `has 801 characters: want a number`, false},
		{"a unit that nobody asked for", "x: 3 ms", number, `stdout: "3 ms": want a number, or the unit of the metric: unit: "ms"`, false},
		{"another unit", "x: 3 MB", with(func(r *Rule) { r.Unit = "ms" }), `stdout: "3 MB": MB is no unit for a metric in ms`, false},
		{"a long line", strings.Repeat("x", maxLine+1), number, "stdout: a line has more than 16 MiB", false},
		{"a group without part", "b", Rule{Regex: "(a)|b"}, "stdout: line 1 matches, and its group has no part in that", false},
		{"empty", "x: ", number, `stdout: "": want a number`, false},
		{"bytes", "x: \xff", number, `stdout: "\xff": want a number`, false},

		{"no JSON", "hello", Rule{JQ: "."}, "stdout: no JSON at byte 0: invalid character 'h' looking for beginning of value", false},
		{"half a JSON", `{"a": 1`, Rule{JQ: ".a"}, "stdout: no JSON at byte 0: unexpected EOF", false},
		{"text after JSON", "{\"a\": 1}\ndone", Rule{JQ: ".a"}, "stdout: no JSON at byte 8: invalid character 'd' looking for beginning of value", false},
		{"null", `{"a": null}`, Rule{JQ: ".a"}, "stdout: no match", true},
		{"empty program", `{}`, Rule{JQ: "empty"}, "stdout: no match", true},
		{"an array", `{"a": [1]}`, Rule{JQ: ".a"}, "stdout: jq gives an array: want numbers, which [] at its end gives one by one", false},
		{"an object", `{"a": {}}`, Rule{JQ: ".a"}, "stdout: jq gives {}: want a number", false},
		{"a bool", `{"a": true}`, Rule{JQ: ".a"}, "stdout: jq gives true: want a number", false},
		{"an empty text", `{"a": ""}`, Rule{JQ: ".a"}, `stdout: "": want a number`, false},
		{"NaN of jq", `null`, Rule{JQ: "nan"}, `stdout: "NaN": want a number`, false},
		{"an error of jq", `[1]`, Rule{JQ: ".a"}, "stdout: jq: expected an object but got: array ([1])", false},
		{"two of jq", `[1, 2]`, Rule{JQ: ".[]"}, "stdout: 2 matches: say take: first, last or all", false},
		{"without end", `null`, Rule{JQ: "range(1e18)"}, "stdout: more than 1000 matches: say take: first, last or all", false},
		{"no environment", `null`, Rule{JQ: "env.HOME"}, "stdout: no match", true},
		{"deep", strings.Repeat("[", 20000), Rule{JQ: "."}, "stdout: no JSON at byte 0: invalid character '[' exceeded max depth", false},
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
	rule := Rule{Name: "m", From: Stdout, Regex: `\d+`}
	if got := read(t, rule, "1", "2", "3"); !slices.Equal(got.Values, []float64{1, 2, 3}) {
		t.Errorf("%+v", got)
	}
	if got := read(t, rule, "1", "no", "3"); got.Values != nil || got.Error != "process 2: stdout: no match" || !got.Absent {
		t.Errorf("%+v", got)
	}
	job, kept := outputs("1", "2")
	job.Rules = []Rule{rule, {Name: "f", From: "out.txt", Regex: `\d`}}
	job.Sections[1].Missing = "more than 64 MiB"
	job.Processes = 3
	found := Read(t.Context(), job, kept, func(int) {})
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
		rule := Rule{Name: "m", Unit: c.unit}
		if got, err := rule.number(c.text); got != c.want || err != nil {
			t.Errorf("%s %s: %v, %v: want %v", c.text, c.unit, got, err, c.want)
		}
	}
	accuracy := Rule{Name: "accuracy"}
	if got, err := accuracy.number("97.88 %"); got != 0.9788 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// TestMetric: integers are ticks, all else reals; what is known of a metric need not be said.
func TestMetric(t *testing.T) {
	accuracy := Rule{Name: "accuracy", Unit: "%"}
	f := Found{Values: []float64{1, 0.5}}
	m := f.Metric(&accuracy)
	if m.Unit != "ratio" || m.Better != "higher" || m.Level != "process" || !slices.Equal(m.Reals, f.Values) || m.Tick != 0 || m.Validate() != nil {
		t.Errorf("%+v", m)
	}
	own := Rule{Name: "steps", Better: "lower", Take: TakeAll}
	f = Found{Values: []float64{3, 4}}
	m = f.Metric(&own)
	if m.Unit != "" || m.Better != "lower" || m.Level != "" || !slices.Equal(m.Ticks, []int64{3, 4}) || m.Tick != 1 || m.Validate() != nil {
		t.Errorf("%+v", m)
	}
	f = Found{Values: []float64{1e300}}
	if m = f.Metric(&own); m.Ticks != nil || m.Reals[0] != 1e300 {
		t.Errorf("%+v", m)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{CheckName("accuracy"), "<nil>"},
		{CheckName("latency"), "latency is measured in every run: give what the output says another name"},
		{CheckName("a b"), "a name must begin with a letter and may contain letters, digits and _ . : / -"},
		{CheckRegex("a("), "error parsing regexp: missing closing ): `a(`"},
		{CheckRegex("((a{500}){500}){500}"), "error parsing regexp: invalid repeat count: `{500}`"},
		{CheckJQ(".a |"), "unexpected EOF"},
		{CheckJQ("nope"), "function not defined: nope/0"},
		{CheckJQ(`import "x" as x; .`), `cannot load module: "x"`},
		{CheckJQ("input"), "input(s)/0 is not allowed"},
		{(&Rule{Name: "accuracy", Unit: "ms"}).CheckUnit(), "accuracy is in ratio, not in ms"},
		{(&Rule{Name: "accuracy", Unit: "%"}).CheckUnit(), "<nil>"},
		{(&Rule{Name: "rmse", Unit: "ms"}).CheckUnit(), "<nil>"},
		{(&Rule{Name: "accuracy", Better: "lower"}).CheckBetter(), "of accuracy, higher is better"},
		{(&Rule{Name: "loss", Better: "lower"}).CheckBetter(), "<nil>"},
	} {
		if got := fmt.Sprint(c.err); got != c.want {
			t.Errorf("got %s: want %s", got, c.want)
		}
	}
}

// FuzzRead: whatever an output and a rule are, there are values or one line, and never both.
func FuzzRead(f *testing.F) {
	f.Add("Test accuracy: 97.88 %", `accuracy:\s*([0-9.]+)`, "", "%", "last")
	f.Add(`{"a": [1, 2.5, "3 ms"]}`, "", ".a[]", "ms", "all")
	f.Add("x\r\ny\xff", `(a)|\xff`, "", "", "")
	f.Add("a", "(\r", "", "", "")
	f.Add("1e400 .5 -0", `\S+`, "", "s", "all")
	f.Fuzz(func(t *testing.T, text, regex, jq, unit, take string) {
		rule := Rule{Name: "m", From: Stdout, Regex: regex, JQ: jq, Unit: unit, Take: take}
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
	job.Rules = []Rule{{Name: "a", From: Stdout, JQ: "def f: f; f"}, {Name: "b", From: Stdout, Regex: `(\d)`}}
	ctx, cancel := context.WithCancel(t.Context())
	last := -1
	Read(ctx, job, kept, func(rule int) {
		last = rule
		cancel()
	})
	if last != 0 {
		t.Errorf("rule %d was begun when time was over in the first", last)
	}
}
