// Package extract reads numbers out of what a program wrote: the metrics of a sweep that say where in the output they
// stand. It starts nothing and opens nothing; package task keeps the outputs, and the command runs Read in a process of its
// own, because neither a regular expression nor a jq program that somebody wrote is sure to end, or to fit into memory.
//
//	{from: stdout, regex: 'accuracy: ([0-9.]+) *%', unit: "%"}    97.88 % is the ratio 0.9788
//	{from: out.json, jq: '.epochs[].loss', take: last}
//
// # Regular expressions
//
// They are RE2, as package regexp has them, and are applied line by line, so that an output of any size takes the memory
// of one line: 16 MiB at most. A line ends at a newline, a carriage return, or both: what draws a progress bar writes many
// lines. ^ and $ are the ends of the line. The number is what the first named group has, else the first group, else the
// whole match. Each match counts, several in one line too. Bytes that are no UTF-8 match as U+FFFD does.
//
// # jq
//
// The output has to be JSON: one value, or several one after the other, as in JSON lines. The program is run on each, and
// each number that it gives counts as a match; null is none. A text counts as the number in it. There are no modules, no
// variables of the environment and no further input.
//
// # How many matches
//
// By default there has to be one: no match is an error, and so are two, since nobody has said which of them is meant. take
// says first, last or all; all makes a sample of each.
//
// # Numbers
//
// A number is read as decimal digits and converted to the stored unit before it is rounded: 97.88 % is the float64 nearest
// to 0.9788, not 97.88 times the one nearest to 0.01. It may be written .97, 97., +1, 1e-3, and may have a unit behind it
// (980 ms) that measures the same as that of the metric. What could be read in two ways is refused: 1,234 is a thousand to
// one reader and a bit more than one to another. So is what is no finite number: nan, inf, 1e999.
package extract
