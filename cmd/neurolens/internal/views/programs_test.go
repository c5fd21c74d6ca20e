package views

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
)

// Two commands may be one point: what differs has to say so, before what is cut off at the end.
func TestDiffersNamesTheCommand(t *testing.T) {
	t.Parallel()
	c := compare.Comparison{Differs: []query.FactDifference{
		{Name: "env.sweep.sha256", Base: []string{"a"}, Head: []string{"b"}},
		{Name: "env.runner.command", Base: []string{`["sleep","0.01"]`}, Head: []string{`["sleep","0.02"]`}},
	}}
	got := Comparison{C: &c}.differs()[0]
	if want := "; differs: command sleep 0.01 → sleep 0.02, the sweep file"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Contrast.Axis = "variant"
	if got := (Comparison{C: &c}).differs()[0]; strings.Contains(got, "command") {
		t.Errorf("values of an axis: %q", got)
	}
	c.Contrast.Axis = ""
	c.Differs = append(c.Differs, query.FactDifference{Name: "variant", Base: []string{"quick"}, Head: []string{"slow"}})
	if got := (Comparison{C: &c}).differs()[0]; strings.Contains(got, "command") {
		t.Errorf("other points: %q", got)
	}
}

// TestDiffersNamesNoHash: the hash of a file is left out beside the name of the file. Without the name, the hash is called by its subject.
func TestDiffersNamesNoHash(t *testing.T) {
	t.Parallel()
	differing := []query.FactDifference{
		{Name: "env.output.sha256", Base: []string{"00", "01"}, Head: []string{"02"}},
		{Name: "env.command.sha256", Base: []string{"aa"}, Head: []string{"bb"}},
		{Name: "env.command.path", Base: []string{"./old"}, Head: []string{"./new"}},
	}
	for want, all := range map[string][]query.FactDifference{
		"; differs: the output, program ./old → ./new": differing,
		"; differs: the output, the program":           differing[:2],
		"; differs: uncommitted changes false → true":  {{Name: "git_dirty", Base: []string{"false"}, Head: []string{"true"}}},
	} {
		if got := (Comparison{C: &compare.Comparison{Differs: all}}).differs()[0]; !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	c := compare.Comparison{Differs: []query.FactDifference{{Name: "applied.seed", Base: []string{"42"}}, {Name: "env.output.shape", Base: []string{"[]"}}, differing[2]}}
	for want, verdict := range map[string]judge.Verdict{
		"; differs: applied.seed 42 → –, output.shape [] → –, program ./old → ./new": judge.Regressed,
		"; differs: program ./old → ./new":                                           compare.Failed, // whose runs applied nothing
	} {
		c.Points = []compare.Point{{Verdict: verdict}}
		if got := (Comparison{C: &c}).differs()[0]; !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %q, want %q", verdict, got, want)
		}
	}
	if got, want := (History{}).differsText(differing), "the output, program ./old → ./new"; got != want {
		t.Errorf("a history: got %q, want %q", got, want)
	}
}

// TestChangedFiles: two working trees differ in the files that only one of them has, or has with that state.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	base := []string{"100644:aa same.py\n100644:bb other.py\n100644:cc with space"}
	head := []string{"100644:aa same.py\n100644:dd other.py\n100644:ee new.py"}
	for want, head := range map[string][]string{
		"files that differ from the commit changed: new.py, other.py, with space":   head,
		"files that differ from the commit changed: other.py, same.py, with space":  nil,
		"files that differ from the commit changed: a, b, c, d, new.py, and 3 more": {head[0] + "\n1 a\n1 b\n1 c\n1 d\n1 zz"},
	} {
		if got := changedFiles(base, head); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
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
