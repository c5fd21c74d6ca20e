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
		if err := SVG(&b, f, ImageOptions{Prefix: name, Embedded: true}); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
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
		if err := PNG(&b, samples()[name], ImageOptions{Dark: dark}); err != nil {
			t.Fatal(err)
		}
		file := name + ".png"
		if dark {
			file = name + "-dark.png"
		}
		if err := os.WriteFile(filepath.Join(*pictures, file), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := SVG(&b, samples()[name], ImageOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*pictures, name+".svg"), b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestUntitled: a page that has title and notes as texts of its own has them in no picture but for people who do not see it.
func TestUntitled(t *testing.T) {
	var b bytes.Buffer
	f := &Figure{Kind: Lines, Title: "the title", Notes: []string{"a note"}, Series: []Series{{Style: Line, Marks: []Mark{{X: 1, Y: 2}, {X: 2, Y: 3}}}}}
	if err := SVG(&b, f, ImageOptions{Untitled: true}); err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(b.String(), "</desc>")
	if !strings.Contains(before, "the title") || !strings.Contains(before, "a note") || strings.Contains(after, "the title") || strings.Contains(after, "a note") {
		t.Error(b.String())
	}
}
