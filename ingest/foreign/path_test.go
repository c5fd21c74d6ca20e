package foreign

import (
	"context"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema"
)

// TestPath: the path of a file is a fact of its runs and makes parameters, and the same file of another path has the same
// ids. Runs that share their facts go on sharing them, and the reader's stay as they are.
func TestPath(t *testing.T) {
	facts := map[string]string{"k": "v"}
	read := func(path string, added Added) []schema.Run {
		t.Helper()
		in, err := Open(context.Background(), fstest.MapFS{"x": {Data: []byte("x")}}, "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		in.Given = path
		a, b, c := measured("a", 1), measured("b", 1), measured("c", 1)
		a.Env.Facts, b.Env.Facts = facts, facts
		b.Params = map[string]string{"isl": "7"}
		var runs []schema.Run
		if _, err := NewReader(added, nil).Read(in, fake(a, b, c), func(valid schema.Valid) bool { runs = append(runs, valid.Run()); return true }); err != nil {
			t.Fatal(err)
		}
		return runs
	}
	here, there := read("m1/isl128/r.json", Added{}), read("\xff.json", Added{})
	for i := range here {
		if here[i].RunID != there[i].RunID || here[i].SessionID != there[i].SessionID {
			t.Errorf("run %d: the path is of what it is", i)
		}
		if here[i].Env.Facts[schema.FactPath] != "m1/isl128/r.json" || there[i].Env.Facts[schema.FactPath] != "\ufffd.json" {
			t.Errorf("run %d: %v, %v", i, here[i].Env.Facts, there[i].Env.Facts)
		}
	}
	if len(facts) != 1 || here[1].Env.Facts["k"] != "v" || here[2].Env.Facts["k"] != "" {
		t.Errorf("%v, %v, %v", facts, here[1].Env.Facts, here[2].Env.Facts)
	}
	expression := regexp.MustCompile(`(?P<model>[^/]+)/isl(?P<isl>[0-9]+)`)
	params := read("m1/isl0128/r.json", Added{FromPath: expression, Params: map[string]string{"isl": "5", "osl": "6"}})
	if r := params[0]; r.Model != "m1" || r.Params["isl"] != "0128" || r.Params["osl"] != "6" {
		t.Errorf("%s %v", r.Model, r.Params)
	}
	if params[1].Params["isl"] != "7" {
		t.Errorf("the file says it itself: %v", params[1].Params)
	}
}
