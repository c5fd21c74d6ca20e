package formats

import (
	"maps"
	"reflect"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// describe sets the fields of v, a struct or a pointer to one, in a run, as their tags define:
//
//	run:"Env.GPUName"    a column, by its path in schema.Run; several paths are separated by commas
//	param:"streaming"    a parameter, or the axis with that name
//	fact:"gpu.driver"    a fact of the environment
//
// A field without a value sets nothing, and neither does a field whose column, parameter or fact the run already has. So when versions
// of a tool write a value under several names, the first field in the struct wins. Fields that are structs themselves are described as
// well.
func describe(r *schema.Run, v any) { describeStruct(r, reflect.Indirect(reflect.ValueOf(v))) }

func describeStruct(r *schema.Run, v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return // a nil pointer
	}
	for field, value := range v.Fields() {
		if !field.IsExported() && !field.Anonymous {
			continue
		}
		if paths, ok := field.Tag.Lookup("run"); ok {
			for path := range strings.SplitSeq(paths, ",") {
				setPath(r, path, value)
			}
		}
		if name := field.Tag.Get("param"); name != "" && r.Params[name] == "" && !foreign.HasAxis(r, name) {
			foreign.SetParam(r, name, tagText(value))
		}
		if name := field.Tag.Get("fact"); r.Env.Facts[name] == "" && name != "" {
			foreign.SetFact(r, name, tagText(value))
		}
		describeStruct(r, reflect.Indirect(value))
	}
}

// setPath sets the column at a path of schema.Run.
func setPath(r *schema.Run, path string, value reflect.Value) {
	to := reflect.ValueOf(r).Elem()
	for name := range strings.SplitSeq(path, ".") {
		to = to.FieldByName(name)
	}
	if !to.IsZero() {
		return
	}
	switch {
	case to.Type() == value.Type():
		to.Set(value)
	case to.Kind() == reflect.String:
		to.SetString(tagText(value))
	default: // an integer that the file has as a Number
		to.Set(reflect.ValueOf(foreign.Number(tagText(value)).Int64()))
	}
}

// tagText returns the text of a field; empty if it has no value.
func tagText(value reflect.Value) string {
	if text, ok := value.Interface().(jsontext.Value); ok {
		return foreign.TextOf(text)
	}
	return value.String()
}

// summaryOf returns the aggregates in the fields of v, a struct, in the stored unit of unit. The tag stat of a field names its
// statistic: stat:"p50". NaN and infinity are unknown.
func summaryOf(v any, unit string) (s schema.Summary) {
	for field, value := range reflect.ValueOf(v).Fields() {
		number := foreign.Number(value.String())
		switch name := field.Tag.Get("stat"); name {
		case "":
		case "n":
			s.N = number.Int64()
		default:
			*statistic(&s, name) = number.Finite(unit)
		}
	}
	return s
}

// fields are the known members of a JSON object by name: the variable into which a member is decoded, or a function that
// reads the member from the stream. Other members are skipped.
type fields map[string]any

// fieldsOf lists the fields of a struct by their JSON names.
func fieldsOf(v any) fields {
	s, all := reflect.ValueOf(v).Elem(), fields{}
	for field, value := range s.Fields() {
		if name := field.Tag.Get("json"); name != "" {
			all[name] = value.Addr().Interface()
		}
	}
	return all
}

// take reads the value of a member.
func (f fields) take(j *foreign.JSON, name string) error {
	switch to := f[name].(type) {
	case nil:
		return j.Skip()
	case func() error:
		return to()
	default:
		return j.Decode(to)
	}
}

// read reads the next object. A member that does not fit is refused by itself.
func (f fields) read(j *foreign.JSON, out *foreign.Output) error {
	return out.RefuseMismatch(j.Members(func(name string) error { return out.RefuseMismatch(f.take(j, name)) }))
}

// array reads an array as a member of fields, element by element.
func array[T any](j *foreign.JSON, out *foreign.Output, read func(where string, element *T) error) func() error {
	return func() error { return eachElement(j, out, read) }
}

// documents reads the objects of a file: one, or several if results were appended to one another. Each has a header,
// members that apply to all its results. They are the fields of H by their JSON names, and may follow the results.
// Therefore the file is read twice, first for the headers, unless its beginning has members at all of the paths. read
// gets each header, and a function that reads the other members of the object.
func documents[H any](in *foreign.Input, out *foreign.Output, read func(header *H, j *foreign.JSON, others func(fields) error) error, paths ...string) error {
	ahead, err := aheadOf(in, paths)
	if err != nil {
		return err
	}
	defer ahead.Close()
	var headers []*H
	for j := ahead.JSON(); len(headers) == 0 || another(j); {
		headers = append(headers, new(H))
		f := fieldsOf(headers[len(headers)-1])
		if j.Members(func(name string) error { return out.RefuseMismatch(f.take(j, name)) }) != nil {
			break // the error comes again when the results are read
		}
	}
	j := in.JSON()
	for i := 0; i == 0 || another(j); i++ {
		header, members := new(H), fields{}
		if i < len(headers) {
			header = headers[i]
		} else { // reading for headers did not reach the object: the members before the results apply
			members = fieldsOf(header)
		}
		err := read(header, j, func(results fields) error {
			maps.Copy(members, results)
			return members.read(j, out)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
