package query

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/internal/fault"
)

// What errors wrap. Their messages are one line and say on their own what is wrong.
var (
	// ErrInput is the asker's to mend: a filter, an SQL text, a column, or a destination that cannot be written.
	ErrInput = fault.ErrInput
	// ErrStore is a store that cannot be read: none, of an unknown format, damaged, or refused by the file system. The
	// cause is wrapped too.
	ErrStore = errors.New("store")
)

// ErrMemory is an ErrInput: a text of SQL needs more memory than Options allow.
var ErrMemory = fault.Input("query: it needs more memory than its limit")

// storeErr is an ErrStore: what is wrong with the store in dir, as it was given.
type storeErr struct {
	dir   string
	cause error
}

func (e *storeErr) Error() string        { return fault.Printable("store " + e.dir + ": " + e.cause.Error()) }
func (e *storeErr) Is(target error) bool { return target == ErrStore }
func (e *storeErr) Unwrap() error        { return e.cause }

func storeError(dir string, cause error) error { return &storeErr{dir, cause} }

// engineError gives an error of DuckDB as it is wanted by callers: the context's own error where that ended the
// query, else one line.
func engineError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &engineErr{message: oneLine(err.Error()), kind: kindOf(err), cause: err}
}

// engineErr is an error of DuckDB; kind is its class.
type engineErr struct {
	message string
	kind    duckdb.ErrorType
	cause   error
}

func (e *engineErr) Error() string { return e.message }
func (e *engineErr) Unwrap() error { return e.cause }

func kindOf(err error) duckdb.ErrorType {
	var duck *duckdb.Error
	if errors.As(err, &duck) {
		return duck.Type
	}
	return duckdb.ErrorTypeInvalid
}

// classPrefix is what DuckDB puts before its messages: "Binder Error: ".
var classPrefix = regexp.MustCompile(`^(?:[A-Za-z]+ )*(?:Error|error): `)

// oneLine keeps what a message says: its lines up to the list of candidate functions, the picture of the statement or the
// engine's stack, without the error class.
func oneLine(message string) string {
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
