// Package duck is DuckDB as query uses it.
package duck

import "strings"

// Literal is the SQL of a text.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Identifier is the SQL of a name.
func Identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// NumberPattern is the regular expression of a number in decimal digits with an optional exponent.
const NumberPattern = `[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?`

// Number is the SQL of the number that a value is written as, in decimal digits with an optional exponent: NULL for all
// other texts and for what is not finite.
func Number(x string) string {
	return "CASE WHEN regexp_full_match(CAST(" + x + ` AS VARCHAR), '` + NumberPattern + `')` +
		" AND isfinite(TRY_CAST(" + x + " AS DOUBLE)) THEN TRY_CAST(" + x + " AS DOUBLE) END"
}
