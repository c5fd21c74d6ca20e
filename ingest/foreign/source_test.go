package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWaiting: nobody waits longer for a pipe than its context says.
func TestWaiting(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	sources, err := Sources([]string{stdinName}, r)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if _, err := sources[0].Open(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an open pipe: %v", err)
	}
	if _, err := Sources([]string{stdinName, stdinName}, r); err == nil {
		t.Error("standard input twice")
	}
}

// TestStoppedFile: a file is not read on when its context ends.
func TestStoppedFile(t *testing.T) {
	name := t.TempDir() + "/long"
	if err := os.WriteFile(name, []byte(strings.Repeat("a line\n", 1<<20)), 0o666); err != nil {
		t.Fatal(err)
	}
	sources, err := Sources([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	in, err := sources[0].Open(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	stop()
	var last error
	for _, line := range in.Lines() {
		last = line.Err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v", last)
	}
}

// TestLinks: the target of a link in a folder is read once, where it is walked. Nothing outside is read.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "secret")
	walked := filepath.Join(dir, "results")
	if err := errors.Join(os.MkdirAll(filepath.Join(walked, "run1"), 0o777), os.WriteFile(outside, nil, 0o666), os.WriteFile(filepath.Join(walked, "run1", "r.json"), []byte("{}"), 0o666),
		os.Symlink("run1/r.json", filepath.Join(walked, "latest")), os.Symlink(filepath.Join(walked, "run1", "r.json"), filepath.Join(walked, "latest2")),
		os.Symlink("run1", filepath.Join(walked, "last")), os.Symlink("..", filepath.Join(walked, "up")),
		os.Symlink("../secret", filepath.Join(walked, "out")), os.Symlink("nowhere", filepath.Join(walked, "gone"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, named := range []string{walked, "results"} {
		sources, err := Sources([]string{named}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range sources {
			in, err := s.Open(t.Context(), nil)
			if err == nil {
				err = in.Close()
			}
			got = append(got, fmt.Sprint(strings.TrimPrefix(s.Name, named+"/"), " ", err))
		}
		if want := []string{"gone no such file or directory", "out it is a link to a file outside the folder: name that file itself", "run1/r.json <nil>"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", named, got, want)
		}
	}
	sources, err := Sources([]string{filepath.Join(walked, "latest2"), filepath.Join(walked, "out")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		in, err := s.Open(t.Context(), nil)
		if err != nil {
			t.Fatalf("%s, which was named: %v", s.Name, err)
		}
		defer in.Close()
	}
}

// TestLines: ends of lines of all kinds, and lines longer than every buffer.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 3*headBytes+7)
	in := opened(t, "a\r\n\n"+long+"\r\n"+long+"\nlast")
	want := []string{"a", "", long, long, "last"}
	for n, line := range in.Lines() {
		if n > len(want) || line.Err != nil || line.Text != want[n-1] {
			t.Fatalf("line %d: %.20q, %v", n, line.Text, line.Err)
		}
		if n == len(want) {
			want = nil
		}
	}
	if want != nil {
		t.Error("lines are missing")
	}
}
