// Package duck runs DuckDB for package query: engines, connections, results and SQL of texts, names and paths.
package duck

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Literal returns the SQL of a text.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Identifier returns the SQL of a name.
func Identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// NumberPattern is the regular expression of a number in decimal digits with an optional exponent.
const NumberPattern = `[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?`

// Number returns the SQL that converts a value to a number, if it is written in decimal digits with an optional exponent; NULL for other
// texts and for values that are not finite.
func Number(x string) string {
	return "CASE WHEN regexp_full_match(CAST(" + x + ` AS VARCHAR), '` + NumberPattern + `')` +
		" AND isfinite(TRY_CAST(" + x + " AS DOUBLE)) THEN TRY_CAST(" + x + " AS DOUBLE) END"
}

// wild are the wildcards of read_parquet, which takes patterns, not paths.
const wild = "*?["

// AsPattern escapes a path, so that the pattern only matches this path.
var AsPattern = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// CheckPath rejects paths that cannot be written as a pattern: in patterns DuckDB treats a backslash as a path separator.
func CheckPath(path string) error {
	if !utf8.ValidString(path) {
		return errors.New("its path is not UTF-8, and cannot be read")
	}
	if at := strings.IndexAny(path, wild); at >= 0 && strings.Contains(path, `\`) {
		return fmt.Errorf("a path with both %c and a backslash in it cannot be read", path[at])
	}
	return nil
}

// Patterns returns the patterns of paths for read_parquet.
func Patterns(paths []string) []string {
	all := make([]string, len(paths))
	for i, path := range paths {
		all[i] = AsPattern.Replace(path)
	}
	return all
}

// TextList returns an SQL list of texts.
func TextList(texts []string) string { return "[" + Texts(texts) + "]" }

// Texts returns the SQL of texts, separated by commas.
func Texts(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = Literal(text)
	}
	return strings.Join(quoted, ",")
}
