package schema_test

import (
	"errors"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCatch: an error is returned, and mistakes of the program panic on.
func TestCatch(t *testing.T) {
	wrong := errors.New("wrong")
	valuetest.OK(t, schema.Catch(func() {}))
	valuetest.ErrorIs(t, schema.Catch(func() { panic(wrong) }), wrong)
	for name, mistake := range map[string]func(){"an index": func() { _ = make([]int, len(t.Name()))[len(t.Name())] }, "a text": func() { panic("a text") }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			valuetest.NoError(t, schema.Catch(mistake))
		}()
	}
}
