package formats

import (
	"fmt"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

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

// TestPytestSorted: parameters in another order than in the id of the test are the same parameters.
func TestPytestSorted(t *testing.T) {
	file := `{"machine_info":{},"commit_info":{},"benchmarks":[{"fullname":"t.py::test_a[%s]","param":"%[1]s","params":%s,"stats":{"mean":1}}]}`
	for _, test := range []struct{ id, params, want string }{
		{"2-0.5-ab", `{"n":2,"x":0.5,"s":"ab"}`, "t.py::test_a param.n=2 param.s=ab param.x=0.5\n"},
		{"2-0.5-ab", `{"s":"ab","n":2,"x":0.5}`, "t.py::test_a param.n=2 param.s=ab param.x=0.5\n"},
		{"a-b--1", `{"s":"a-b","n":-1}`, "t.py::test_a param.n=-1 param.s=a-b\n"},
		{"2-0.5-small", `{"n":2,"x":0.5,"s":"ab"}`, "t.py::test_a param.id=2-0.5-small param.n=2 param.s=ab param.x=0.5\n"},
		{"1-2", `{"bs":1,"batch_size":2}`, "t.py::test_a param.id=1-2\n"},
		{"2-0.5", `{"n":2,"x":0.5,"s":"ab"}`, "t.py::test_a param.id=2-0.5 param.n=2 param.s=ab param.x=0.5\n"},
	} {
		runs, _ := readText(t, pytestBenchmark, fmt.Sprintf(file, test.id, test.params))
		if got := points(runs); got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.id, test.params, got, test.want)
		}
	}
}
