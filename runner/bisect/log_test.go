package bisect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestLog: what is written is read again; a line that is taken out is not known, one of git bisect is.
func TestLog(t *testing.T) {
	t.Parallel()
	path, h := filepath.Join(t.TempDir(), "log"), worktree.History{
		Good:    worktree.Commit{ID: "c0"},
		Bad:     worktree.Commit{ID: "c4"},
		Commits: []worktree.Commit{{ID: "c4"}, {ID: "c3"}, {ID: "c2"}, {ID: "c1"}},
	}
	l := valuetest.Must(OpenLog(path, "key", h))
	steps := []Step{
		{Commit: "c4", Result: Bad, PointID: "p", Change: .2, Low: .1, High: .3, Confidence: .99, Blocks: 6, Session: "s"},
		{Commit: "c2", Result: Skip, Reason: "is not\nbuilt"},
	}
	for _, step := range steps {
		valuetest.OK(t, l.Add(step))
	}
	check := func(want ...Step) {
		t.Helper()
		l := valuetest.Must(OpenLog(path, "key", h))
		valuetest.DeepEqual(t, fmt.Sprintf("%+v", l.Steps), fmt.Sprintf("%+v", want), want)
	}
	check(steps...)
	text, _ := os.ReadFile(path)
	edit := func(from, to string) {
		t.Helper()
		valuetest.OK(t, os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600))
	}
	edit("git bisect skip c2\n", "git bisect good c1\n")
	check(steps[0], Step{Commit: "c1", Result: Good, Reason: "from the log"})
	edit("git bisect bad c4\n", "")
	check(steps[1])
	for from, want := range map[string]string{
		"git bisect bad c4":  `log:8: want git bisect good, bad or skip with one commit, got "git bisect reset"`,
		"git bisect skip c2": `log:11: want git bisect good, bad or skip with one commit, got "git bisect reset"`,
	} {
		edit(from, "git bisect reset")
		valuetest.ErrorText(t, valuetest.Error(OpenLog(path, "key", h)), "…"+want)
	}
	edit("bad c4", "bad c9")
	valuetest.ErrorText(t, valuetest.Error(OpenLog(path, "key", h)), `…commit "c9" is not between the two…`)
	valuetest.ErrorText(t, valuetest.Error(OpenLog(path, "another", h)), "…the log belongs to another search…")
}
