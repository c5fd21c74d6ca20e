package check

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// checkPacks checks the packs, several at once, and reports about them in order.
func (v *verifier) checkPacks(ctx context.Context) error {
	checks := make([]packCheck, len(v.packs))
	var next atomic.Int64
	var checking sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(v.packs)) {
		checking.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(checks) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				checks[i].unused, checks[i].err = v.checkPack(v.packs[i])
			}
		})
	}
	checking.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, c := range checks {
		name := v.packs[i].Path(schema.PacksDir)
		if c.unused != "" {
			v.add(Finding{Severity: SeverityNotice, Path: name, Problem: c.unused})
		}
		if err := v.note(name, remedyAside, c.err); err != nil {
			return err
		}
	}
	return nil
}

// packCheck is what is wrong with a pack.
type packCheck struct {
	unused string // why no reader uses it
	err    error
}

// checkPack compares the rows of a pack with those of the files that it covers, by the sums of their hashes. unused says
// why no reader uses it; then there is nothing to compare.
func (v *verifier) checkPack(pack schema.SealedFile) (unused string, err error) {
	name := pack.Path(schema.PacksDir)
	if err := runfile.CheckHash(v.files, name); err != nil {
		return "", err
	}
	covers, err := schema.PackCovers(v.files, pack)
	if err != nil {
		return "", runfile.InFile(name, err)
	}
	var want rowsSum
	comparable := true
	for _, id := range covers {
		c := v.sealed[id]
		if c == nil {
			return fmt.Sprintf("it is not used, because it covers the sealed file %s, which is missing", id), nil
		}
		comparable = comparable && c.whole
		want.addAll(c.sum)
	}
	rows, err := v.readPack(name)
	if err != nil {
		return "", err
	}
	if err := checkName(pack, rows.sum.rows, rows.first, rows.last); err != nil {
		return "", runfile.InFile(name, err)
	}
	if v.lessTwice(&want, covers, rows.twice); comparable && rows.sum != want {
		return "", runfile.Damagedf(name, "its %d rows differ from the %d rows of the files that it covers", rows.sum.rows, want.rows)
	}
	return "", nil
}

// packContent summarizes the rows of a pack.
type packContent struct {
	sum         rowsSum
	first, last schema.ULID
	twice       map[schema.ULID][16]byte // hashes of rows whose runs are in several sealed files
}

// readPack reads the rows of a pack.
func (v *verifier) readPack(name string) (p packContent, err error) {
	rows, err := runfile.OpenRows(v.files, name, schema.Runs)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	p.twice = map[schema.ULID][16]byte{}
	for rows.Row != nil {
		digest, _ := rows.Row[runfile.DigestPlace].(string)
		run, err := newFoundRun(rows.RunID(), digest, rows.Row)
		if err != nil {
			return p, runfile.InFile(name, err)
		}
		if p.sum.rows == 0 {
			p.first = run.id
		}
		p.last = run.id
		p.sum.add(run.row)
		if _, ok := slices.BinarySearchFunc(v.runs.twice, run.id, compareFound); ok {
			p.twice[run.id] = run.row
		}
		if err := rows.Advance(); err != nil {
			return p, err
		}
	}
	return p, nil
}

func compareFound(r foundRun, id schema.ULID) int { return r.id.Compare(id) }

// lessTwice corrects the sum of the rows of files for runs that are in several of them: a pack has only one of these
// rows.
func (v *verifier) lessTwice(sum *rowsSum, covers []schema.ULID, taken map[schema.ULID][16]byte) {
	for same := range sameRuns(v.runs.twice) {
		var rows [][16]byte
		for _, r := range same {
			s := disk.Classify(v.runs.files[r.file])
			if _, ok := slices.BinarySearchFunc(covers, s.Sealed.ID, schema.ULID.Compare); ok && s.Kind == disk.KindSealed {
				rows = append(rows, r.row)
			}
		}
		row, ok := taken[same[0].id]
		if at := slices.Index(rows, row); ok && at >= 0 {
			for _, other := range slices.Delete(rows, at, at+1) {
				sum.remove(other)
			}
		}
	}
}
