// Package expression compiles and evaluates the expressions of sweep files: `batch_size * seq_len > 5e7`,
// `backend == "cuda" and gpu.count == 0`, `max(10, 1000 / batch_size)`.
//
// The syntax is that of github.com/expr-lang/expr, less what a sweep has no use for. An expression has no loops, no
// variables and no clock, so that it always ends, and gives the same value whenever it is evaluated.
//
//	12  1.5e6  "text"  'text'  true  false  nil  (null and NULL are nil too)
//	+ - * / **                          of numbers; + joins texts too
//	== !=                               of two numbers or two texts, and of anything with nil
//	< <= > >=                           of two numbers, or of two texts, which are ordered as versions are: "2.9" < "2.10"
//	and or not  (&& || !)               of true and false
//	x in [4, 8]   x not in ["a", "b"]
//	t contains "s"  t startsWith "s"  t endsWith "s"  t matches "regular expression"
//	condition ? a : b
//	a ?? b                              a, or b where a is NULL
//	f(x)                                see Functions; x | f() is f(x)
//
// A name is a word, or words with points between them (gpu.memory). What is no word stands in brackets: param["kv-heads"]
// is the name param.kv-heads. The caller says which names there are and of which kind; any other name is an error, with
// the nearest one that there is. Kinds are checked when an expression is compiled: a text is never compared with a number.
// A name of the kind Any is checked when it is evaluated.
//
// # Numbers
//
// Every number is a float64, so that nothing overflows silently and 1 / 2 is 0.5. Integers are exact up to 2**53. There is
// no % (mod does the same) and no a..b (a <= x and x <= b does the same). // and /* begin comments in the library; here they
// are refused, because `batch_size // 2` would be batch_size. Numbers have no units: seconds, bytes, joules and ratios (0.98,
// not 98) are meant, whatever is stored.
//
// # NULL
//
// What is not known is nil. An expression in which a nil is met has no value: Eval gives a *NullError that names it. It
// is met if the evaluation needs it: `false and gpu.memory > 1` is false wherever there is no GPU. `??` gives another
// value for a nil on its left, and for whatever could not be computed of one there; == nil and != nil ask. What no number
// can be computed of is NULL too: a division by zero, a root or logarithm of a negative number, and a result that is
// infinite or no number.
//
// (In the library itself nil is less safe: `nil contains "x"` and `nil == 3` are false without an error. So every name
// that is not guarded is wrapped in a function that refuses nil; see null.go.)
package expression
