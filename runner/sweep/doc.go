// Package sweep reads a sweep file: a YAML file that says what to measure. It turns the file into points, and puts their
// launches in order. It starts no process and opens no other file. When expressions ask about the machine, the answers come
// from Overrides.Facts.
//
// docs/sweeps.md explains the language to its users, with docs/programs.md, docs/python.md, docs/models.md, docs/checks.md,
// docs/artifacts.md and docs/expressions.md. Keys lists every key with its type and meaning, and JSONSchema is made of that list.
//
// # From a file to launches
//
// A file is read in these steps. Each takes what the one before it gives.
//
//  1. load parses YAML, expands aliases and refuses what YAML would change silently: tags, merge keys, duplicate keys (load.go).
//  2. readLayers merges the layers into plain documents: one for each benchmark and variant, or a single one (layers.go). Benchmarks that
//     discover finds, and the settings beside their files, are layers too (discover.go).
//  3. readSections reads each document: its settings, its axes, the templates of its program, its expressions (section.go). What is the same
//     at every point is checked here.
//  4. expansion makes the points of all sections: it fills in the templates, evaluates the expressions and leaves out what is excluded,
//     skipped or not among the targets (expand.go).
//  5. Launches orders the launches, and Round those of a further repeat (launch.go).
//
// Two of the steps are repeated. If reference names other points, steps 2 to 4 run once more for each such key with the axes of the
// reference set (reference.go). If the settings beside a file are wrong, its section is read again without them, and its points carry the
// error as their fault.
//
// # Layers
//
// From the weakest to the strongest: the defaults of the project and of the environment, the sweep, the benchmark, get_config of a Python
// benchmark, the variant, the presets (a later one overrides an earlier one), the command line. Maps are merged. Lists and single values are
// replaced. An axis is replaced as a whole. So is another way to say the same: iterations replaces rel_error, file replaces command. Each run
// stores which layer its settings come from. If only some variants have an axis, -P replaces it in those alone, and entries of include and
// exclude that name the axis apply to those alone.
//
// # Points
//
// The points of the grid come first, in the order of the file, with the last axis changing fastest. The points of include follow. Each entry
// of exclude applies to both. skip_if is evaluated after exclude, and the first entry that is true applies. Points that will be compared run
// next to each other, in a block: those that differ only in the axis of baseline, or in variant if there is no baseline. They have equal
// values in all axes that every variant of the block has. Points of calibrate belong to no block.
//
// Points are identified by canonical text: 1.0 is 1, 1e3 is 1000, float32 is fp32, lists are JSON. What runs gets the value as it is
// written. Two spellings of one value are the same point, and refused within one axis. The values of -P are read like those of the file,
// except that the shell has removed the quotes: a value is text if the file has the same spelling as text, or if all values of that axis in
// the file are text.
//
// # What is refused
//
// Reading stops at the first error, with `file:line: what is wrong` and what to do. The functions that read panic with this error, as those
// of text/template/parse do, and the exported functions return it: see package catch. Errors are:
//
//   - an unknown or duplicate key, a value of the wrong type, an empty list, a text where a list of words is needed
//   - values that YAML would change silently: leading zeros, digits with _, hexadecimal numbers, numbers beyond 64 bits, nan, and fractions
//     that end in a zero, such as 3.10 (but not 1.0); in quotes they are text
//   - a value or a point that appears twice, two models of one name
//   - an axis named like a column that is not an axis, an axis that the command does not use
//   - an exclude that matches no point, a key that has no effect on what runs, rel_error together with iterations
//   - more than 100,000 launches, which is checked before anything is expanded
//   - merge keys, tags, a second document, files larger than 16 MiB, aliases that expand to more than 300,000 values
package sweep
