package views

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
)

// Two commands may be one point: what differs has to say so, before what is cut off at the end.
func TestDiffersNamesTheCommand(t *testing.T) {
	t.Parallel()
	c := compare.Comparison{Differs: []query.FactDifference{
		{Name: "env.sweep.sha256", Base: []string{"a"}, Head: []string{"b"}},
		{Name: "env.runner.command", Base: []string{`["sleep","0.01"]`}, Head: []string{`["sleep","0.02"]`}},
	}}
	got := Comparison{C: &c}.differs()[0]
	if want := "; differs: runner.command sleep 0.01 → sleep 0.02, sweep.sha256 a → b"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Contrast.Axis = "variant"
	if got := (Comparison{C: &c}).differs()[0]; strings.Contains(got, "runner.command") {
		t.Errorf("values of an axis: %q", got)
	}
	c.Contrast.Axis = ""
	c.Differs = append(c.Differs, query.FactDifference{Name: "variant", Base: []string{"quick"}, Head: []string{"slow"}})
	if got := (Comparison{C: &c}).differs()[0]; strings.Contains(got, "runner.command") {
		t.Errorf("other points: %q", got)
	}
}

func TestProgramTexts(t *testing.T) {
	t.Parallel()
	for _, x := range [][4]string{
		{`["sleep","1"]`, `["sleep","2"]`, "sleep 1", "sleep 2"},
		{`["python","train.py","--epochs","12345678","--lr","0.1"]`, `["python","train.py","--epochs","12345678","--lr","0.2"]`, "… 0.1", "… 0.2"},
		{`["sh","-c","a b"]`, `no list`, "sh -c 'a b'", "no list"},
	} {
		if was, is := programTexts(x[0], x[1]); was != x[2] || is != x[3] {
			t.Errorf("%s, %s: %q and %q, want %q and %q", x[0], x[1], was, is, x[2], x[3])
		}
	}
}
