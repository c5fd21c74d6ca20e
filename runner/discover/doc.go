// Package discover finds the benchmarks of a tree of files. It executes nothing: names of files decide what belongs together,
// and Python files are read as text for the function or class that is the benchmark, and for what they import.
//
// All walks a folder once. A Rule, which is data, says which files are taken, what their benchmark is called and which variant
// of it they are. What was not taken is in Found.Left with the reason, so that nothing goes missing silently. Trees of
// pytest-benchmark, asv and Google Benchmark are recognised as a command to run.
//
// Symbolic links to folders are not followed, so that a loop of them ends. Only files that a rule takes, and those that can tell
// what tool a tree is of, are opened.
package discover
