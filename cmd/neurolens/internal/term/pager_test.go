package term

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// shown returns what a screen of 20 columns and 5 rows has after a command wrote these texts, with that as NEUROLENS_PAGER; those that
// begin with ! go to standard error.
func shown(t *testing.T, program string, texts ...string) (screen string, p *Pager, last error) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "screen"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	ok(t, err)
	defer f.Close()
	p = NewPager(f, f, func() (columns, rows int) { return 20, 5 })
	p.Begin(listing(t), variables(map[string]string{"TERM": "xterm", "NEUROLENS_PAGER": program, "PAGER": "false"}))
	for _, text := range texts {
		if remark, is := strings.CutPrefix(text, "!"); is {
			_, last = p.Stderr().Write([]byte(remark))
		} else {
			_, last = p.Write([]byte(text))
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(f.Name())
	ok(t, err)
	return string(text), p, last
}

// listing returns a command with an answer, as it was typed with these flags.
func listing(t *testing.T, flags ...string) *cobra.Command {
	t.Helper()
	root, ls := &cobra.Command{Use: "neurolens"}, &cobra.Command{Use: "ls"}
	root.AddCommand(ls)
	ls.Flags().Bool("no-pager", false, "")
	ls.Flags().Bool("gate", false, "")
	ok(t, ls.ParseFlags(flags))
	return ls
}

func variables(set map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, is := set[name]; return value, is }
}

// TestPager: text that fits a screen goes there, longer text through the pager, and remarks come after it.
func TestPager(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		texts   []string
		want    string
	}{
		"fits":          {"sed s/^/P:/", []string{"1\n2\n", "3\n4\n"}, "1\n2\n3\n4\n"},
		"too long":      {"sed s/^/P:/", []string{"1\n2\n3\n", "4\n5\n", "6\n"}, "P:1\nP:2\nP:3\nP:4\nP:5\nP:6\n"},
		"long lines":    {"sed s/^/P:/", []string{strings.Repeat("é", 81) + "\n"}, "P:" + strings.Repeat("é", 81) + "\n"},
		"full lines":    {"sed s/^/P:/", []string{strings.Repeat("é", 80) + "\n"}, strings.Repeat("é", 80) + "\n"},
		"remark first":  {"sed s/^/P:/", []string{"!no run\n", "1\n2\n3\n4\n5\n"}, "no run\nP:1\nP:2\nP:3\nP:4\nP:5\n"},
		"remark during": {"sed s/^/P:/", []string{"1\n2\n3\n4\n5\n", "!left out\n", "6\n"}, "P:1\nP:2\nP:3\nP:4\nP:5\nP:6\nleft out\n"},
		"remark, fits":  {"sed s/^/P:/", []string{"1\n", "!left out\n", "2\n"}, "1\n2\nleft out\n"},
		"missing":       {"no-such-pager -x", []string{"1\n2\n3\n4\n5\n"}, "1\n2\n3\n4\n5\n"},
		"cat":           {"cat", []string{"1\n2\n3\n4\n5\n"}, "1\n2\n3\n4\n5\n"},
		"none":          {"", []string{"1\n2\n3\n4\n5\n"}, "1\n2\n3\n4\n5\n"},
		"shell":         {"sed 's/^/P: /' | tail -n 1", []string{"1\n2\n3\n4\n5\n"}, "P: 5\n"},
	} {
		if got, p, err := shown(t, c.program, c.texts...); got != c.want || err != nil || p.Left() {
			t.Errorf("%s: the screen shows %q, want %q (%v, left: %v)", name, got, c.want, err, p.Left())
		}
	}
}

// TestPagerLeft: what is written when the user leaves the pager counts as written; the next text has no reader.
func TestPagerLeft(t *testing.T) {
	long := strings.Repeat("line\n", 100_000)
	got, p, err := shown(t, "head -n 1", long)
	if got != "line\n" || err != nil || !p.Left() {
		t.Errorf("one text: %q, %v, left: %v", got, err, p.Left())
	}
	if _, p, err := shown(t, "head -n 1", long, "more\n"); !errors.Is(err, syscall.EPIPE) || !p.Left() {
		t.Errorf("a second text: %v, left: %v", err, p.Left())
	}
}

// TestPagerWait: Wait ends when the pager does.
func TestPagerWait(t *testing.T) {
	var none *Pager
	none.Wait()
	got, p, _ := shown(t, "cat >/dev/null; echo over", "1\n2\n3\n4\n5\n")
	if p.Wait(); got != "over\n" {
		t.Errorf("the pager showed %q", got)
	}
}

func TestWanted(t *testing.T) {
	for flag, want := range map[string]bool{"": true, "--no-pager": false, "--gate": false} {
		if got := wanted(listing(t, strings.Fields(flag)...)); got != want {
			t.Errorf("ls %s: %v, want %v", flag, got, want)
		}
	}
	root := &cobra.Command{Use: "neurolens"}
	root.PersistentFlags().Bool("no-pager", false, "")
	bench, store, info := &cobra.Command{Use: "bench"}, &cobra.Command{Use: "store"}, &cobra.Command{Use: "info"}
	plot, ecdf := &cobra.Command{Use: "plot"}, &cobra.Command{Use: "ecdf"}
	root.AddCommand(bench, store, plot)
	store.AddCommand(info)
	plot.AddCommand(ecdf)
	for cmd, want := range map[*cobra.Command]bool{bench: false, store: false, info: true, plot: false, ecdf: true} {
		ok(t, cmd.ParseFlags(nil))
		if got := wanted(cmd); got != want {
			t.Errorf("%s: %v, want %v", cmd.CommandPath(), got, want)
		}
	}
}

func TestProgramOf(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		want string
	}{
		{map[string]string{"TERM": "xterm", "NEUROLENS_PAGER": "sh -x", "PAGER": "head"}, "sh -x"},
		{map[string]string{"TERM": "xterm", "PAGER": "head"}, "head"},
		{map[string]string{"TERM": "xterm", "NEUROLENS_PAGER": "", "PAGER": "head"}, ""},
		{map[string]string{"TERM": "xterm", "PAGER": ""}, ""},
		{map[string]string{"TERM": "dumb", "PAGER": "head"}, ""},
		{map[string]string{"PAGER": "head"}, ""},
	} {
		if got := strings.Join(programOf(variables(c.set)), " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.set, got, c.want)
		}
	}
}

// TestEnviron: what the user says counts.
func TestEnviron(t *testing.T) {
	if got := environ([]string{"A=b"}); !slices.Equal(got, []string{"A=b", "LESS=FRX", "LV=-c"}) {
		t.Errorf("%v", got)
	}
	if got := environ([]string{"LESS=", "LV="}); !slices.Equal(got, []string{"LESS=", "LV="}) {
		t.Errorf("%v", got)
	}
}
