package prepare

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestAbsent: what a point needs and one side lacks. What both lack is left to the launch, which says it better.
func TestAbsent(t *testing.T) {
	base, head := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(base, "both"), filepath.Join(head, "both"), filepath.Join(head, "new"), filepath.Join(head, "dir", "in")} {
		valuetest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		valuetest.OK(t, os.WriteFile(path, nil, 0o755))
	}
	s := New(Options{Sweep: &sweep.Sweep{}, Sides: []Side{{Name: "base", Dir: base}, {Name: "head", Dir: head}}})
	for name, c := range map[string]struct {
		point sweep.Point
		want  string // of base
	}{
		"file":                {sweep.Point{File: "new"}, "new"},
		"model":               {sweep.Point{ModelPath: "./new"}, "./new"},
		"input":               {sweep.Point{Worker: sweep.Worker{Inputs: map[string]sweep.Input{"x": {File: "new"}}}}, "new"},
		"library":             {sweep.Point{Worker: sweep.Worker{Session: &sweep.Session{Libraries: []string{"both", "new"}}}}, "new"},
		"program":             {sweep.Point{Launch: task.Launch{Command: []string{"./new"}}}, "./new"},
		"script":              {sweep.Point{Launch: task.Launch{Command: []string{"sh", "-e", "new"}}}, "new"},
		"in a folder":         {sweep.Point{Launch: task.Launch{Command: []string{"sh", "in"}, Dir: "dir"}}, "in"},
		"folder":              {sweep.Point{Launch: task.Launch{Command: []string{"make"}, Dir: "dir"}}, "dir"},
		"program of PATH":     {sweep.Point{Launch: task.Launch{Command: []string{"new"}}}, ""},
		"absolute":            {sweep.Point{File: filepath.Join(head, "new")}, ""},
		"absolute folder":     {sweep.Point{Launch: task.Launch{Command: []string{"make"}, Dir: filepath.Join(head, "dir")}}, ""},
		"on both":             {sweep.Point{Launch: task.Launch{Command: []string{"./both", "both"}}}, ""},
		"on none":             {sweep.Point{Launch: task.Launch{Command: []string{"./none", "--to=out/x", "none"}}}, ""},
		"nothing of the tree": {sweep.Point{Launch: task.Launch{Command: []string{"true"}}}, ""},
	} {
		got := fmt.Sprint(s.absent(&c.point, 0))
		want := "<nil>"
		if c.want != "" {
			want = c.want + " does not exist on side base"
		}
		valuetest.DeepEqual(t, got, want, name)
		if err := s.absent(&c.point, 1); err != nil {
			t.Errorf("%s: head: %v", name, err)
		}
	}
	s.Sides[0].Dir = filepath.Join(base, "gone")
	if err := s.absent(&sweep.Point{Launch: task.Launch{Command: []string{"make"}}}, 0); fmt.Sprint(err) != "the working directory does not exist on side base" {
		t.Error(err)
	}
}

// TestReplacePaths: paths into the user's tree are found in lists, flags, addresses and lines of shells, and no others.
func TestReplacePaths(t *testing.T) {
	s := Side{Trees: []string{"/home/me/tree", "/link/my tree"}}
	for text, want := range map[string]string{
		"":                                   "",
		"/home/me/tree":                      "<>",
		"/home/me/tree/":                     "</>",
		"/usr/bin:/home/me/tree/bin:/bin":    "/usr/bin:</bin>:/bin",
		"/home/me/tree/a:/home/me/tree/b":    "</a>:</b>",
		"-I/home/me/tree/include -L/usr/lib": "-I</include> -L/usr/lib",
		"--to=/home/me/tree/out":             "--to=</out>",
		"file:///home/me/tree/x":             "file://</x>",
		"@/home/me/tree/list":                "@</list>",
		". '/home/me/tree/run.sh'; exit":     ". '</run.sh>'; exit",
		"/link/my tree/bin":                  "</bin>",
		"/home/me/tree2/bin":                 "/home/me/tree2/bin",
		"/mnt/home/me/tree/bin":              "/mnt/home/me/tree/bin",
		"x/home/me/tree/bin":                 "x/home/me/tree/bin",
		"/home/me/tre":                       "/home/me/tre",
		"/home/me/tree.old":                  "/home/me/tree.old",
	} {
		valuetest.DeepEqual(t, s.replacePaths(text, func(_, below string) string { return "<" + below + ">" }), want, text)
	}
}

// TestEnviron: a variable that points into the user's tree points into that of the side. Search paths and environments do not, if only the
// user's has what they name; in PATH the side's folder comes first, also once a build has made it on one side.
func TestEnviron(t *testing.T) {
	user, base, head := t.TempDir(), t.TempDir(), t.TempDir()
	for _, path := range []string{user + "/lib", user + "/.venv", base + "/lib", user + "/new", head + "/new"} {
		valuetest.OK(t, os.MkdirAll(path, 0o700))
	}
	targets := New(Options{Sweep: &sweep.Sweep{}, Sides: []Side{
		{Name: "base", Dir: base, Root: base, Trees: []string{user}}, {Name: "head", Dir: head, Root: head, Trees: []string{user}},
	}})
	list := "/x:" + user + "/lib:" + user + "/.venv:" + user + "/new:" + user + "/not/yet"
	t.Setenv("A_LIST", list)
	t.Setenv("A_PATH", list)
	t.Setenv("PATH", user+"/lib:"+user+"/.venv")
	t.Setenv("VIRTUAL_ENV", user+"/.venv")
	t.Setenv("A_FOLDER", user)
	t.Setenv("AN_OTHER", filepath.Dir(user))
	for i, root := range []string{base, head} {
		got := targets.environ(i, map[string]string{"SET": "1"})
		want := []string{
			"A_FOLDER=" + root, "A_LIST=/x:" + root + "/lib:" + root + "/.venv:" + root + "/new:" + root + "/not/yet",
			"A_PATH=/x:" + root + "/lib:" + user + "/.venv:" + root + "/new:" + root + "/not/yet",
			"PATH=" + root + "/lib:" + root + "/.venv:" + user + "/.venv", "SET=1",
		}
		slices.Sort(got)
		valuetest.DeepEqual(t, got, want, "side", i)
	}
	valuetest.OK(t, os.Mkdir(base+"/.venv", 0o700))
	if got, want := targets.environ(1, nil), "PATH="+head+"/lib:"+head+"/.venv:"+user+"/.venv"; !slices.Contains(got, want) {
		t.Errorf("after a build of the base: %q, want %q", got, want)
	}
	if got := New(Options{Sweep: &sweep.Sweep{}, Sides: []Side{{}}}).environ(0, nil); got != nil {
		t.Errorf("one side: %q, want nothing", got)
	}
}
