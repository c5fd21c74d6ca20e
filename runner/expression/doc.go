// Package expression compiles and evaluates the expressions of sweep files: `batch_size * seq_len > 5e7`,
// `backend == "cuda" and gpu.count == 0`, `max(10, 1000 / batch_size)`.
//
// The syntax is a part of that of github.com/expr-lang/expr. An expression has no loops, no variables and no clock. So it always
// ends, and gives the same value each time it is evaluated.
//
//	12  1.5e6  "text"  'text'  true  false  nil  (null and NULL are nil too)
//	+ - * / **                          numbers; + also joins texts
//	== !=                               two numbers or two texts, or anything with nil
//	< <= > >=                           two numbers, or two texts, which are ordered like versions: "2.9" < "2.10"
//	and or not  (&& || !)               true and false
//	x in [4, 8]   x not in ["a", "b"]
//	t contains "s"  t startsWith "s"  t endsWith "s"  t matches "regular expression"
//	condition ? a : b
//	a ?? b                              a, or b if a is NULL
//	f(x)                                see Functions; x | f() is f(x)
//
// A name is a word, or words joined by dots (gpu.memory). Names that are not words are written in brackets: param["kv-heads"] is
// the name param.kv-heads. The caller defines the names and their kinds. Any other name is an error that suggests the nearest
// known one. Kinds are checked when an expression is compiled: a text is never compared with a number. A name of the kind Any is
// checked when it is evaluated.
//
// # Numbers
//
// Every number is a float64. So nothing overflows silently, and 1 / 2 is 0.5. Integers are exact up to 2**53. There is no %
// (use mod) and no a..b (use a <= x and x <= b). In the library, // and /* begin comments. They are refused here, because
// `batch_size // 2` would be batch_size. Numbers have no units: they are seconds, bytes, joules and ratios (0.98, not 98),
// whatever the stored unit is.
//
// # NULL
//
// An unknown value is nil. If the evaluation needs a nil, the expression has no value, and Eval returns a *NullError that names
// it. `false and gpu.memory > 1` is false even without a GPU, because the right side is not needed. `??` replaces a nil on its
// left, and anything that could not be computed because of one. == nil and != nil test for it. A result that is not a finite
// number is NULL as well: a division by zero, a root or logarithm of a negative number, an overflow.
//
// (The library itself is less strict: there, `nil contains "x"` and `nil == 3` are false without an error. So every name that is
// not guarded is wrapped in a function that refuses nil: see compile.go.)
//
// # Facts
//
// A Machine provides the facts about a machine that expressions of sweep files may name: gpu.memory, os, cpu.count.
//
// A fact is a text, or a number. Numbers with a unit are in bytes or bytes per second. An unknown fact is NULL, with the reason
// from the environment (absent, permission, unsupported, timeout). Facts come from the description of the environment (package
// probe). It is read when the first fact is requested, and not at all if none is. The names of the operating system and of the
// instruction set are known without it.
//
// Facts about GPUs describe the GPUs that a benchmark can see, so CUDA_VISIBLE_DEVICES matters. If there are several, a number is
// the smallest of them, so that a problem of that size fits on each. On a machine without a GPU driver these facts are absent,
// and gpu.count is 0. They describe NVIDIA GPUs or, without the NVIDIA driver, AMD GPUs.
//
// A user may set facts to other values (bench --fact gpu.memory=16GiB), to see what a sweep would do on another machine. These
// values are stored with every run.
package expression
