package formats

import "testing"

// TestChapterOfPath: the chapter of a file of expectations is the folder that it lies in.
func TestChapterOfPath(t *testing.T) {
	for file, want := range map[string]string{
		"book/ch13/expectations_b200.json": "ch13", "ch1/expectations_b200.json": "ch1", "expectations_ch1.json": "", "chapter/x.json": "", "": "",
	} {
		if got := chapterOfPath(file); got != want {
			t.Errorf("%q: got %q, want %q", file, got, want)
		}
	}
}
