package term

import (
	"bytes"
	"testing"
)

// TestSpelled: a terminal without UTF-8 gets ASCII, a character for each, also where a write ends within one; others get what is written.
func TestSpelled(t *testing.T) {
	const text = "103 µs ± 2 %  ▁▅█ 名 −1 … ok\x1b[0m\n"
	for _, c := range []struct {
		terminal bool
		environ  map[string]string
		want     string
	}{
		{true, map[string]string{"LC_ALL": "C"}, "103 us ~ 2 %  _=# ? -1 ~ ok\x1b[0m\n"},
		{true, map[string]string{"LANG": "de_DE.ISO-8859-1"}, "103 us ~ 2 %  _=# ? -1 ~ ok\x1b[0m\n"},
		{true, map[string]string{"LC_ALL": "C.UTF-8", "LANG": "C"}, text},
		{true, map[string]string{"LC_CTYPE": "en_US.utf8", "LANG": "C"}, text},
		{true, nil, text},
		{false, map[string]string{"LC_ALL": "C"}, text},
	} {
		for _, each := range []int{1, 2, 5, len(text)} {
			var out bytes.Buffer
			w := ASCIIWriter(&out, c.terminal, func(name string) string { return c.environ[name] })
			for rest := []byte(text); len(rest) > 0; rest = rest[min(each, len(rest)):] {
				part := rest[:min(each, len(rest))]
				if n, err := w.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if out.String() != c.want {
				t.Errorf("%+v, %d at a time: %q, want %q", c, each, out.String(), c.want)
			}
		}
	}
}
