// Package discover finds the benchmarks in a tree of files. It executes nothing. File names decide which files belong together.
// Python files are read as text, to find the function or class that is the benchmark, and the modules that it imports.
//
// All walks a folder once. A Rule, which is data, says which files are taken, what their benchmark is called and which variant
// they are. A file that a rule takes and that cannot run is a benchmark with a Problem, so that its runs are errors and nobody misses it.
// Files that are not taken are listed in Found.Left with the reason. Trees of
// pytest-benchmark, asv and Google Benchmark are recognised as a command to run.
//
// Symbolic links to folders are not followed, so loops of links do no harm. The package opens only files that a rule takes, their
// settings, and files that can identify the tool of a tree.
package discover
