package jsontext

import (
	"errors"
	"testing"
)

// TestUnmarshal: what other tools write is read: text that is not UTF-8, and the last member of a name that stands twice.
func TestUnmarshal(t *testing.T) {
	var v struct{ A string }
	if err := Unmarshal(Value("{\"A\": \"x\", \"A\": \"\xff\"}"), &v); err != nil || v.A != "\ufffd" {
		t.Errorf("%q, %v", v.A, err)
	}
	if err := UnmarshalOnce(Value(`{"A": "x", "A": "y"}`), &v); !errors.Is(err, ErrDuplicateName) {
		t.Errorf("a name twice: %v", err)
	}
	if err := UnmarshalOnce(Value("{\"A\": \"\xff\"}"), &v); err != nil || v.A != "\ufffd" {
		t.Errorf("%q, %v", v.A, err)
	}
}
