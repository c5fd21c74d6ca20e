package duck

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// Translate gives an error of DuckDB as it is wanted by callers: the context's own error where that ended the
// query, else one line.
func Translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Message: OneLine(err.Error()), Kind: KindOf(err), Cause: err}
}

// Error is an error of DuckDB, as one line; Kind is its class.
type Error struct {
	Message string
	Kind    duckdb.ErrorType
	Cause   error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Cause }

// KindOf is the class of an error of DuckDB, ErrorTypeInvalid of any other.
func KindOf(err error) duckdb.ErrorType {
	var duck *duckdb.Error
	if errors.As(err, &duck) {
		return duck.Type
	}
	return duckdb.ErrorTypeInvalid
}

// OutOfMemory tells that DuckDB needs more memory than it may have.
func OutOfMemory(err error) bool {
	engine, ok := errors.AsType[*Error](err)
	return ok && engine.Kind == duckdb.ErrorTypeOutOfMemory
}

// classPrefix is what DuckDB puts before its messages: "Binder Error: ".
var classPrefix = regexp.MustCompile(`^(?:[A-Za-z]+ )*(?:Error|error): `)

// OneLine keeps what a message says: its lines up to the list of candidate functions, the picture of the statement or the
// engine's stack, without the error class.
func OneLine(message string) string {
	var kept []string
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if slices.ContainsFunc([]string{"LINE ", "Candidate functions", "Stack Trace:"}, func(end string) bool { return strings.HasPrefix(line, end) }) {
			break
		}
		if line != "" {
			kept = append(kept, line)
		}
	}
	text := classPrefix.ReplaceAllString(strings.Join(kept, " "), "")
	return strings.TrimSuffix(lowerFirst(text), ".")
}

// lowerFirst makes the first letter lower case, unless the word is all capitals (SQL) or a name.
func lowerFirst(s string) string {
	if len(s) < 2 || s[1] < 'a' || s[1] > 'z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
