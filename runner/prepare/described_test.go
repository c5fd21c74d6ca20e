package prepare

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
)

// external is an ONNX file with a tensor of four fp32 numbers in each of these files.
func external(locations ...string) []byte {
	field := func(number byte, text string) string { return string([]byte{number<<3 | 2, byte(len(text))}) + text }
	var tensors string
	for _, location := range locations {
		entry := field(1, "location") + field(2, location)
		tensors += field(5, "\x08\x04\x10\x01"+field(13, entry)+"\x70\x01")
	}
	return []byte(field(7, tensors))
}

// TestExternalData: the hash of a model with external data is that of all its files, and it changes with each of them.
func TestExternalData(t *testing.T) {
	model := external("w.bin", "shards/2.bin", "./w.bin")
	b := newBench(t, model, "{}")
	if err := os.Mkdir("shards", 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(first, second string) string {
		b.write("w.bin", []byte(first), 0o600)
		b.write("shards/2.bin", []byte(second), 0o600)
		lines := fmt.Sprintf("%s  -\n%s  shards/2.bin\n%s  w.bin\n", hashOf(model), hashOf([]byte(second)), hashOf([]byte(first)))
		return hashOf([]byte(lines))
	}
	want := write("one", "two")
	targets, all := b.session("fp32")
	if got := all[0]; got.Refused != nil || got.ModelSHA256 != want || got.Facts[factExternal] != "2" || got.Facts[factParameters] != "12" {
		t.Errorf("%s; %s, want %s; %v", refused(got), got.ModelSHA256, want, got.Facts)
	}
	want = write("one", "other") // in the session
	if got := b.target(targets, all[0].Point); !got.Changed || got.ModelSHA256 != want {
		t.Errorf("changed %v, %s, want %s", got.Changed, got.ModelSHA256, want)
	}
	b.write("model.onnx", foreign(t, "tiny_linear", "fp32"), 0o600)
	_, all = b.session("fp32")
	if got := all[0]; got.ModelSHA256 != hashOf(foreign(t, "tiny_linear", "fp32")) || got.Facts[factExternal] != "" {
		t.Errorf("without external data: %s, %v", got.ModelSHA256, got.Facts)
	}
}

// TestExternalDataInPlace: what a runtime cannot read or a model may not name is an error before a launch, and nothing is read that has
// no end. Links are those of the owner.
func TestExternalDataInPlace(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "w.bin")
	for name, c := range map[string]struct {
		location string
		make     func() error
		want     string
	}{
		"missing":   {"w.bin", func() error { return nil }, `its external data "w.bin": no such file or directory`},
		"above":     {"../w.bin", func() error { return nil }, `its external data "../w.bin": is outside the folder of the model`},
		"absolute":  {"/dev/zero", func() error { return nil }, `its external data "/dev/zero": is outside the folder of the model`},
		"pipe":      {"w.bin", func() error { return syscall.Mkfifo("w.bin", 0o600) }, "is not a regular file"},
		"folder":    {"w.bin", func() error { return os.Mkdir("w.bin", 0o700) }, "is not a regular file"},
		"device":    {"w.bin", func() error { return os.Symlink("/dev/zero", "w.bin") }, "is not a regular file"},
		"link":      {"w.bin", func() error { return os.Symlink(outside, "w.bin") }, ""},
		"dots":      {"sub/../w.bin", func() error { return os.WriteFile("w.bin", nil, 0o600) }, ""},
		"odd bytes": {"w\xff\n.bin", func() error { return nil }, `its external data "w\xff\n.bin": no such file or directory`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, external(c.location), "{}")
			b.write(outside, []byte("numbers"), 0o600)
			if err := c.make(); err != nil {
				t.Fatal(err)
			}
			_, all := b.session("fp32")
			if got := refused(all[0]); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestDescribed: the facts of a model are those of the file that runs, which the worker is told.
func TestDescribed(t *testing.T) {
	b := newBench(t, foreign(t, "tiny_linear", "fp32"), everyTool)
	_, all := b.session("fp32, fp16")
	for _, got := range all {
		facts := maps.Collect(func(yield func(string, string) bool) {
			for key, value := range got.Facts {
				if strings.HasPrefix(key, "model.") && !yield(key, value) {
					return
				}
			}
		})
		precision := got.Point.Precision
		if want := map[string]string{"model.opset": "13", "model.parameters": "4160", "model.weights." + precision: "4160"}; !maps.Equal(facts, want) {
			t.Errorf("%s: %v, want %v", precision, facts, want)
		}
		if settings := string(got.SpecOf(sweep.Launch{Point: got.Point}, "").Program.Settings); !strings.Contains(settings, `"described":{"precision":"`+precision+`"}`) {
			t.Errorf("%s: the worker is told %s", precision, settings)
		}
	}
	text := "backend: onnxrt\nmodel: builtin:tiny_linear\npython: ./python.sh\ngrid: {precision: [int8]}\n"
	s, err := sweep.Read("s.yaml", strings.NewReader(text), sweep.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	got := b.target(New(Options{Sweep: s, Sides: []Side{{}}}), &s.Points[0])
	if got.Facts["model.weights.int8"] != "4096" || got.Facts["model.parameters"] != "4160" {
		t.Errorf("%s; %v", refused(got), got.Facts)
	}
}
