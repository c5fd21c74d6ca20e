package duck

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Translate converts an error of DuckDB to an *Error with one line, or to the error of the context if that ended the query.
func Translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Message: OneLine(err.Error()), Kind: KindOf(err), Cause: err}
}

// Error is an error of DuckDB as one line. Kind is its class.
type Error struct {
	Message string
	Kind    duckdb.ErrorType
	Cause   error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Cause }

// KindOf returns the class of an error of DuckDB; ErrorTypeInvalid for other errors.
func KindOf(err error) duckdb.ErrorType {
	var duck *duckdb.Error
	if errors.As(err, &duck) {
		return duck.Type
	}
	return duckdb.ErrorTypeInvalid
}

// OutOfMemory reports whether DuckDB needs more memory than its limit.
func OutOfMemory(err error) bool {
	engine, ok := errors.AsType[*Error](err)
	return ok && engine.Kind == duckdb.ErrorTypeOutOfMemory
}

// SpillFull reports whether DuckDB needs more memory than its limit because its folder for temporary files is full.
func SpillFull(err error) bool {
	engine, ok := errors.AsType[*Error](err)
	return ok && (strings.Contains(engine.Message, "offload data block") ||
		engine.Kind == duckdb.ErrorTypeIO && strings.Contains(strings.ToLower(engine.Message), "no space left on device"))
}

// classPrefix matches the prefix of DuckDB's messages, such as "Binder Error: ".
var classPrefix = regexp.MustCompile(`^(?:[A-Za-z]+ )*(?:Error|error): `)

// OneLine shortens a message to one line: without the error class, the list of candidate functions, the excerpt of the statement and the
// stack trace.
func OneLine(message string) string {
	var kept []string
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if slices.ContainsFunc([]string{"LINE ", "Candidate functions", "Stack Trace:", "Possible solutions:", "This limit was set by", "Database is launched in"}, func(end string) bool { return strings.HasPrefix(line, end) }) {
			break
		}
		if line != "" {
			kept = append(kept, line)
		}
	}
	text := classPrefix.ReplaceAllString(strings.Join(kept, " "), "")
	return strings.TrimSuffix(lowerFirst(text), ".")
}

// lowerFirst makes the first letter lower case, unless the word is in capitals (SQL) or a name.
func lowerFirst(s string) string {
	if len(s) < 2 || s[1] < 'a' || s[1] > 'z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
