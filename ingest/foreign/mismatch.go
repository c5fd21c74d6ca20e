package foreign

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/neurolens/neurolens/schema/jsontext"
)

// A Mismatch is a value that could be read, but is not what was expected. The reader stands behind it.
type Mismatch struct {
	Where string // JSON pointer into the file
	Err   error
}

func (m *Mismatch) Error() string { return m.Err.Error() }
func (m *Mismatch) Unwrap() error { return m.Err }

// DecodeAt reads the text of a JSON value, which stood at a place in the file, into what v points to. A value that does
// not fit gives a Mismatch.
func DecodeAt(where string, text jsontext.Value, v any) error {
	if err := Decode(text, v); err != nil {
		return misfit(where, err)
	}
	return nil
}

// misfit says in words of its own what does not fit where: those of package json change from one process to the next.
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

// wanted is what people call the values that fit a type.
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

// inWords says where JSON breaks off, or is none, without the words of the package that read it.
func inWords(err error) error {
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		if cause := errors.Unwrap(err); cause != nil && strings.HasPrefix(err.Error(), "jsontext: ") {
			err = cause // of the reading
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("it is cut off: %w", err)
		}
		return err
	}
	// Of a value that is longer than a buffer the package loses the names within: the place is in what it still knows.
	where, _, _ := strings.Cut(string(syntactic.JSONPointer), "//")
	where = strings.TrimSuffix(where, "/")
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && where == "":
		return fmt.Errorf("it is cut off: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it is cut off in %s: %w", where, io.ErrUnexpectedEOF)
	case where == "":
		return fmt.Errorf("invalid JSON at byte %d: %w", syntactic.ByteOffset, syntactic.Err)
	}
	return fmt.Errorf("invalid JSON at %s (byte %d): %w", where, syntactic.ByteOffset, syntactic.Err)
}
