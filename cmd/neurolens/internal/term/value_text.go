package term

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// ValueString is a value for a program: stored units, the shortest digits that give the number back, RFC 3339 in UTC,
// lists and maps as JSON, nothing for NULL.
func ValueString(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return schema.CanonicalFloat(v)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	var b bytes.Buffer
	if err := writeJSON(&b, v); err != nil {
		return fmt.Sprint(v)
	}
	return b.String()
}

// plainEscapes are those of the format plain that are older than \u, and its own escape character.
var plainEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// plainText is a text for a cell of the format plain: one line without tabs that steers nothing.
func plainText(text string) string { return Escaped(plainEscapes.Replace(text), Steers) }

// csvNumber matches the numbers that may begin with a sign.
var csvNumber = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// csvText is a text for a cell that a spreadsheet must not take for a formula: it gets an apostrophe before it.
func csvText(text string) string {
	if text == "" || !strings.Contains("=+-@\t\r", text[:1]) || csvNumber.MatchString(text) {
		return text
	}
	return "'" + text
}
