package filter

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/internal/fault"
)

// String prints a filter with all its structure visible.
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

// nasty are texts on which a tokenizer goes wrong, and what they mean.
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
		{`x=1 batch_size`, `filter: batch_size  (offset 4): a condition is missing; a shell takes < and > for itself, so quote it: 'batch_size>=2'`},
		{`a="x`, `(offset 2): the quote is not closed`},
		{`"a=1`, `(offset 0): the quote is not closed`},
		{`k~[^(]x) y=1`, `(offset 7): this ) closes nothing`},
		{`a=1)or(b=2`, `(offset 3): this ) closes nothing`},
		{`(a=1 or b=2`, `(offset 0): this ( is not closed`},
		{`a=1 or`, `(offset 6): a condition is missing`},
		{`()`, `(offset 1): a condition is missing`},
		{`=1`, `(offset 0): a key is missing before =`},
		{`a=1,,2`, `(offset 4): a value is missing`},
		{`a==1`, `(offset 2): two operators`},
		{`a=>1`, `(offset 2): two operators`},
		{`suite~a(b`, `(offset 6): missing closing ): a(b`},
		{`suite~"x**"`, `invalid nested repetition operator: **`},
		{`p99<15`, `(offset 4): p99 is in the unit of its metric: say which, as in p99<15ms`},
		{`p99<x`, `(offset 4): "x" is not a number`},
		{`p99<"15ms"`, `(offset 4): the text "15ms" is not a number`},
		{`batch_size>=8ms`, `batch_size has no unit, but "8ms" has ms`},
		{`measure_ns>1KiB`, `measure_ns is in ns, but "1KiB" is in B`},
		{`measure_ns>1foo`, `unit "foo" is not known`},
		{`batch_size="8"`, `the text "8" is not a number`},
		{`git_dirty=yes`, `want true, false or null`},
		{`git_dirty>true`, `git_dirty has no order`},
		{`params=x`, `params holds several values: say which, as in param.name=...`},
		{`artifacts=x`, `artifacts holds more than text`},
		{`started_at=2026-11-01`, `compare a time with < <= > or >=`},
		{`started_at>=yesterday`, `"yesterday" is not a time`},
		{`batch_size~8`, `a regular expression is for text, batch_size is none`},
		{`session~x`, `session takes = and != only`},
		{`run>x`, `run takes = and != only`},
		{`dim>=64ms`, `dim has no unit, but "64ms" has ms`},
		{"a=\x00", `a NUL byte`},
		{"a=\xff", `not UTF-8`},
		{strings.Repeat("(", 1000), `nested too deeply`},
		{strings.Repeat("not ", 1000) + "a=1", `nested too deeply`},
		{strings.Repeat("a=1 ", 1000), `too many conditions`},
		{strings.Repeat("x", 1<<20), `longer than 65536 bytes`},
		{"x\ny", `a condition is missing`},
	} {
		_, err := Compile(c.text, noIDs)
		switch {
		case !errors.Is(err, fault.ErrInput):
			t.Errorf("%.80q: got %v, want an ErrInput", c.text, err)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("%.80q: got %q, want %q", c.text, err, c.want)
		case strings.ContainsAny(err.Error(), "\n\x00") || !utf8.ValidString(err.Error()) || len(err.Error()) > 400:
			t.Errorf("%.80q: not a short line: %.500q", c.text, err)
		}
	}
}

func noIDs(string, string) ([]string, error) { return nil, nil }

// TestCompileBindsEverything: no text of a user may get into the statement.
func TestCompileBindsEverything(t *testing.T) {
	t.Parallel()
	const evil = `'); DROP TABLE runs; --`
	for _, text := range []string{
		`suite="` + evil + `"`, `suite~"DROP"`, `"` + evil + `"=1`, `param."` + evil + `">=1`, `tag."` + evil + `"="` + evil + `"`, `warnings="` + evil + `"`,
		`warnings~DROP`, `p99<1DROP`, `session="` + evil + `"`, `env.DROP~DROP`, `started_at>2026-01-01 precision="DROP"`,
	} {
		c, err := Compile(text, func(_, value string) ([]string, error) { return []string{value}, nil })
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if strings.Contains(c.SQL, "DROP") {
			t.Errorf("%s is spliced into %s", text, c.SQL)
		}
	}
}
