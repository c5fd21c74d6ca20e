package expression

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// scope is that of a sweep: axes, facts, a parameter whose name is no word, an axis with values of several kinds.
var scope = Scope{
	Names: map[string]Kind{
		"benchmark": Text, "backend": Text, "batch_size": Number, "seq_len": Number, "kind": Any, "flag": Boolean,
		"gpu.memory": Number, "gpu.name": Text, "gpu.count": Number, "param.kv-heads": Number, "param.heads": Number, "max": Number,
	},
	Functions: []Function{{
		Name: "version", Takes: []Kind{Text}, Gives: Text, Meaning: "the version of a module", Call: func(args []any) any {
			if args[0] == "torch" {
				return "2.9.1"
			}
			return nil
		},
	}},
}

// values are those of a point on a machine without a GPU.
var values = map[string]any{
	"benchmark": "tma_copy", "backend": "cuda", "batch_size": 4.0, "seq_len": 128.0, "kind": "8", "flag": true,
	"gpu.count": 0.0, "param.kv-heads": 3.0, "param.heads": 12.0, "max": 7.0,
}

// evaluate gives a value, or null: and what is NULL, or error: and the error.
func evaluate(text string) string {
	e, err := Compile(text, scope, Any)
	if err != nil {
		return "error: " + err.Error()
	}
	value, err := e.Evaluator().Eval(values)
	if null, ok := errors.AsType[*NullError](err); ok {
		return "null: " + null.Error()
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprint(value)
}

func TestEval(t *testing.T) {
	for _, test := range [][2]string{
		{`batch_size * seq_len`, "512"},
		{`1 / 2`, "0.5"},
		{`9007199254740993 == 9007199254740992`, "true"}, // float64, whatever stands there
		{`3000000000 * 4000000000 > 1e18`, "true"},       // an integer of 64 bits would have wrapped
		{`-batch_size ** 2`, "-16"},
		{`2 ** 3 ** 2`, "512"},
		{`mod(batch_size, 3)`, "1"},
		{`max(1, batch_size, 3)`, "4"},
		{`min(10, 1000 / batch_size)`, "10"},
		{`max`, "7"},
		{`max(max, 1)`, "7"},
		{`round(2.5) + floor(2.5) + ceil(2.5)`, "8"},
		{`log2(8) + sqrt(9) + abs(-1)`, "7"},
		{`len("häuser")`, "6"},
		{`upper(trim(" a ")) + lower("B")`, "Ab"},
		{`benchmark contains "tma" and batch_size < 10`, "true"},
		{`benchmark startsWith "tma" and not (benchmark endsWith "tma")`, "true"},
		{`benchmark matches "^tma_.*y$"`, "true"},
		{`backend in ["cpu", "cuda"]`, "true"},
		{`batch_size not in [1, 2, 4]`, "false"},
		{`batch_size in [4, 8]`, "true"},
		{`batch_size >= 4 ? "large" : "small"`, "large"},
		{`kind == "8"`, "true"},
		{`kind == 8`, "false"},
		{`flag and batch_size == 4`, "true"},
		{`param["kv-heads"] + param.heads`, "15"},
		{`batch_size | max(9)`, "9"},
		{`"a // b" + 'c # d'`, "a // bc # d"},
		{`version("torch") startsWith "2."`, "true"},
		{`version("torch") < "2.10" and version("torch") >= "2.9" and version("torch") > "2"`, "true"},
		{`kind < "10"`, "true"},
		{`gpu.memory == null and gpu.memory == NULL`, "true"},
	} {
		valuetest.DeepEqual(t, evaluate(test[0]), test[1], test[0])
	}
}

// TestVersions: texts are ordered as versions are.
func TestVersions(t *testing.T) {
	ordered := []string{
		"", "0.9", "1.0.dev3", "1.0a1", "1.0b2", "1.0rc1", "1.0", "1.0.post1", "1.0.1", "1.9", "1.10", "1.10.2", "2.0",
		"9", "23.2.1", "a", "b",
	}
	for i, a := range ordered {
		for k, b := range ordered {
			valuetest.DeepEqual(t, compareVersions(a, b), cmp.Compare(i, k), a, b)
		}
	}
	for _, same := range [][2]string{{"2", "2.0.0"}, {"1.01", "1.1"}, {"V", "v"}, {"1.0-rc.1", "1.0rc1"}, {"1.0", "1.0+cu118"}} {
		valuetest.DeepEqual(t, compareVersions(same[0], same[1]), 0, same[0], same[1])
	}
}

// TestNull: what is not known is never taken for false, 0 or an empty text.
func TestNull(t *testing.T) {
	for _, test := range [][2]string{
		{`gpu.memory < 8e9`, "null: gpu.memory is NULL"},
		{`gpu.name contains "H100"`, "null: gpu.name is NULL"},
		{`gpu.name == "H100"`, "null: gpu.name is NULL"},
		{`gpu.memory != 3`, "null: gpu.memory is NULL"},
		{`gpu.memory in [1, 2]`, "null: gpu.memory is NULL"},
		{`-gpu.memory`, "null: gpu.memory is NULL"},
		{`1 in [gpu.memory]`, "null: gpu.memory is NULL"},
		{`max(gpu.memory, 1)`, "null: gpu.memory is NULL"},
		{`gpu.memory`, "null: gpu.memory is NULL"},
		{`nil`, "null: nil is NULL"},
		{`flag ? gpu.memory : 1`, "null: gpu.memory is NULL"},
		{`flag ? 1 : gpu.memory`, "1"},
		{`gpu.count > 0 and gpu.memory < 8e9`, "false"},
		{`gpu.memory < 8e9 and gpu.count > 0`, "null: gpu.memory is NULL"},
		{`gpu.count == 0 or gpu.memory < 8e9`, "true"},
		{`gpu.memory == nil or gpu.memory < 8e9`, "true"},
		{`gpu.memory == nil`, "true"},
		{`nil != gpu.memory`, "false"},
		{`(gpu.memory ?? 0) < 8e9`, "true"},
		{`(gpu.name ?? "") contains "H100"`, "false"},
		{`gpu.memory ?? max ?? 3`, "7"},
		{`gpu.memory ?? gpu.memory`, "null: gpu.memory is NULL"},
		{`gpu.memory ?? gpu.memory ?? 5`, "5"},
		{`(gpu.memory / 2) ?? 1`, "1"},
		{`(gpu.memory * 2 > 3) ?? false`, "false"},
		{`(flag ? gpu.memory : 2) ?? 1`, "1"},
		{`(1 / gpu.count) ?? -1`, "-1"},
		{`version("jax") ?? "none"`, "none"},
		{`version("jax") == nil`, "true"},
		{`version("torch") == nil`, "false"},
		{`version("jax")`, `null: version("jax") is NULL`},
		{`version(gpu.name) == nil`, "true"},
		{`1 / gpu.count`, "null: 1 / 0 is NULL"},
		{`1 / gpu.count > 5`, "null: 1 / 0 is NULL"},
		{`gpu.count / gpu.count == 1`, "null: 0 / 0 is NULL"},
		{`(0 - 8) ** 0.5 < 1`, "null: -8 ** 0.5 is NULL"},
		{`sqrt(-1) < 1`, "null: sqrt(-1) is NULL"},
		{`log(gpu.count) < 1`, "null: log(0) is NULL"},
		{`mod(1, 0)`, "null: mod(1, 0) is NULL"},
		{`1e308 * 10 > 1`, "null: 1e+308 * 10 is NULL"},
		{`not (1e308 * 10 - 1e308 * 10 > 1)`, "null: 1e+308 * 10 is NULL"},
		{`((1e308 + 1e308) ?? 3) == 3`, "true"},
		{`1e308 * 10`, "null: 1e+308 * 10 is NULL"},
	} {
		valuetest.DeepEqual(t, evaluate(test[0]), test[1], test[0])
	}
}

const allFunctions = "want one of abs ceil exp floor len log log10 log2 lower max min mod round sqrt trim upper version"

// TestErrors: each error has its place, and a name that is not known the nearest one.
func TestErrors(t *testing.T) {
	for _, test := range [][2]string{
		{`gpu.cuont == 0`, "1:1: unknown name gpu.cuont: did you mean gpu.count?"},
		{`backend == "cuda" and batchsize > 3`, "1:23: unknown name batchsize: did you mean batch_size?"},
		{"backend == \"cuda\"\n and xyzzy", "2:6: unknown name xyzzy"},
		{`gpu > 3`, "1:1: gpu is not a value: want one of gpu.count gpu.memory gpu.name"},
		{`param["kv_heads"]`, "1:1: unknown name param.kv_heads: did you mean param.kv-heads?"},
		{`batch_size.size`, "1:1: unknown name batch_size.size"},
		{`gpu?.memory`, `1:6: a value has no parts: want a name such as batch_size or param["kv-heads"]`},
		{`sqrt > 3`, "1:1: sqrt is a function: want sqrt(...)"},
		{`sqr(3)`, "1:1: unknown function sqr: did you mean sqrt?"},
		{`now()`, "1:1: unknown function now: " + allFunctions},
		{`all([1], # > 3)`, "1:1: unknown function all: " + allFunctions},
		{`sqrt()`, "1:1: sqrt wants a number, got 0"},
		{`mod(1, 2, 3)`, "1:1: mod wants a number, a number, got 3"},
		{`sqrt("4")`, "1:1: sqrt wants a number, got text"},
		{`max(1, backend)`, "1:1: max wants a number, or several, got text"},
		{`sqrt(kind)`, "1:1: sqrt wants a number, got text"}, // when it is evaluated
		{`batch_size // 2`, "1:12: // begins a comment: for integer division, write floor(a / b)"},
		{`batch_size /* 2 */`, "1:12: /* begins a comment: comments are not supported"},
		{`batch_size # 2`, `1:12: unexpected token Operator("#")`},
		{`batch_size % 2`, "1:12: % is not supported: write mod(a, b)"},
		{`batch_size in 1..1e9`, "1:12: in needs a list on its right: x in [4, 8]; for a text, write t contains \"s\""},
		{`len(1..1000000000)`, "1:6: a..b is not supported: write a <= x and x <= b"},
		{`backend > 3`, "1:9: invalid operation: > (mismatched kinds text and number)"},
		{`backend == 3`, "1:9: invalid operation: == (mismatched kinds text and number)"},
		{`batch_size and true`, "1:12: invalid operation: and (mismatched kinds number and true or false)"},
		{`not batch_size`, "1:1: not needs true or false, and is applied before == and <: write not (a == b)"},
		{`not batch_size == 1`, "1:1: not needs true or false, and is applied before == and <: write not (a == b)"},
		{`1e999`, "1:5: the number is too large"},
		{`batch_size = 1`, "1:12: = does not compare: write =="},
		{`gpu.memory < 8GiB`, "1:15: bad number syntax: \"8G\": write numbers without a unit (8GiB is 8 * 2 ** 30)"},
		{`gpu.name ?? 0`, "1:13: want text, as before, got a number"},
		{`flag ? 1 : "a"`, "1:12: want a number, as before, got text"},
		{`batch_size in [4, "8"]`, "1:19: want a number, as before, got text"},
		{`[1] == [1]`, "1:1: a list is supported only on the right of in"},
		{`[]`, "1:1: a list is supported only on the right of in"},
		{`benchmark matches backend`, "1:11: matches needs a regular expression in quotes on its right"},
		{`benchmark matches "("`, "1:11: error parsing regexp: missing closing ): `(`"},
		{`let x = 1; x`, "1:5: is not supported in expressions"},
		{`{"a": 1}`, "1:1: is not supported in expressions"},
		{`benchmark[0]`, `1:10: a value has no parts: want a name such as batch_size or param["kv-heads"]`},
		{`benchmark[0:2]`, "1:10: slices are not supported"},
		{`$env.backend`, "1:1: unknown name $env.backend"},
		{`batch_size +`, "1:12: unexpected token EOF"},
		{`(1`, "1:2: unexpected token EOF"},
		{`1 2`, `1:3: unexpected token Number("2")`},
		{"  \n", "is empty"},
		{strings.Repeat("1+", 4000) + "1", "is longer than 4096 bytes"},
		{strings.Repeat("1+", 600) + "1", "1:502: compilation failed: expression exceeds maximum allowed nodes"},
		{"\"\xff\"", "is not UTF-8"},
		{`kind + 1`, "1:6: + is not supported between text and a number"},
		{`99999999999999999999`, `1:20: invalid integer literal: strconv.ParseInt: parsing "99999999999999999999": value out of range`},
	} {
		got, failed := strings.CutPrefix(evaluate(test[0]), "error: ")
		if !failed || got != test[1] {
			t.Errorf("%.60s: %s, want %s", test[0], got, test[1])
		}
	}
}

func BenchmarkEval(b *testing.B) {
	for _, text := range []string{
		"cpu_user + cpu_system", "bandwidth / peak", `backend == "cuda" and batch_size * seq_len > 5e7`, "(peak ?? 0) < 10",
	} {
		e := valuetest.Must(Compile(text, Scope{Names: map[string]Kind{
			"cpu_user": Number, "cpu_system": Number, "bandwidth": Number, "peak": Number, "backend": Text, "batch_size": Number, "seq_len": Number,
		}}, Any))
		values := map[string]any{"cpu_user": 1.5, "cpu_system": 0.5, "bandwidth": 1e9, "peak": 3e12, "backend": "cuda", "batch_size": 4.0, "seq_len": 128.0}
		b.Run(text, func(b *testing.B) {
			v := e.Evaluator()
			b.ReportAllocs()
			for b.Loop() {
				valuetest.Must(v.Eval(values))
			}
		})
	}
}

// FuzzCompile: whatever is written, it is refused on one line or evaluated to a value of a kind, or to NULL; twice the same.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`batch_size * seq_len > 5e7`, `benchmark contains "tma" and (gpu.memory ?? 0) < 10`, `param["kv-heads"] / gpu.count`,
		`flag ? mod(max, 3) : 2 ** -seq_len`, `kind in ["a", "b"] or not flag`, `(1 / gpu.count) ?? version("x") == nil`,
		`batch_size | max(9) // 2`, `let x = 1; map([1], # + x)[0:1]`, `"a" matches "(a*)*$"`, `{"a": b?.c}`, "1..\n1e9", `-"a"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Compile(text, scope, Any)
		if err != nil {
			if _, own := errors.AsType[*positionError](err); !own {
				t.Fatalf("%q: %T: %v", text, err, err)
			}
			return
		}
		for _, name := range e.Names() {
			if _, known := scope.Names[name]; !known {
				t.Fatalf("%q uses %s, which there is not", text, name)
			}
		}
		for _, values := range []map[string]any{values, nil} {
			v := e.Evaluator()
			value, err := v.Eval(values)
			again, errAgain := v.Eval(values)
			if value != again || (err == nil) != (errAgain == nil) {
				t.Fatalf("%q is %v, then %v", text, value, again)
			}
			if err == nil && KindOf(value) == Any {
				t.Fatalf("%q is %v, of no kind", text, value)
			}
			if number, ok := value.(float64); ok && (math.IsInf(number, 0) || math.IsNaN(number)) {
				t.Fatalf("%q is %v", text, number)
			}
		}
	})
}
