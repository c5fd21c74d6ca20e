package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// modelGen runs `model gen` with arguments and gives what it printed.
func modelGen(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out, format: term.FormatPlain, getenv: func(string) string { return "" }, width: 80}
	cmd := newModelCommand(a)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"gen"}, args...))
	err := cmd.Execute()
	return out.String(), err
}

// TestModelGen: the file has the bytes of package onnx, and there is nothing else beside it.
func TestModelGen(t *testing.T) {
	for _, name := range onnx.Names() {
		for _, precision := range onnx.Precisions() {
			path := filepath.Join(t.TempDir(), "made", "m.onnx")
			out := valuetest.Must(modelGen(t, name, "--out", path, "--precision", precision))
			got, err := os.ReadFile(path)
			want, wantErr := onnx.Generate(name, precision)
			if err != nil || wantErr != nil || !bytes.Equal(got, want) {
				t.Errorf("%s %s: %d B, want %d: %v %v", name, precision, len(got), len(want), err, wantErr)
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
				t.Errorf("%v", entries)
			}
			valuetest.Contains(t, out, "\n"+name+"\t"+precision+"\t"+path+"\t", "printed")
		}
	}
}

// TestModelGenRefused: nothing is replaced without --force, and what fails leaves nothing behind.
func TestModelGenRefused(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.onnx")
	valuetest.OK(t, os.WriteFile(there, []byte("mine"), 0o600))
	dangling := filepath.Join(dir, "dangling.onnx")
	valuetest.OK(t, os.Symlink("nowhere", dangling))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"add", "--out", there}, "model gen: writing " + there + ": it exists; --force replaces it"},
		{[]string{"add", "--out", dangling}, "model gen: writing " + dangling + ": it exists; --force replaces it"},
		{[]string{"add", "--out", dir, "--force"}, "model gen: writing " + dir + ": file exists"},
		{[]string{"add", "--out", filepath.Join(there, "x")}, "not a directory"},
		{[]string{"add"}, "model gen: want --out FILE"},
		{[]string{"ad", "--out", "x"}, `model gen: model "ad": did you mean add?`},
		{[]string{"add", "--out", "x", "--precision", "fp23"}, `model gen: precision "fp23": did you mean fp32?`},
		{[]string{"add", "--out", "x", "--precision", "fp8"}, `model gen: precision "fp8": add has fp64 fp32 tf32 fp16 bf16 int8`},
		{[]string{"--out", "x"}, "gen: want the name of one model, got 0 arguments"},
	} {
		_, err := modelGen(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err) != exitInput {
			t.Errorf("%q: %v, exit %d; want %s", c.args, err, exitCode(err), c.want)
		}
	}
	valuetest.Equal(t, string(valuetest.Must(os.ReadFile(there))), "mine")
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left: %v", entries)
	}
	valuetest.Must(modelGen(t, "add", "--out", there, "--force"))
	if text, _ := os.ReadFile(there); len(text) < 100 {
		t.Errorf("--force left %q", text)
	}
}
