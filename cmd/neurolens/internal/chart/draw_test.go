package chart

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	update   = flag.Bool("update", false, "write the golden files")
	pictures = flag.String("pictures", "", "a folder to write the samples to as PNG")
)

// TestGolden: the pictures are those that were looked at last. With -pictures, they can be looked at.
func TestGolden(t *testing.T) {
	for name, f := range samples() {
		if *pictures != "" {
			keep(t, name)
		}
		const maxGolden = 260 // a golden file is small
		if f.Marks() > maxGolden || name == "forest-30" || name == "histories" || name == "releases" {
			continue
		}
		var b bytes.Buffer
		ok(t, SVG(&b, f, ImageOptions{Prefix: name, Embedded: true}))
		golden := filepath.Join("testdata", name+".svg")
		if *update {
			ok(t, os.WriteFile(golden, b.Bytes(), 0o666))
		}
		want, err := os.ReadFile(golden)
		ok(t, err)
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s is drawn otherwise than in %s: look at it (-pictures FOLDER), then write it with -update", name, golden)
		}
	}
}

// keep writes a sample as PNG, light and dark, and as an SVG of its own.
func keep(t *testing.T, name string) {
	t.Helper()
	for _, dark := range []bool{false, true} {
		var b bytes.Buffer
		ok(t, PNG(&b, samples()[name], ImageOptions{Dark: dark}))
		file := name + ".png"
		if dark {
			file = name + "-dark.png"
		}
		ok(t, os.WriteFile(filepath.Join(*pictures, file), b.Bytes(), 0o666))
	}
	var b bytes.Buffer
	ok(t, SVG(&b, samples()[name], ImageOptions{}))
	ok(t, os.WriteFile(filepath.Join(*pictures, name+".svg"), b.Bytes(), 0o666))
}

// TestUntitled: a page that has title and notes as texts of its own has them in no picture but for people who do not see it.
func TestUntitled(t *testing.T) {
	var b bytes.Buffer
	f := &Figure{Kind: Lines, Title: "the title", Notes: []string{"a note"}, Series: []Series{{Style: Line, Marks: []Mark{{X: 1, Y: 2}, {X: 2, Y: 3}}}}}
	ok(t, SVG(&b, f, ImageOptions{Untitled: true}))
	before, after, _ := strings.Cut(b.String(), "</desc>")
	if !strings.Contains(before, "the title") || !strings.Contains(before, "a note") || strings.Contains(after, "the title") || strings.Contains(after, "a note") {
		t.Error(b.String())
	}
}
