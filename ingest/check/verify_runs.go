package check

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"runtime"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// runsCheck is what Verify found in one file of runs, sealed or live.
type runsCheck struct {
	err     error // of the content of a file, or another
	remedy  remedy
	sealed  *sealedCheck // nil for a live file
	live    schema.LiveFile
	counted bool // its runs are not in another file as well that counts instead
	runs    []foundRun
	sum     rowsSum
	loss    Loss     // what goes when the file is repaired
	lacking int      // runs of which events say that they have lost rows, and they have
	back    []string // likewise, and they have not
}

// checkRuns reads all runs, from the earliest on: then it needs to know only the runs of files that overlap to tell
// which are there twice. Several files are read at once.
func (v *verifier) checkRuns(ctx context.Context) error {
	checks := v.ordered()
	queue := make(chan chan *runsCheck, runtime.GOMAXPROCS(0))
	go func() {
		defer close(queue)
		for _, c := range checks {
			done := make(chan *runsCheck, 1)
			queue <- done // waits while as many are being read
			go func() {
				if ctx.Err() == nil {
					v.readRuns(c)
				}
				done <- c
			}()
		}
	}()
	var failed error
	at := 0
	for done := range queue {
		c := <-done
		at++
		if failed == nil {
			failed = cmp.Or(ctx.Err(), v.take(c))
		}
		if failed == nil {
			horizon := int64(math.MaxInt64)
			if at < len(checks) {
				horizon = checks[at].first()
			}
			v.runs.sweep(horizon)
		}
		c.runs = nil
	}
	if failed != nil {
		return failed
	}
	v.runs.sweep(math.MaxInt64)
	return v.reportTwice()
}

// ordered are the files of runs by the time of their first one.
func (v *verifier) ordered() []*runsCheck {
	var checks []*runsCheck
	for _, c := range v.all {
		checks = append(checks, &runsCheck{sealed: c, counted: c.superseded == nil})
	}
	for _, f := range v.live {
		checks = append(checks, &runsCheck{live: f, counted: !v.isSealed(f)})
	}
	slices.SortFunc(checks, func(a, b *runsCheck) int {
		return cmp.Or(cmp.Compare(a.first(), b.first()), cmp.Compare(a.path(), b.path()))
	})
	return checks
}

// isSealed tells whether a file waits in a committed claim for its end.
func (v *verifier) isSealed(f schema.LiveFile) bool {
	if f.Claim == nil || v.sealed[f.Claim.ID] == nil {
		return false
	}
	plan, err := schema.ReadPlan(v.files, *f.Claim)
	return err != nil || plan.Has(f.Run)
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

// take adds what was found in a file to what is known.
func (v *verifier) take(c *runsCheck) error {
	if c.counted {
		v.runs.add(c.path(), c.runs)
	}
	if c.err != nil {
		return v.noteLoss(c.path(), c.remedy, c.loss, c.err)
	}
	if c.sealed != nil {
		c.sealed.whole, c.sealed.sum = true, c.sum
	}
	v.noteLost(c)
	return nil
}

// noteLost says what became of the runs of which events say that they have lost rows.
func (v *verifier) noteLost(c *runsCheck) {
	v.done.Lost += c.lacking
	if c.lacking > 0 {
		problem := fmt.Sprintf("%d of its %s have lost samples or ops to damage, as an event says; the rest of them is whole", c.lacking, counted(len(c.runs), "run"))
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: problem})
	}
	if len(c.back) > 0 {
		problem := fmt.Sprintf("%s of it are whole, and an event says that they have lost samples or ops", counted(len(c.back), "run"))
		v.add(Finding{Severity: SeverityNotice, Path: c.path(), Problem: problem, remedy: remedyFound, found: c.back})
	}
}

// readRuns reads one file of runs.
func (v *verifier) readRuns(c *runsCheck) {
	if c.sealed == nil {
		c.remedy = remedyAside
		live, err := runfile.ReadLiveFile(v.files, c.live)
		if err == nil {
			err = c.addRun(live)
		}
		if c.err = err; err != nil && c.counted {
			c.loss = Loss{Runs: 1}
		}
		return
	}
	c.remedy = remedySealed
	if c.err = c.readSealed(v.files, v.lost); errors.Is(c.err, schema.ErrDamaged) {
		c.salvage(v.files, v.lost)
	}
}

// salvage finds out what is left of a damaged sealed file. Of one whose claim still has the runs nothing goes.
func (c *runsCheck) salvage(f fs.FS, lost runfile.Lost) {
	c.runs, c.sum, c.lacking, c.back = nil, rowsSum{}, 0, nil
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
	if damages := s.Damages(); len(damages) > 0 { // in the file that is hit, of which the strict reader may name another
		c.err = damages[0]
	}
	if kept, err := claimKeeps(f, c.sealed.file); err == nil && !kept {
		c.loss = s.Loss
	}
}

// readSealed reads the runs of a sealed file and compares them with its name.
func (c *runsCheck) readSealed(f fs.FS, lost runfile.Lost) error {
	if by := c.sealed.superseded; by != nil {
		return runfile.Damagedf(c.path(), "a repair of it did not come to its end: %s has taken its place", by.Path(schema.RunsDir))
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
			c.back = append(c.back, live.RunID)
		}
	}
	var first, last schema.ULID
	if n := len(c.runs); n > 0 {
		first, last = c.runs[0].id, c.runs[n-1].id
	}
	return runfile.InFile(c.path(), checkName(c.sealed.file, len(c.runs), first, last))
}

// checkName compares the name of a file with the runs in it: their number, the first and the last.
func checkName(f schema.SealedFile, rows int, first, last schema.ULID) error {
	if rows == 0 {
		return fmt.Errorf("%w: it holds no run", schema.ErrDamaged)
	}
	if rows != f.Rows || first.Time().UnixMilli() != f.First || last.Time().UnixMilli() != f.Last {
		return fmt.Errorf("%w: it holds %d runs from %s to %s, and its name says otherwise", schema.ErrDamaged, rows, first, last)
	}
	if f.ID.Time().Before(last.Time()) {
		return fmt.Errorf("%w: it holds run %s, later than the time in its name", schema.ErrDamaged, last)
	}
	return nil
}

// addRun checks what a run says of itself, and notes it.
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
	return nil
}

// foundRun is a run of a store: what tells whether it is the same as another.
type foundRun struct {
	id     schema.ULID
	digest [16]byte
	row    [16]byte // of the hash of its row of runs
	file   int32    // where it is, for a runSweep
}

func newFoundRun(id, digest string, row []any) (foundRun, error) {
	var r foundRun
	var err error
	if r.id, err = schema.ParseULID(id); err != nil {
		return r, fmt.Errorf("%w: %w", schema.ErrDamaged, err)
	}
	b, err := hex.DecodeString(digest)
	if err != nil || copy(r.digest[:], b) != len(b) {
		return r, fmt.Errorf("%w: run %s has the digest %q", schema.ErrDamaged, id, digest)
	}
	sum := schema.RowHash(row)
	copy(r.row[:], sum[:])
	return r, nil
}
