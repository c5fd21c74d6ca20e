package micro

import (
	"bytes"

	"github.com/neurolens/neurolens/schema/jsontext"
)

// member is a member of a JSON object.
type member struct {
	name  string
	value jsontext.Value
}

// membersOf are the members of an object in their order, with the names that stand twice.
func membersOf(object jsontext.Value) ([]member, error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var members []member
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
		members = append(members, member{text, value.Clone()})
	}
	return members, nil
}
