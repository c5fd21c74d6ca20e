// Package duck runs DuckDB for package query: engines, connections, results and SQL literals.
package duck

import "strings"

// Literal is the SQL of a text.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Identifier is the SQL of a name.
func Identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// NumberPattern is the regular expression of a number in decimal digits with an optional exponent.
const NumberPattern = `[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?`

// Number is the SQL that converts a value to a number, if it is written in decimal digits with an optional exponent; NULL for other texts
// and for values that are not finite.
func Number(x string) string {
	return "CASE WHEN regexp_full_match(CAST(" + x + ` AS VARCHAR), '` + NumberPattern + `')` +
		" AND isfinite(TRY_CAST(" + x + " AS DOUBLE)) THEN TRY_CAST(" + x + " AS DOUBLE) END"
}
