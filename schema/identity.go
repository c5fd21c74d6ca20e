package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// identityVersion is the prefix of the hashed text of every point_id.
const identityVersion = "v1"

// axisAliases are alternative names of the axes that have a column of their own, by column name. Filters and sweep files
// use the same table.
var axisAliases = map[string]string{
	"bs": "batch_size", "batch": "batch_size",
	"seq": "seq_len", "sequence_length": "seq_len",
	"prec": "precision", "dtype": "precision",
}

// axisColumns are the columns of runs that an axis of a sweep may set. All other axes are parameters.
var axisColumns = []string{"batch_size", "seq_len", "precision", "backend", "model"}

// AxisName resolves the name of an axis: an alias gives its column, every other name is returned unchanged. A name of
// another column of runs is an error.
func AxisName(name string) (string, error) {
	if column, ok := axisAliases[name]; ok {
		return column, nil
	}
	if slices.Contains(axisColumns, name) {
		return name, nil
	}
	if _, taken := Runs.Column(name); taken {
		return "", fmt.Errorf("%q is the name of a column of runs: call the axis something else", name)
	}
	return name, nil
}

// IsAxisColumn reports whether an axis with this resolved name has a column of its own. Otherwise it is a parameter.
func IsAxisColumn(name string) bool { return slices.Contains(axisColumns, name) }

// CanonicalAlias returns the column that a short name stands for (bs, seq, dtype), or the name itself.
func CanonicalAlias(name string) string {
	if column, ok := axisAliases[name]; ok {
		return column
	}
	return name
}

// AxisSpellings returns the names of an axis: the column first, then its aliases in alphabetical order.
func AxisSpellings(column string) []string {
	names := []string{column}
	for _, alias := range slices.Sorted(maps.Keys(axisAliases)) {
		if axisAliases[alias] == column {
			names = append(names, alias)
		}
	}
	return names
}

// BenchmarkOfCommands is the benchmark of programs, functions and models that were named on a command line. These are its variants.
const BenchmarkOfCommands = "commands"

// PointID identifies what a run measures: the hex of the first 16 bytes of SHA-256 over "v1" and the sorted (key,
// canonical text) pairs of benchmark, variant, backend, model, precision, batch_size, seq_len and the parameters, whose
// keys have the prefix "param.". Every text is preceded by its length in bytes, as a 64-bit big-endian number. Absent
// fields are left out. The suite, the machine, the code and the schedule are not part of it.
func PointID(r *Run) string {
	fields := make([][2]string, 0, 7+len(r.Params))
	put := func(key, text string) {
		if text != "" {
			fields = append(fields, [2]string{key, text})
		}
	}
	put("benchmark", r.Benchmark)
	put("variant", r.Variant)
	put("backend", r.Backend)
	put("model", r.Model)
	put("precision", r.Precision)
	if r.BatchSize != nil {
		put("batch_size", strconv.FormatInt(*r.BatchSize, 10))
	}
	if r.SeqLen != nil {
		put("seq_len", strconv.FormatInt(*r.SeqLen, 10))
	}
	for name, text := range r.Params {
		fields = append(fields, [2]string{"param." + name, text})
	}
	slices.SortFunc(fields, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	hashed := append(make([]byte, 0, 512), identityVersion...)
	for _, f := range fields {
		for _, text := range f {
			hashed = append(binary.BigEndian.AppendUint64(hashed, uint64(len(text))), text...)
		}
	}
	sum := sha256.Sum256(hashed)
	return hex.EncodeToString(sum[:16])
}

// sortedUTF16 sorts keys by their UTF-16 code units, as RFC 8785 requires.
func sortedUTF16(m map[string]any) []string {
	keys := slices.Sorted(maps.Keys(m))
	slices.SortFunc(keys, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	return keys
}
