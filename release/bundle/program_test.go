package bundle

import "testing"

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
