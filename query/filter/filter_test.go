package filter

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/answer"
)

// String formats a filter with all its structure.
func (n *node) String() string {
	if n == nil {
		return "everything"
	}
	if n.kind == tokenWord {
		var values []string
		for _, v := range n.word.Values {
			text := v.Text
			if v.quoted {
				text = `"` + text + `"`
			}
			values = append(values, text)
		}
		return n.word.Key + " " + n.word.Op + " " + strings.Join(values, " | ")
	}
	var parts []string
	for _, p := range n.parts {
		parts = append(parts, p.String())
	}
	name := map[tokenKind]string{tokenAnd: "and", tokenOr: "or", tokenNot: "not"}[n.kind]
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// nasty are texts that are difficult to tokenize, and their meanings.
var nasty = []struct{ text, want string }{
	{`dim=64 precision=fp32`, `and(dim = 64, precision = fp32)`},
	{`(dim=64 or dim=128) not status=ok`, `and(or(dim = 64, dim = 128), not(status = ok))`},
	{`(dim~^(64|128)$)`, `dim ~ ^(64|128)$`},
	{`dim~(a|b) or (x=1)`, `or(dim ~ (a|b), x = 1)`},
	{`suite="quick start" x=1`, `and(suite = "quick start", x = 1)`},
	{`gpu_name~"NVIDIA H(1|2)00"`, `gpu_name ~ "NVIDIA H(1|2)00"`},
	{`shape=[1,2],[3,4]`, `shape = [1,2] | [3,4]`},
	{`k~a\)b`, `k ~ a\)b`},
	{`k~[)]x`, `k ~ [)]x`},
	{`(k~[)]x)`, `k ~ [)]x`},
	{`not (a=1 or not b=2)`, `not(or(a = 1, not(b = 2)))`},
	{`k~\d+ms z=1`, `and(k ~ \d+ms, z = 1)`},
	{`k~"a\"b\\c\d"`, `k ~ "a"b\c\d"`},
	{`((a=1))`, `a = 1`},
	{`env.path=C:\x y=1`, `and(env.path = C:\x, y = 1)`},
	{`a=C:\ b=1`, `and(a = C:\, b = 1)`},
	{`not(a=1)or(b=2)`, `or(not(a = 1), b = 2)`},
	{`a!=1,2,null b!~x,y`, `and(a != 1 | 2 | null, b !~ x,y)`},
	{`a=1 and b=2 or c=3 and not not d=4`, `or(and(a = 1, b = 2), and(c = 3, not(not(d = 4))))`},
	{`p99<1.5ms p99>=1 ms_=2`, `and(p99 < 1.5ms, p99 >= 1, ms_ = 2)`},
	{`and="or" "not"=not a=and`, `and(and = "or", not = not, a = and)`},
	{`k={"a":[1,2],"b":1},x`, `k = {a:[1,2],b:1} | x`},
	{"a=1\tb=2\n", `and(a = 1, b = 2)`},
	{`a=""`, `a = ""`},
	{` `, `everything`},
	{`a!b=1`, `a!b = 1`},
	{`a==1 b=~x c<>2`, `and(a = 1, b ~ x, c != 2)`},
	{`a=1 OR b=2 AND NOT c=3 Or d=4`, `or(a = 1, and(b = 2, not(c = 3)), d = 4)`},
	{`a=1 && b=2 || !c=3`, `or(and(a = 1, b = 2), not(c = 3))`},
	{`a=1||b=2&&!(c=3)`, `or(a = 1, and(b = 2, not(c = 3)))`},
	{`a = 1 b  >=  2 "or" = 3`, `and(a = 1, b >= 2, or = 3)`},
	{`a~x||y k="a||b"`, `and(a ~ x||y, k = "a||b")`},
	{`k=[1||2],{a&&b}`, `k = [1||2] | {a&&b}`},
	{`a=1..4,8`, `a = 1..4 | 8`},
}

func TestParseNasty(t *testing.T) {
	t.Parallel()
	for _, c := range nasty {
		n, err := parseFilter(c.text)
		got := n.String()
		if c.text == `k={"a":[1,2],"b":1},x` {
			got = strings.ReplaceAll(got, `"`, "") // quotes inside a value only protect
		}
		if err != nil || got != c.want {
			t.Errorf("%s\n got %s, %v\nwant %s", c.text, got, err, c.want)
		}
	}
}

func TestFilterRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`batch_size>=`, `filter: batch_size>=  (offset 12): a value is missing`},
		{`x=1 batch_size`, `filter: batch_size  (offset 4): the comparison is missing; the shell interprets < and >, so quote it: 'batch_size>=2'`},
		{`a="x`, `(offset 2): the quote is not closed`},
		{`"a=1`, `(offset 0): the quote is not closed`},
		{`k~[^(]x) y=1`, `(offset 7): unmatched )`},
		{`a=1)or(b=2`, `(offset 3): unmatched )`},
		{`(a=1 or b=2`, `(offset 0): unmatched (`},
		{`a=1 or`, `(offset 6): a condition is missing`},
		{`()`, `(offset 1): a condition is missing`},
		{`=1`, `(offset 0): a key is missing before =`},
		{`a=1,,2`, `(offset 4): a value is missing`},
		{`a===1`, `(offset 3): two operators`},
		{`a=>1`, `(offset 2): two operators`},
		{`suite~a(b`, `(offset 6): missing closing ): a(b`},
		{`suite~"x**"`, `invalid nested repetition operator: **`},
		{`p99<15`, `(offset 4): p99 needs a unit, as in p99<15ms`},
		{`p99<x`, `(offset 4): "x" is not a number`},
		{`p99<"15ms"`, `(offset 4): the text "15ms" is not a number`},
		{`batch_size>=8ms`, `batch_size has no unit, but "8ms" has ms`},
		{`measure_ns>1KiB`, `measure_ns is in ns, but "1KiB" is in B`},
		{`measure_ns>1foo`, `unit "foo" is not known`},
		{`batch_size="8"`, `the text "8" is not a number`},
		{`git_dirty=yes`, `want true, false or null`},
		{`status=fail`, `filter: status=fail  (offset 7): want one of ok error timeout crashed oom unsupported skipped output_limit cancelled unkillable lost failed`},
		{`status!=ok,"fail"`, `(offset 11): want one of ok error`},
		{`stage=run`, `want one of build setup warmup measure validate teardown profile`},
		{`purpose=test`, `want one of measure profile`},
		{`executor=java`, `want one of builtin command python onnxrt torch tensorrt`},
		{`precision=fp33`, `want one of fp64 fp32 tf32`},
		{`precision="FP32"`, `want one of fp64 fp32 tf32`},
		{`side=new`, `want one of base head`},
		{`time_source=guess`, `want one of clock file naive`},
		{`better=more`, `want one of lower higher`},
		{`level=run`, `want one of iteration process request token interval mean`},
		{`git_dirty>true`, `git_dirty cannot be compared with < or >`},
		{`params=x`, `params is a map: name one of its entries, as in param.name=...`},
		{`artifacts=x`, `artifacts is a list of records: only null can be compared with it`},
		{`started_at=soon`, `(offset 11): "soon" is not a time`},
		{`when=2026-11-03..2026-11-01`, `did you mean when=2026-11-01..2026-11-03?`},
		{`batch_size=8..1`, `the range ends before it begins; did you mean batch_size=1..8?`},
		{`batch_size=1..x`, `(offset 14): "x" is not a number`},
		{`batch_size=1..2..8`, `"1..2..8" is not a number`},
		{`bs=1,seq=64`, `(offset 5): separate conditions with a space, not a comma: bs=1 seq=64`},
		{`latency`, `want KEY=VALUE, as in batch_size=8`},
		{`bs:2`, `want KEY=VALUE; did you mean bs=2?`},
		{`p99`, `quote it: 'p99<2ms'`},
		{`when`, `quote it: 'when>=2026-11-01'`},
		{`precision`, `a value is missing, as in precision=VALUE`},
		{`metric.latency<1`, `metric.latency needs a unit, as in metric.latency<1ms`},
		{`latency<fast`, `"fast" is not a number`},
		{`metric.latency~x`, `a regular expression needs text, and metric.latency is not text`},
		{`median<1`, `median needs a unit, as in median<1ms`},
		{`spread<5ms`, `spread is in ratio, but "5ms" is in ns`},
		{`param.dim<16ms`, `param.dim has no unit, but "16ms" has ms`},
		{`started_at>=yesterday`, `"yesterday" is not a time`},
		{`batch_size~8`, `a regular expression needs text, and batch_size is not text`},
		{`session~x`, `session takes = and != only`},
		{`run>x`, `run takes = and != only`},
		{"a=\x00", `a NUL byte`},
		{"a=\xff", `not UTF-8`},
		{strings.Repeat("(", 1000), `nested too deeply`},
		{strings.Repeat("not ", 1000) + "a=1", `nested too deeply`},
		{strings.Repeat("a=1 ", 1000), `too many conditions`},
		{strings.Repeat("x", 1<<20), `longer than 65536 bytes`},
		{"x\ny", `want KEY=VALUE`},
	} {
		_, err := Compile(c.text, none)
		switch {
		case !errors.Is(err, answer.ErrInput):
			t.Errorf("%.80q: got %v, want an ErrInput", c.text, err)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("%.80q: got %q, want %q", c.text, err, c.want)
		case strings.ContainsAny(err.Error(), "\n\x00") || !utf8.ValidString(err.Error()) || len(err.Error()) > 400:
			t.Errorf("%.80q: not a short line: %.500q", c.text, err)
		}
	}
}

// none is a lookup that finds nothing.
var none = Lookups{
	IDs:     func(string, string) ([]string, error) { return nil, nil },
	Counted: func(string) ([]string, error) { return nil, nil },
	Metric:  func(string, string) (string, error) { return "metric_0", nil },
}

// TestCompileBindsEverything: no text of a user becomes a part of the statement.
func TestCompileBindsEverything(t *testing.T) {
	t.Parallel()
	const evil = `'); DROP TABLE runs; --`
	for _, text := range []string{
		`suite="` + evil + `"`, `suite~"DROP"`, `"` + evil + `"=1`, `param."` + evil + `">=1`, `tag."` + evil + `"="` + evil + `"`, `warnings="` + evil + `"`,
		`warnings~DROP`, `p99<1DROP`, `session="` + evil + `"`, `env.DROP~DROP`, `started_at>2026-01-01 backend="DROP"`,
	} {
		c, err := Compile(text, Lookups{IDs: func(_, value string) ([]string, error) { return []string{value}, nil }, Counted: none.Counted, Metric: none.Metric})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if strings.Contains(c.SQL, "DROP") {
			t.Errorf("%s is spliced into %s", text, c.SQL)
		}
	}
}

// TestMeanings: what a condition compiles to.
func TestMeanings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, sql, args string }{
		{`bs=1..4`, `(("batch_size" >= $1::BIGINT AND "batch_size" <= $2::BIGINT))`, `[1 4]`},
		{`bs=2..`, `(("batch_size" >= $1::BIGINT))`, `[2]`},
		{`bs!=..4,8`, `NOT coalesce((("batch_size" <= $1::BIGINT) OR "batch_size" = $2::BIGINT), false)`, `[4 8]`},
		{`p99=1..2ms`, `(((CASE WHEN n_samples IS DISTINCT FROM 1 THEN "p99" END >= $1::DOUBLE AND "unit" = $2::VARCHAR) AND (CASE WHEN n_samples IS DISTINCT FROM 1 THEN "p99" END <= $3::DOUBLE AND "unit" = $2::VARCHAR)))`, `[1e+06 ns 2e+06]`},
		{`when=2026-11-01..2026-11-03`, `((epoch_us("started_at") >= $1::BIGINT AND epoch_us("started_at") < $2::BIGINT))`, `[1793491200000000 1793750400000000]`},
		{`started_at=2026-11`, `((epoch_us("started_at") >= $1::BIGINT AND epoch_us("started_at") < $2::BIGINT))`, `[1793491200000000 1796083200000000]`},
		{`when="2026-11-24T10:00"`, `((epoch_us("started_at") >= $1::BIGINT AND epoch_us("started_at") < $2::BIGINT))`, `[1795514400000000 1795514460000000]`},
		{`median<1ms`, `("p50" < $1::DOUBLE AND "unit" = $2::VARCHAR)`, `[1e+06 ns]`},
		{`spread<5%`, `(1.4826 * CASE WHEN n_samples IS DISTINCT FROM 1 THEN mad END / nullif(abs(p50), 0)) < $1::DOUBLE`, `[0.05]`},
		{`latency<1ms`, `("run_id" IN (SELECT of_run FROM latency|coalesce(p50, mean) WHERE value < $1::DOUBLE AND unit = $2::VARCHAR))`, `[1e+06 ns]`},
		{`metric.my.time.p99>=2s`, `("run_id" IN (SELECT of_run FROM my.time|CASE WHEN n_samples IS DISTINCT FROM 1 THEN p99 END WHERE value >= $1::DOUBLE AND unit = $2::VARCHAR))`, `[2e+09 ns]`},
		{`latency.spread<5%`, `("run_id" IN (SELECT of_run FROM latency|(1.4826 * CASE WHEN n_samples IS DISTINCT FROM 1 THEN mad END / nullif(abs(p50), 0)) WHERE value < $1::DOUBLE))`, `[0.05]`},
		{`latency=1ms..2ms`, `((("run_id" IN (SELECT of_run FROM latency|coalesce(p50, mean) WHERE value >= $1::DOUBLE AND unit = $2::VARCHAR)) AND ("run_id" IN (SELECT of_run FROM latency|coalesce(p50, mean) WHERE value <= $3::DOUBLE AND unit = $2::VARCHAR))))`, `[1e+06 ns 2e+06]`},
		{`metric.accuracy>0.9`, `("run_id" IN (SELECT of_run FROM accuracy|coalesce(p50, mean) WHERE value > $1::DOUBLE AND coalesce(unit, 'ratio') IN ('', 'ratio')))`, `[0.9]`},
		{`metric.accuracy=null`, `(NOT ("run_id" IN (SELECT of_run FROM accuracy|coalesce(p50, mean) WHERE value IS NOT NULL)))`, `[]`},
		{`metric.latency.n_samples>=5`, `("run_id" IN (SELECT of_run FROM latency|"n_samples" WHERE value >= $1::BIGINT))`, `[5]`},
		{`temperature=0.7`, `("params"[$1::VARCHAR] IN ($2::VARCHAR))`, `[temperature 0.7]`},
		{`size=7b`, `("params"[$1::VARCHAR] IN ($2::VARCHAR))`, `[size 7b]`},
		{`dim="1..4"`, `("params"[$1::VARCHAR] IN ($2::VARCHAR))`, `[dim 1..4]`},
		{`commit_range=a..b`, `("params"[$1::VARCHAR] IN ($2::VARCHAR))`, `[commit_range a..b]`},
		{`param.median=2`, `("params"[$1::VARCHAR] IN ($2::VARCHAR))`, `[median 2]`},
	} {
		cond, err := Compile(c.text, Lookups{IDs: none.IDs, Metric: func(metric, value string) (string, error) { return metric + "|" + value, nil }})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if args := fmt.Sprint(cond.Args); cond.SQL != c.sql || args != c.args {
			t.Errorf("%s is\n%s %s, want\n%s %s", c.text, cond.SQL, args, c.sql, c.args)
		}
	}
}
