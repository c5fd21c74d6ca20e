// Package expression compiles and evaluates the expressions of sweep files: `batch_size * seq_len > 5e7`,
// `backend == "cuda" and gpu.count == 0`, `max(10, 1000 / batch_size)`. docs/expressions.md defines their operators, functions, NULL and facts.
//
// The syntax is a part of that of github.com/expr-lang/expr. An expression has no loops, no variables and no clock. So it always
// ends, and gives the same value each time it is evaluated.
//
// The caller defines the names and their kinds. Names that are not words are written in brackets: param["kv-heads"] is the name
// param.kv-heads. Any other name is an error that suggests the nearest known one. Kinds are checked when an expression is compiled: a text is
// never compared with a number. A name of the kind Any is checked when it is evaluated.
//
// Every number is a float64. So nothing overflows silently, and 1 / 2 is 0.5. In the library, // and /* begin comments. They are refused here,
// because `batch_size // 2` would be batch_size.
//
// An unknown value is nil. If the evaluation needs a nil, the expression has no value, and Eval returns a *NullError that names it. The
// library itself is less strict: there, `nil contains "x"` and `nil == 3` are false without an error. So every name that is not guarded is
// wrapped in a function that refuses nil: see compile.go.
//
// A Machine provides the facts about a machine that expressions may name. They come from the description of the environment (package probe),
// which is read when the first fact is requested. An unknown fact is NULL, with the reason from the environment. Facts about GPUs describe
// the GPUs that a benchmark can see, so CUDA_VISIBLE_DEVICES matters.
package expression
