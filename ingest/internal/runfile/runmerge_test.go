package runfile

import (
	"context"
	"io"
	"testing"

	"github.com/neurolens/neurolens/schema/table"
)

// someRuns gives runs of those ids.
type someRuns struct{ ids []string }

func (s *someRuns) From() string { return s.ids[0] }
func (s *someRuns) Close()       {}

func (s *someRuns) Next() (*table.Live, error) {
	if len(s.ids) == 0 {
		return nil, io.EOF
	}
	id := s.ids[0]
	s.ids = s.ids[1:]
	return &table.Live{RunID: id, Digest: id}, nil
}

// TestMergeLetsGo has readers given up at their end: each holds what it has read of its files.
func TestMergeLetsGo(t *testing.T) {
	t.Parallel()
	runs := Merge([]Reader{&someRuns{[]string{"a", "c"}}, &someRuns{[]string{"b"}}, &someRuns{[]string{"c", "d"}}})
	got := ""
	if err := EachRun(context.Background(), runs, func(live *table.Live) error {
		got += live.RunID
		return nil
	}); err != nil || got != "abcd" {
		t.Errorf("%q, %v", got, err)
	}
	for _, in := range runs.inputs[:cap(runs.inputs)] {
		if in != nil {
			t.Error("a reader is kept after its last run")
		}
	}
}
