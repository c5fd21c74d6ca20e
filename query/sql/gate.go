package sql

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
)

// maxQueryBytes is the longest SQL text that is looked at.
const maxQueryBytes = 256 << 10

// passed is what the gate knows of a text.
type passed struct {
	renamed     map[string]bool // names that it gives to things other than the columns of that name
	words       map[string]bool // its texts, in lower case: the names of tables are among them
	wholeWindow bool            // it has a window of all rows in no order: see hasWholeWindow
}

// speaksOf tells whether a text can read one of some tables. It can if it says a name, or has a function find a table by
// its name.
func (p passed) speaksOf(tables ...string) bool {
	return p.words["query_table"] || slices.ContainsFunc(tables, func(name string) bool { return p.words[name] })
}

// gate lets one SELECT pass. It never runs the text: DuckDB's parser turns it into a tree, which it does for SELECT
// alone.
func gate(ctx context.Context, c *duck.Conn, text string) (passed, error) {
	none := passed{}
	switch {
	case len(text) > maxQueryBytes:
		return none, fault.Input("query: longer than %d bytes", maxQueryBytes)
	case !utf8.ValidString(text):
		return none, fault.Input("query: not UTF-8 (offset %d)", fault.InvalidAt(text))
	case strings.ContainsRune(text, 0):
		return none, fault.Input("query: a NUL byte (offset %d)", strings.IndexByte(text, 0))
	}
	row, err := c.One(ctx, duck.Statement{SQL: "SELECT json_serialize_sql($1::VARCHAR)::VARCHAR", Args: []any{text}})
	if err != nil {
		if ctx.Err() != nil {
			return none, err
		}
		return none, fault.Input("query: %v", err)
	}
	serialized, _ := row[0].(string)
	var tree struct {
		Error      bool   `json:"error"`
		Type       string `json:"error_type"`
		Message    string `json:"error_message"`
		Position   string `json:"position"`
		Statements []any  `json:"statements"`
	}
	if err := json.Unmarshal([]byte(serialized), &tree); err != nil {
		return none, fault.Input("query: %v", err)
	}
	switch n := len(tree.Statements); {
	case tree.Error && tree.Type == "parser":
		return none, fault.Input("query: %s%s", duck.OneLine(tree.Message), offsetOf(tree.Position))
	case tree.Error:
		return none, fault.Input("query: only one SELECT is allowed here, this is %s", statementWord(text))
	case n == 0:
		return none, fault.Input("query: a SELECT is missing")
	case n > 1:
		return none, fault.Input("query: only one SELECT is allowed here, these are %d", n)
	}
	if name := steering(tree.Statements[0]); name != "" {
		return none, fault.Input("query: %s() is not allowed here: it changes the engine or runs another query", fault.Brief(name))
	}
	p := passed{map[string]bool{}, map[string]bool{}, hasWholeWindow(tree.Statements[0])}
	collectNames(tree.Statements[0], p.renamed)
	collectWords(tree.Statements[0], p.words)
	return p, nil
}

// hasWholeWindow finds, wherever it is in a statement's tree, a window of all rows in no order, as in count(*) OVER ().
// DuckDB 1.5 computes it with several threads, which do not wait for one that was given no row: now and then it dies of
// that (duckdb/duckdb#22352, #25713).
func hasWholeWindow(node any) bool {
	switch n := node.(type) {
	case []any:
		return slices.ContainsFunc(n, hasWholeWindow)
	case map[string]any:
		partitions, _ := n["partitions"].([]any)
		orders, _ := n["orders"].([]any)
		if n["class"] == "WINDOW" && len(partitions)+len(orders) == 0 {
			return true
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(n)), hasWholeWindow)
	}
	return false
}

// collectWords gathers the texts in a statement's tree.
func collectWords(node any, words map[string]bool) {
	switch n := node.(type) {
	case string:
		words[strings.ToLower(n)] = true
	case []any:
		for _, child := range n {
			collectWords(child, words)
		}
	case map[string]any:
		for _, child := range n {
			collectWords(child, words)
		}
	}
}

// steering finds, wherever it is in a statement's tree, a call of a function that does more than compute: one that
// changes settings in spite of the lock (logging and profiling write files), or runs a text that this gate has not seen.
func steering(node any) string {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			if name := steering(child); name != "" {
				return name
			}
		}
	case map[string]any:
		if name, _ := n["function_name"].(string); steers(strings.ToLower(name)) {
			return name
		}
		for _, child := range n {
			if name := steering(child); name != "" {
				return name
			}
		}
	}
	return ""
}

func steers(function string) bool {
	switch function {
	case "checkpoint", "force_checkpoint", "truncate_duckdb_logs", "query", "json_execute_serialized_sql":
		return true
	}
	return strings.HasPrefix(function, "enable_") || strings.HasPrefix(function, "disable_")
}

func offsetOf(position string) string {
	if _, err := strconv.Atoi(position); err != nil {
		return ""
	}
	return " (offset " + position + ")"
}

// statementWord names what a text begins with: COPY, SET ... Comments before it are passed over.
func statementWord(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n;(")
		switch {
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
		default:
			end := strings.IndexFunc(text, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' })
			if end < 0 {
				end = len(text)
			}
			return describeStatement(strings.ToUpper(text[:end]))
		}
	}
}

func describeStatement(word string) string {
	switch word {
	case "":
		return "something else"
	case "SELECT", "WITH", "FROM", "VALUES":
		return "more than that"
	default:
		return fault.Brief(word)
	}
}

// collectNames gathers from a statement's tree the names that it gives to expressions which are not the column of that
// name, wherever in it they are.
func collectNames(node any, names map[string]bool) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			collectNames(child, names)
		}
	case map[string]any:
		if alias, _ := n["alias"].(string); alias != "" && lastName(n) != alias {
			names[alias] = true
		}
		// A set operation takes its names from its first part and its values from all.
		if n["type"] == "SET_OPERATION_NODE" {
			for name := range answer.Units {
				names[name] = true
			}
		}
		for key, child := range n {
			if list, ok := child.([]any); ok && slices.Contains([]string{"column_name_alias", "aliases"}, key) {
				for _, name := range list {
					if text, ok := name.(string); ok {
						names[text] = true
					}
				}
			}
			collectNames(child, names)
		}
	}
}

// lastName is the column that a reference names; empty for every other expression.
func lastName(node map[string]any) string {
	names, _ := node["column_names"].([]any)
	if node["class"] != "COLUMN_REF" || len(names) == 0 {
		return ""
	}
	name, _ := names[len(names)-1].(string)
	return name
}
