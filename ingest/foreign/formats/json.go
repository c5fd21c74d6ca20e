package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// entriesOf lists a folder, given its path from the folder of the input. A folder that cannot be read has no entries.
func entriesOf(in *foreign.Input, dir string) []fs.DirEntry {
	full := path.Join(path.Dir(in.Path), dir)
	if in.Folder == nil || !fs.ValidPath(full) {
		return nil
	}
	entries, err := fs.ReadDir(in.Folder, full)
	if err != nil {
		return nil
	}
	return entries
}

// side decodes a side file into the variable that v points to. If the file does not exist, v keeps its value.
func side(in *foreign.Input, name string, v any) error {
	content, err := in.Side(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	err = foreign.DecodeAt("", content, v)
	var m *foreign.Mismatch
	if errors.As(err, &m) && m.Where != "" {
		return fmt.Errorf("reading %s, %s: %w", name, m.Where, err)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

// aheadOf returns the input to read headers from: only the beginning of the file if that has all paths.
func aheadOf(in *foreign.Input, paths []string) (*foreign.Input, error) {
	if len(paths) > 0 && in.Head.Has(paths...) {
		return foreign.FromReader(bytes.NewReader(in.Head.Bytes), in.Name, in.Location)
	}
	return in.Ahead()
}

// another reports whether another object follows. Any other text, which some tools print after a result, ends the file.
func another(j *foreign.JSON) bool { return j.Kind() == '{' }

// oneOrMany is a list in JSON, or a single value in its place. A null is an empty list.
type oneOrMany[T any] []T

// UnmarshalJSON takes both.
func (m *oneOrMany[T]) UnmarshalJSON(text []byte) error {
	switch jsontext.Value(text).Kind() {
	case jsontext.KindBeginArray, jsontext.KindNull:
	default:
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	return foreign.Decode(text, (*[]T)(m))
}

// refusal returns the error with which a reader refuses a record, or a part of it at a position. The functions below report it, and go
// on with the next record.
func refusal(where, format string, args ...any) error {
	return &foreign.Mismatch{Where: where, Err: fmt.Errorf(format, args...)}
}

// readNext decodes the next value and gives it to read, with its JSON pointer. A value that does not fit, and one that
// read refuses, is refused by itself.
func readNext[T any](j *foreign.JSON, out *foreign.Output, read func(where string, value *T) error) error {
	var value T
	err := j.Decode(&value)
	if err == nil {
		err = read(j.Where(), &value)
	}
	return out.RefuseMismatch(err)
}

// elements is readNext for each element of the next array.
func elements[T any](j *foreign.JSON, out *foreign.Output, read func(where string, element *T) error) error {
	return j.Elements(func(int) error { return readNext(j, out, read) })
}

// eachElement is elements, but refuses a value that is no array.
func eachElement[T any](j *foreign.JSON, out *foreign.Output, read func(where string, element *T) error) error {
	return out.RefuseMismatch(elements(j, out, read))
}

// eachDocument is readNext for each of the JSON documents of a file.
func eachDocument[T any](j *foreign.JSON, out *foreign.Output, read func(where string, document *T) error) error {
	for j.More() {
		if err := readNext(j, out, read); err != nil {
			return err
		}
	}
	return nil
}

// eachJSONLine is readNext for each line that is not empty.
func eachJSONLine[T any](in *foreign.Input, out *foreign.Output, read func(where string, line *T) error) error {
	return in.EachLine(func(n int, text string) error {
		var line T
		where := fmt.Sprintf("line %d", n)
		if strings.TrimSpace(text) == "" || !decode(out, where, jsontext.Value(text), &line) {
			return nil
		}
		return out.RefuseMismatch(read(where, &line))
	})
}

// eachLine gives the lines of a text to line, with their places, and ends with flush. A line that line refuses is refused
// by itself.
func eachLine(in *foreign.Input, out *foreign.Output, line func(where, text string) error, flush func() error) error {
	err := in.EachLine(func(n int, text string) error { return out.RefuseMismatch(line(fmt.Sprintf("line %d", n), text)) })
	if err != nil {
		return err
	}
	return flush()
}

// eachText is readNext for the texts of the elements of an array.
func eachText[T any](texts []jsontext.Value, array string, out *foreign.Output, read func(where string, element *T) error) error {
	for i, text := range texts {
		var element T
		where := fmt.Sprintf("%s/%d", array, i)
		err := foreign.DecodeAt(where, text, &element)
		if err == nil {
			err = read(where, &element)
		}
		if err := out.RefuseMismatch(err); err != nil {
			return err
		}
	}
	return nil
}

// eachMember is readNext for the texts of the members of an object, sorted by name.
func eachMember[T any](texts map[string]jsontext.Value, object string, out *foreign.Output, read func(where, name string, member *T) error) error {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		var member T
		where := object + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		err := foreign.DecodeAt(where, texts[name], &member)
		if err == nil {
			err = read(where, name, &member)
		}
		if err := out.RefuseMismatch(err); err != nil {
			return err
		}
	}
	return nil
}

// jsonMember is a member of a JSON object.
type jsonMember struct {
	name  string
	value jsontext.Value
}

// jsonMembersOf returns the members of an object in their order, including duplicate names.
func jsonMembersOf(object jsontext.Value) (members []jsonMember, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	_, err = d.ReadToken()
	for err == nil && d.PeekKind() == jsontext.KindString {
		token, nameErr := d.ReadToken()
		name := token.String()
		value, valueErr := d.ReadValue()
		members, err = append(members, jsonMember{name, value.Clone()}), cmp.Or(nameErr, valueErr)
	}
	return members, err
}
