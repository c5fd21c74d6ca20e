package schema

import "testing"

func TestNearestUnit(t *testing.T) {
	for name, want := range map[string]string{
		"usec": "us", "Seconds": "s", "mb": "MB", "kib/s": "KiB/s", "ms": "", "MJ": "", "mj": "", "widgets": "", "b": "", "": "", "tok/s": "",
	} {
		if got := NearestUnit(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
