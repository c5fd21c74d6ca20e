package foreign

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/neurolens/neurolens/schema/jsontext"
)

// A Mismatch is a valid value of an unexpected kind. The reader continues after it.
type Mismatch struct {
	Where string // JSON pointer into the file
	Err   error
}

func (m *Mismatch) Error() string { return m.Err.Error() }
func (m *Mismatch) Unwrap() error { return m.Err }

// DecodeAt reads the text of a JSON value at a place of the file into the variable that v points to. A value that does
// not fit gives a Mismatch.
func DecodeAt(where string, text jsontext.Value, v any) error {
	if err := Decode(text, v); err != nil {
		return misfit(where, err)
	}
	return nil
}

// misfit describes a value that does not fit in its own words, because those of package json differ from process to
// process.
func misfit(where string, err error) *Mismatch {
	var semantic *jsontext.SemanticError
	for errors.As(err, &semantic) {
		where += string(semantic.JSONPointer)
		if semantic.Err == nil {
			return &Mismatch{where, fmt.Errorf("%s, want %s", kindName(semantic.JSONKind), wanted(semantic.GoType))}
		}
		err = semantic.Err
	}
	return &Mismatch{where, inWords(err)}
}

// wanted names, for people, the values that fit a type.
func wanted(t reflect.Type) string {
	if t == nil {
		return "another value"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}

// inWords says where JSON is cut off or invalid, without the words of the package that read it.
func inWords(err error) error {
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		if cause := errors.Unwrap(err); cause != nil && strings.HasPrefix(err.Error(), "jsontext: ") {
			err = cause // an error of reading
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("it is cut off: %w", err)
		}
		return err
	}
	// For a value that is longer than a buffer, the package loses the names inside of it. The error is somewhere in the
	// part that it still knows.
	where, _, _ := strings.Cut(string(syntactic.JSONPointer), "//")
	where = strings.TrimSuffix(where, "/")
	large, isLarge := errors.AsType[recordError](err)
	switch {
	case isLarge && where == "":
		return large
	case isLarge:
		return fmt.Errorf("%w, in %s", large, where)
	case errors.Is(err, io.ErrUnexpectedEOF) && where == "":
		return fmt.Errorf("it is cut off: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it is cut off in %s: %w", where, io.ErrUnexpectedEOF)
	case where == "":
		return fmt.Errorf("invalid JSON at byte %d: %w", syntactic.ByteOffset, syntactic.Err)
	}
	return fmt.Errorf("invalid JSON at %s (byte %d): %w", where, syntactic.ByteOffset, syntactic.Err)
}
