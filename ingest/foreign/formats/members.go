package formats

import (
	"bytes"

	"github.com/neurolens/neurolens/schema/jsontext"
)

// jsonMember is a member of a JSON object.
type jsonMember struct {
	name  string
	value jsontext.Value
}

// jsonMembersOf are the members of an object in their order, with the names that stand twice.
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
