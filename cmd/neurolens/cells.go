package main

import (
	"regexp"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// plainEscapes are those of the format plain that are older than \u, and its own escape character.
var plainEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// plainText is a text for a cell of the format plain: one line without tabs that steers nothing.
func plainText(text string) string { return term.Escaped(plainEscapes.Replace(text), term.Steers) }

// csvNumber matches the numbers that may begin with a sign.
var csvNumber = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// csvText is a text for a cell that a spreadsheet must not take for a formula: it gets an apostrophe before it.
func csvText(text string) string {
	if text == "" || !strings.Contains("=+-@\t\r", text[:1]) || csvNumber.MatchString(text) {
		return text
	}
	return "'" + text
}
