package sweep

import (
	"strings"
	"testing"
)

func TestExpandPath(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for path, want := range map[string]string{
		"~": "/home/me", "~/": "/home/me", "~/a b/c": "/home/me/a b/c", "a/~/b": "a/~/b", "./~x": "./~x", "a~": "a~", "": "", "/~/x": "/~/x", "$": "$", "./$HOME": "./$HOME", "a/$HOME": "a/$HOME",
	} {
		if got, err := ExpandPath(path); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"~root/x": `want ~/ for the home directory, or ./~root/x for a file of that name, got "~root/x"`,
		"$HOME/x": `variables are not replaced in paths: want ~/ for the home directory, or ./$HOME/x for a file of that name, got "$HOME/x"`,
		"${A}":    `variables are not replaced in paths: want ~/ for the home directory, or ./${A} for a file of that name, got "${A}"`,
	} {
		if got, err := ExpandPath(path); got != "" || err == nil || err.Error() != want {
			t.Errorf("%q: got %q, %v, want %s", path, got, err, want)
		}
	}
	t.Setenv("HOME", "")
	if _, err := ExpandPath("~/x"); err == nil || !strings.HasPrefix(err.Error(), `"~/x" begins with the home directory: `) {
		t.Errorf("without a home: %v", err)
	}
}

// TestPathsOfKeys: each key that is a path has the home directory in the place of ~, also where an axis brings it, and words of programs
// are as they are.
func TestPathsOfKeys(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	first := func(text string, o Overrides) *Point {
		t.Helper()
		s, err := Read("s.yaml", strings.NewReader(text), o)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		return &s.Points[0]
	}
	p := first(`command: [~/bin/x, ~/arg]
setup: [~/bin/y]
env: {A: ~/env}
cwd: ~/{where}
stdin: ~/in
output: {to: ~/out, from: ~/numbers}
artifacts: ["~/kept/*"]
metrics: {m: {from: ~/metric, regex: x}}
reference: {from: ~/reference.npy}
grid: {where: [place]}
`, Overrides{})
	got := strings.Join([]string{p.Dir, p.Stdin, p.Stdout, p.Output.From, p.Artifacts.Files[0], p.Metrics[0].From, p.Reference.File}, " ")
	if want := "/home/me/place /home/me/in /home/me/out /home/me/numbers /home/me/kept/* /home/me/metric /home/me/reference.npy"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := strings.Join(append(p.Command, p.Hooks.Setup[0], p.Env["A"], p.Params["stdin"]), " "); got != "~/bin/x ~/arg ~/bin/y ~/env ~/in" {
		t.Errorf("words: %s", got)
	}
	if p := first("file: ~/b.py:f\npython: ~/venv/bin/python\n", Overrides{}); p.File != "/home/me/b.py" || p.Python != "/home/me/venv/bin/python" {
		t.Errorf("%s, %s", p.File, p.Python)
	}
	for _, model := range []string{"~/m.onnx", "{name: m, path: ~/m.onnx}"} {
		if p := first("backend: onnxrt\nmodel: "+model, Overrides{}); p.ModelPath != "/home/me/m.onnx" {
			t.Errorf("%s is %s", model, p.ModelPath)
		}
	}
	if p := first("file: b.py", Overrides{Given: map[string]string{"python": "~/p"}}); p.Python != "/home/me/p" {
		t.Errorf("--python: %s", p.Python)
	}
	check := refuses(t, tiny)
	for _, key := range []string{"cwd: ~you/x", "stdin: $HOME/x", "output: {to: '${HOME}/x'}", "artifacts: [~you/x]", "share: [~/x]", "share: [$X/y]", "python: ~you/python"} {
		text := "command: [x]\n" + key
		if strings.HasPrefix(key, "python") {
			text = "file: b.py\n" + key
		}
		if _, err := Read("s.yaml", strings.NewReader(text), Overrides{}); err == nil || !strings.HasPrefix(err.Error(), "s.yaml:2: ") {
			t.Errorf("%s: %v", key, err)
		}
	}
	check("cwd: $HOME/x", "3: cwd: variables are not replaced in paths: want ~/ for the home directory, or ./$HOME/x for a file of that name, got \"$HOME/x\"")
}
