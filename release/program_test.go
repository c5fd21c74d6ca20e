package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCheckTag: a tag has to be the program's version, and the program built from it, with nothing changed.
func TestCheckTag(t *testing.T) {
	good := facts{"neurolens": "0.1.0", "tag": "v0.1.0", "commit": "9f3c1d2", "modified": "false"}
	for _, c := range []struct{ tag, fact, value, want string }{
		{"v0.1.0", "", "", ""},
		{"", "tag", "", ""},
		{"v0.2.0", "", "", "the tag is v0.2.0, and the version of the program is 0.1.0"},
		{"0.1.0", "", "", "the tag is 0.1.0, and the version of the program is 0.1.0"},
		{"v0.1.0", "tag", "v0.1.0+dirty", `the tag is v0.1.0, and the program was built from "v0.1.0+dirty"`},
		{"v0.1.0", "modified", "true", `the program was not built from a clean checkout: commit "9f3c1d2", modified "true"`},
		{"v0.1.0", "commit", "", `the program was not built from a clean checkout: commit "", modified "false"`},
	} {
		f := facts{}
		for name, value := range good {
			f[name] = value
		}
		if c.fact != "" {
			f[c.fact] = c.value
		}
		got := ""
		if err := f.check(c.tag); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestWrite: the same files give the same bytes, whatever their dates and modes are.
func TestWrite(t *testing.T) {
	b := bundle{Name: "neurolens-1", Dir: tree(t, "LICENSE", "README.md"), Date: time.Unix(1e9, 0)}
	var archives [2]bytes.Buffer
	for i := range archives {
		if err := b.write(&archives[i]); err != nil {
			t.Fatal(err)
		}
		later := b.Date.AddDate(40, 0, 0)
		if err := errors.Join(os.Chtimes(filepath.Join(b.Dir, "LICENSE"), later, later), os.Chmod(filepath.Join(b.Dir, "README.md"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0].Bytes(), archives[1].Bytes()) {
		t.Error("packing twice gives other bytes")
	}
}
