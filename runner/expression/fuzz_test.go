package expression

import (
	"errors"
	"math"
	"testing"
)

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
