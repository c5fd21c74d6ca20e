package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

func FuzzPytest(f *testing.F) { foreigntest.Fuzz(f, pytestBenchmark(), root, "pytest-benchmark") }

// TestPytestEscaped: the id of a test says what its parameters say, also where pytest escapes it.
func TestPytestEscaped(t *testing.T) {
	for id, said := range map[string]bool{
		`\xe9-\u6f22-\U0001f600-\\\n\x7f`: true, "é-漢-😀-\\\n\x7f": true, `\xe8-\u6f22-\U0001f600-\\\n\x7f`: false,
	} {
		b := pytestResult{ID: foreign.Text(id), Params: jsontext.Value(`{"a": "é", "b": "漢", "c": "😀", "d": "\\\n\u007f"}`)}
		var r schema.Run
		if err := b.setParams(&r); err != nil || (r.Params["id"] == "") != said {
			t.Errorf("%s: %q, %v", id, r.Params, err)
		}
	}
}
