package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestExitCode: a store that was left because of an interrupt is not to blame.
func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{usageErrorf("no"), exitInput},
		{storeError{fmt.Errorf("verifying: %w", schema.ErrDamaged)}, exitStore},
		{storeError{fmt.Errorf("verifying: %w", context.Canceled)}, exitOther}, // which the signal's own code outranks
		{errors.New("no"), exitOther},
		{fmt.Errorf("report: %w", files.OfPlace(files.Replace(filepath.Join(t.TempDir(), "none", "a.html"), nil))), exitInput},
		{files.Replace(filepath.Join(t.TempDir(), "none", "run.json"), nil), exitOther}, // of a folder of which it is a part
	} {
		valuetest.Equal(t, exitCode(c.err), c.want, c.err, "exit")
	}
	a := &app{getenv: func(string) string { return "" }}
	cmd := newNoteCommand(a)
	if err := annotate(a, cmd, annotation{events: []ingest.Annotation{{Kind: schema.EventNote, Value: "caf\xe9"}}}); exitCode(err) != exitInput {
		t.Errorf("a note that is not UTF-8: %v", err)
	}
}

// TestArrowTerminal: a terminal gets no stream.
func TestArrowTerminal(t *testing.T) {
	dir := t.TempDir()
	programtest.FillStore(t, dir+"/store", 1, 3)
	for _, argv := range [][]string{{"query", "FROM runs"}, {"export", "-"}} {
		var out, errs strings.Builder
		a := &app{stdout: &out, stderr: &errs, getenv: func(string) string { return "" }, now: time.Now, terminal: true, width: 80}
		code := a.run(append(argv, "--format", "arrow", "--store", dir+"/store"))
		if code != exitInput || out.Len() > 0 || !strings.Contains(errs.String(), " cannot be shown on a terminal: ") {
			t.Errorf("%v: exit %d, %d bytes, %s", argv, code, out.Len(), errs.String())
		}
	}
}
