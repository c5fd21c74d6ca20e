package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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

// side reads a side file into what v points to. One that is absent leaves v as it is.
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

// headers reads, for each object of a file, the members that apply to all its records, wherever they are: member reads or
// skips the value of each. A file has one object, or several if results were appended to one another. The file is read a
// second time for that, unless its beginning has members at all of the paths.
func headers[T any](in *foreign.Input, out *foreign.Output, member func(h *T, j *foreign.JSON, name string) error, paths ...string) ([]*T, error) {
	ahead, err := aheadOf(in, paths)
	if err != nil {
		return nil, err
	}
	defer ahead.Close()
	j := ahead.JSON()
	var all []*T
	for len(all) == 0 || another(j) {
		h := new(T)
		all = append(all, h)
		err := j.Members(func(name string) error { return out.RefuseMismatch(member(h, j, name)) })
		if err != nil {
			break // what cannot be read on is said when the records are read
		}
	}
	return all, nil
}

// aheadOf is the input to read headers from: only the beginning of the file if that has all paths.
func aheadOf(in *foreign.Input, paths []string) (*foreign.Input, error) {
	if len(paths) > 0 && in.Head.Has(paths...) {
		return foreign.FromReader(bytes.NewReader(in.Head.Bytes), in.Name, in.Location)
	}
	return in.Ahead()
}

// another reports whether another object follows. Any other text, which some tools print after a result, ends the file.
func another(j *foreign.JSON) bool { return j.Kind() == '{' }

// headerAt is the header of an object. It is empty if reading for headers did not reach the object: then the members
// before the records are read with them.
func headerAt[T any](all []*T, i int) *T {
	if i < len(all) {
		return all[i]
	}
	return new(T)
}

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

// decodeMember decodes the value of a member into the field for its name, and skips a member without a field.
func decodeMember(j *foreign.JSON, name string, fields map[string]any) error {
	if field, ok := fields[name]; ok {
		return j.Decode(field)
	}
	return j.Skip()
}

// readNext decodes the next value and gives it to read, with its JSON pointer. A value that does not fit is refused alone.
func readNext[T any](j *foreign.JSON, out *foreign.Output, read func(where string, value *T) error) error {
	var value T
	if err := j.Decode(&value); err != nil {
		return out.RefuseMismatch(err)
	}
	return read(j.Where(), &value)
}

// eachElement is readNext for each element of the next array.
func eachElement[T any](j *foreign.JSON, out *foreign.Output, read func(where string, element *T) error) error {
	return out.RefuseMismatch(j.Elements(func(int) error { return readNext(j, out, read) }))
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
		return read(where, &line)
	})
}

// eachText is readNext for the texts of the elements of an array.
func eachText[T any](texts []jsontext.Value, array string, out *foreign.Output, read func(where string, element *T) error) error {
	for i, text := range texts {
		var element T
		where := fmt.Sprintf("%s/%d", array, i)
		err := foreign.DecodeAt(where, text, &element)
		if err != nil {
			err = out.RefuseMismatch(err)
		} else {
			err = read(where, &element)
		}
		if err != nil {
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

// jsonMembersOf are the members of an object in their order, including duplicate names.
func jsonMembersOf(object jsontext.Value) ([]jsonMember, error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var members []jsonMember
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		members = append(members, jsonMember{text, value.Clone()})
	}
	return members, nil
}
