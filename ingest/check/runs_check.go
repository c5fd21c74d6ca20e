package check

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// runsCheck is the result of verifying one file of runs, sealed or live.
type runsCheck struct {
	err      error // about the content of a file, or of the file system
	remedy   remedy
	sealed   *sealedCheck // nil for a live file
	live     schema.LiveFile
	counted  bool // no other file with its runs counts instead
	runs     []foundRun
	sum      rowsSum
	loss     Loss // lost even after a repair
	artifact func(a schema.Artifact) (artifactState, error)
	states   map[artifactKey]artifactState // of the artifacts of its runs so far
	absent   []schema.Artifact             // missing artifacts of its runs
	resized  []schema.Artifact             // artifacts whose size differs from the recorded one
	unnamed  []schema.Artifact             // artifacts whose kind is no word
	lacking  int                           // runs with lost rows, as events record
	complete []string                      // runs with all rows, although events record lost ones
}

func (c *runsCheck) first() int64 {
	if c.sealed != nil {
		return c.sealed.file.First
	}
	return c.live.Run.Time().UnixMilli()
}

func (c *runsCheck) path() string {
	if c.sealed != nil {
		return c.sealed.file.Path(schema.RunsDir)
	}
	return c.live.Path()
}

// salvage determines which rows of a damaged sealed file can be saved. If its claim still has the runs, nothing is lost.
func (c *runsCheck) salvage(f fs.FS, lost runfile.Lost) {
	c.runs, c.sum, c.absent, c.resized, c.unnamed, c.lacking, c.complete = nil, rowsSum{}, nil, nil, nil, 0, nil
	s, err := runfile.Salvage(runfile.InputOf(f, c.sealed.file), lost, func(r runfile.Salvaged) error {
		run, err := newFoundRun(r.RunID, r.Digest, r.Run)
		if err == nil {
			c.runs = append(c.runs, run)
		}
		return err
	})
	if err != nil {
		if !errors.Is(err, schema.ErrDamaged) {
			c.err = err
		}
		return
	}
	if damages := s.Damages(); len(damages) > 0 { // the strict reader may have named another file than the damaged one
		c.err = damages[0]
	}
	if kept, err := claimKeeps(f, c.sealed.file); err == nil && !kept {
		c.loss = s.Loss
	}
}

// readSealed reads the runs of a sealed file and compares them with its name.
func (c *runsCheck) readSealed(f fs.FS, lost runfile.Lost) error {
	if by := c.sealed.superseded; by != nil {
		return runfile.Damagedf(c.path(), "its repair was interrupted: %s replaces it", by.Path(schema.RunsDir))
	}
	r := runfile.ReadSealed(f, c.sealed.file)
	r.Lost = lost
	defer r.Close()
	for {
		live, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.addRun(live)
		}
		if err != nil {
			return runfile.InFile(c.path(), err)
		}
		switch {
		case r.Lacks:
			c.lacking++
		case lost[live.RunID] != nil:
			c.complete = append(c.complete, live.RunID)
		}
	}
	var first, last schema.ULID
	if n := len(c.runs); n > 0 {
		first, last = c.runs[0].id, c.runs[n-1].id
	}
	return runfile.InFile(c.path(), checkName(c.sealed.file, len(c.runs), first, last))
}

// checkName compares the name of a file with its content: the number of runs, and the times of the first and the last.
func checkName(f schema.SealedFile, rows int, first, last schema.ULID) error {
	if rows == 0 {
		return fmt.Errorf("%w: it contains no runs", schema.ErrDamaged)
	}
	if rows != f.Rows || first.Time().UnixMilli() != f.First || last.Time().UnixMilli() != f.Last {
		return fmt.Errorf("%w: it contains %d runs from %s to %s, but its name says otherwise", schema.ErrDamaged, rows, first, last)
	}
	if f.ID.Time().Before(last.Time()) {
		return fmt.Errorf("%w: it contains run %s, which is later than the time in its name", schema.ErrDamaged, last)
	}
	return nil
}

// addRun checks that a run is consistent, and adds it.
func (c *runsCheck) addRun(live *table.Live) error {
	if err := runfile.CheckRow(live); err != nil {
		return err
	}
	run, err := newFoundRun(live.RunID, live.Digest, live.Run)
	if err != nil {
		return err
	}
	c.runs = append(c.runs, run)
	c.sum.add(run.row)
	for _, a := range schema.ArtifactsOf(live.Run) {
		if err := c.addArtifact(a); err != nil {
			return err
		}
	}
	return nil
}

// addArtifact checks an artifact of a run.
func (c *runsCheck) addArtifact(a schema.Artifact) error {
	if a.Kind != "" && !schema.IsArtifactKind(a.Kind) {
		c.unnamed = append(c.unnamed, a)
	}
	key := artifactKey{hash: a.SHA256}
	if a.Bytes != nil {
		key.bytes, key.sized = *a.Bytes, true
	}
	state, known := c.states[key]
	if !known {
		var err error
		if state, err = c.artifact(a); err != nil {
			return err
		}
		if c.states == nil {
			c.states = map[artifactKey]artifactState{}
		}
		c.states[key] = state
	}
	switch state {
	case artifactMissing:
		c.absent = append(c.absent, a)
	case artifactResized:
		c.resized = append(c.resized, a)
	case artifactFine:
	}
	return nil
}

// artifactState is the outcome of the check of an artifact.
type artifactState int

const (
	artifactFine    artifactState = iota
	artifactMissing               // it should be in the store, but is not
	artifactResized               // its size differs from the recorded one
)

// artifactKey identifies the content of an artifact as a run describes it. Artifacts with one key are checked once.
type artifactKey struct {
	hash  string
	bytes int64
	sized bool
}

// foundRun identifies a run of a store and its content.
type foundRun struct {
	id     schema.ULID
	digest [16]byte
	row    [16]byte // beginning of the hash of its row of runs
	file   int32    // index of its file in runSweep.files
}

func newFoundRun(id, digest string, row []any) (foundRun, error) {
	var r foundRun
	var err error
	if r.id, err = schema.ParseULID(id); err != nil {
		return r, fmt.Errorf("%w: %w", schema.ErrDamaged, err)
	}
	b, err := hex.DecodeString(digest)
	if err != nil || copy(r.digest[:], b) != len(b) {
		return r, fmt.Errorf("%w: run %s has an invalid digest, %q", schema.ErrDamaged, id, digest)
	}
	sum := schema.RowHash(row)
	copy(r.row[:], sum[:])
	return r, nil
}
