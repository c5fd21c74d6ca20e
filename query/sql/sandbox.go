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
)

// maxQueryBytes is the maximum length of an SQL text.
const maxQueryBytes = 256 << 10

// checked describes a SELECT that checkSelect accepted.
type checked struct {
	renamed     map[string]bool // column names that it gives to other expressions, or whose unit differs from the unit of the row
	words       map[string]bool // its texts in lower case, including the names of tables
	wholeWindow bool            // it has a window over all rows without an order: see hasWholeWindow
	tags        *duck.Trap      // in place of the tags of runs; nil: they are made
}

// mayRead reports whether the query may read one of the tables: because it contains the name, or calls a function that finds tables by
// name.
func (p checked) mayRead(tables ...string) bool {
	return p.words["query_table"] || slices.ContainsFunc(tables, func(name string) bool { return p.words[name] })
}

// checkSelect accepts a single SELECT. It does not run the text: DuckDB's parser converts it to a tree, which it only does for SELECT.
func checkSelect(ctx context.Context, c *duck.Conn, text string) (checked, error) {
	none := checked{}
	switch {
	case len(text) > maxQueryBytes:
		return none, answer.InputError("query: longer than %d bytes", maxQueryBytes)
	case !utf8.ValidString(text):
		return none, answer.InputError("query: not UTF-8 (offset %d)", answer.InvalidAt(text))
	case strings.ContainsRune(text, 0):
		return none, answer.InputError("query: a NUL byte (offset %d)", strings.IndexByte(text, 0))
	}
	row, err := c.One(ctx, duck.Statement{SQL: "SELECT json_serialize_sql($1::VARCHAR)::VARCHAR", Args: []any{text}})
	if err != nil {
		if ctx.Err() != nil {
			return none, err
		}
		return none, answer.InputError("query: %v", err)
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
		return none, answer.InputError("query: %v", err)
	}
	switch n := len(tree.Statements); {
	case tree.Error && tree.Type == "parser":
		return none, answer.InputError("query: %s%s", duck.OneLine(tree.Message), offsetOf(tree.Position))
	case tree.Error:
		return none, answer.InputError("query: only one SELECT is allowed here, this is %s", statementWord(text))
	case n == 0:
		return none, answer.InputError("query: a SELECT is missing")
	case n > 1:
		return none, answer.InputError("query: only one SELECT is allowed here, these are %d", n)
	}
	if name := steering(tree.Statements[0]); name != "" {
		return none, answer.InputError("query: %s() is not allowed here: it changes the engine or runs another query", answer.Brief(name))
	}
	p := checked{renamed: map[string]bool{}, words: map[string]bool{}, wholeWindow: hasWholeWindow(tree.Statements[0])}
	collectNames(tree.Statements[0], p.renamed)
	collectJoined(tree.Statements[0], p.renamed)
	collectWords(tree.Statements[0], p.words)
	return p, nil
}

// hasWholeWindow reports whether a statement has a window over all rows without an order, such as count(*) OVER (). DuckDB 1.5 computes it
// with several threads and does not wait for a thread that got no rows, so it sometimes crashes (duckdb/duckdb#22352, #25713).
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

// collectWords collects the texts of a statement's tree.
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

// steering finds a call of a function that does more than compute: one that changes settings in spite of the lock (logging and profiling
// write files), or that runs a text which checkSelect has not seen.
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

// statementWord returns the first word of a text, such as COPY or SET, after any comments.
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
		return answer.Brief(word)
	}
}

// collectNames collects the names that a statement gives to expressions other than the column of that name.
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

// lastName returns the name of a column reference; empty for other expressions.
func lastName(node map[string]any) string {
	names, _ := node["column_names"].([]any)
	if node["class"] != "COLUMN_REF" || len(names) == 0 {
		return ""
	}
	name, _ := names[len(names)-1].(string)
	return name
}
