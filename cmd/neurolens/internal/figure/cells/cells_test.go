package cells

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

var update = flag.Bool("update", false, "write the golden files anew")

// looks are the ways in which golden files have the examples.
var looks = []struct {
	name string
	page term.Page
	o    Options
}{
	{"80", term.Page{Width: 80}, Options{}},
	{"40", term.Page{Width: 40}, Options{}},
	{"80.ascii", term.Page{Width: 80}, Options{ASCII: true}},
	{"80.color", term.Page{Width: 80, Color: true}, Options{}},
}

// TestGolden: every kind looks as it did when somebody looked at it.
func TestGolden(t *testing.T) {
	for name, f := range examples() {
		for _, look := range looks {
			path := filepath.Join("testdata", fmt.Sprintf("%s.%s.txt", name, look.name))
			got := strings.Join(Text(f, look.page, look.o), "\n") + "\n"
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s:\n%swant\n%s", path, got, want)
			}
		}
	}
}
