package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/table"
)

// Limits of the memory that AppendAll uses: two batches, each of which becomes a sealed file.
const (
	bulkRuns  = 122_880
	bulkBytes = 64 << 20
)

// Appended counts the runs that AppendAll has stored.
type Appended struct {
	Added     int
	Skipped   int // runs that were already in the store, or that the input repeats
	Differing int // skipped runs that have other values in the store; the stored ones stay unchanged
}

// AppendAll stores many runs directly in sealed files, with the summaries of their samples: the runs of an import or a merge. It skips a
// run whose id is already in the store or came before, so a second call adds nothing. The runs may come in any order; do not change them
// until AppendAll returns. It takes bounded memory: two batches, and the ids of up to two million runs of the store.
//
// Runs are acknowledged file by file. If AppendAll returns an error, the runs of the files before are stored; all others are not, and
// can be appended again. If the file system has locks, AppendAll and Merge of all processes take turns in one store.
func (s *Store) AppendAll(runs iter.Seq2[schema.Valid, error]) (Appended, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return Appended{}, fmt.Errorf("appending to store %s: it is closed", s.dir)
	}
	unlock, err := s.files.Lock(context.Background())
	if err != nil {
		return Appended{}, fmt.Errorf("appending to store %s: %w", s.dir, err)
	}
	defer unlock()
	disk.RemoveOldTemps(s.files, time.Now())
	b := newBulk(s.files, s.sealer.Version, bulkBytes)
	err = b.all(runs)
	if b.done.Added > 0 {
		s.mu.Lock()
		s.sealer.Made++
		s.mu.Unlock()
	}
	if err != nil {
		return b.done, fmt.Errorf("appending to store %s: %w", s.dir, err)
	}
	return b.done, nil
}

// bulk is the state of one AppendAll.
type bulk struct {
	files   disk.Files
	version string
	bytes   int             // limit of the memory for runs
	runs    []*bulkRun      // of the batch that is being stored
	synced  map[string]bool // directories with skipped runs
	seen    seenFiles
	done    Appended
}

func newBulk(f disk.Files, version string, bytes int) bulk {
	return bulk{
		files: f, version: version, bytes: bytes, synced: map[string]bool{},
		seen: seenFiles{map[schema.SealedFile]bool{}, map[schema.ULID]shortDigest{}},
	}
}

// bulkRun is a run with its id.
type bulkRun struct {
	id     schema.ULID
	run    schema.Run
	digest string
}

// all stores runs batch by batch: while one batch is stored, the next is collected.
func (b *bulk) all(runs iter.Seq2[schema.Valid, error]) error {
	batches, failed := make(chan []*bulkRun), make(chan error, 1)
	go func() {
		defer close(failed)
		for batch := range batches {
			if err := b.store(batch); err != nil {
				failed <- err
				return
			}
		}
	}()
	err := b.take(runs, func(batch []*bulkRun) error {
		select {
		case batches <- batch:
			return nil
		case err := <-failed:
			return err
		}
	})
	close(batches)
	return cmp.Or(err, <-failed) // batches that were sent are stored, even if others failed
}

// take collects runs in batches of half the memory limit, because two batches are in memory.
func (b *bulk) take(runs iter.Seq2[schema.Valid, error], send func([]*bulkRun) error) error {
	var batch []*bulkRun
	size := 0
	for valid, err := range runs {
		if err != nil {
			return err
		}
		run := valid.Run()
		id, err := schema.ParseULID(run.RunID)
		if err != nil {
			return fmt.Errorf("run_id: %w", err)
		}
		batch = append(batch, &bulkRun{id: id, run: run})
		size += runSize(&run)
		if size < b.bytes/2 && len(batch) < bulkRuns/2 {
			continue
		}
		if err := send(batch); err != nil {
			return err
		}
		batch, size = nil, 0
	}
	return send(batch)
}

// runSize estimates the memory of a run, in bytes.
func runSize(r *schema.Run) int {
	const fixed, entry, op = 3 << 10, 64, 512
	size := fixed + len(r.Error) + op*len(r.Ops)
	for _, m := range []map[string]string{r.Params, r.Applied, r.Tags, r.Env.Facts, r.Env.Missing} {
		for key, value := range m {
			size += entry + len(key) + len(value)
		}
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		size += op + 8*(cap(m.Ticks)+cap(m.Reals)+cap(m.WarmupTicks)+cap(m.WarmupReals)+cap(m.AtNS)+cap(m.IterationsPerSample))
	}
	return size
}

// store writes the runs of a batch that are not in the store into one sealed file.
func (b *bulk) store(batch []*bulkRun) error {
	b.runs = batch
	slices.SortStableFunc(b.runs, func(x, y *bulkRun) int { return x.id.Compare(y.id) })
	known, err := b.dropKnown()
	if err != nil {
		return err
	}
	doubled := b.dropDoubled()
	if len(b.runs) > 0 {
		b.complete()
		if err := b.write(); err != nil {
			return err
		}
	}
	b.done.Added += len(b.runs)
	b.done.Skipped += doubled.Skipped + known.Skipped
	b.done.Differing += doubled.Differing + known.Differing
	b.runs = nil
	return nil
}

// complete orders the rows of each run, and computes summaries and digests, on all processors.
func (b *bulk) complete() {
	var wg sync.WaitGroup
	part := max(1, (len(b.runs)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for runs := range slices.Chunk(b.runs, part) {
		wg.Go(func() {
			var digester schema.Digester
			for i := range runs {
				r := &runs[i].run
				r.Metrics, r.Ops = slices.Clone(r.Metrics), slices.Clone(r.Ops) // the caller's run stays unchanged
				slices.SortFunc(r.Metrics, func(x, y schema.Metric) int { return strings.Compare(x.Name, y.Name) })
				slices.SortFunc(r.Ops, func(x, y schema.Op) int { return cmp.Compare(x.Index, y.Index) })
				stat.Complete(r)
				runs[i].digest = digester.Of(r)
			}
		})
	}
	wg.Wait()
}

// write writes the sealed file of the runs in tmp/, and then gives it its name.
func (b *bulk) write() error {
	if err := disk.MakeDirs(b.files, schema.TmpDir); err != nil {
		return err
	}
	names := map[*schema.Table]string{}
	for _, t := range runfile.Tables {
		names[t] = path.Join(schema.TmpDir, schema.NewULID(time.Now()).String()+disk.TempSuffix)
	}
	set := runfile.NewSet(b.files, b.version, func(t *schema.Table) string { return names[t] })
	defer set.Remove()
	if err := b.writeTo(set); err != nil {
		return err
	}
	ids, sum := make([]schema.ULID, len(b.runs)), sha256.New()
	for i, r := range b.runs {
		ids[i] = r.id
		_, _ = io.WriteString(sum, r.run.RunID+r.digest)
	}
	sealed := schema.NewSealedFile(runfile.ContentID(ids[len(ids)-1].Time(), sum), ids)
	if err := set.Publish(sealed); err != nil {
		return err
	}
	if b.seen.takes(len(b.runs)) {
		for i := range b.runs {
			b.seen.add(b.runs[i].id, b.runs[i].digest)
		}
		b.seen.files[sealed] = true
	}
	return nil
}

// writeTo writes the files of all tables at the same time, and fsyncs them.
func (b *bulk) writeTo(set *runfile.Set) error {
	var samples, ops int
	for _, r := range b.runs {
		samples, ops = samples+len(r.run.Metrics), ops+len(r.run.Ops)
	}
	tables := []bulkTable{{schema.Runs, len(b.runs), writeRun}, {schema.Samples, samples, writeMetrics}, {schema.Ops, ops, writeOps}}
	tables = slices.DeleteFunc(tables, func(t bulkTable) bool { return t.rows == 0 })
	writers, errs := make([]*table.Writer, len(tables)), make([]error, len(tables))
	for i, t := range tables {
		var err error
		if writers[i], err = set.Writer(t.table); err != nil {
			return err
		}
	}
	var wg sync.WaitGroup
	for i, t := range tables {
		wg.Go(func() { errs[i] = t.writeAll(writers[i], b.runs, func() error { return set.FinishTable(t.table) }) })
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// bulkTable is a table of a batch.
type bulkTable struct {
	table *schema.Table
	rows  int // of all runs
	write func(w *table.Writer, r *bulkRun) error
}

// writeAll writes the rows of runs, and then finishes the file.
func (t *bulkTable) writeAll(w *table.Writer, runs []*bulkRun, finish func() error) error {
	for _, r := range runs {
		if err := t.write(w, r); err != nil {
			return err
		}
	}
	return finish()
}

func writeRun(w *table.Writer, r *bulkRun) error { return w.WriteRun(&r.run, r.digest) }

func writeMetrics(w *table.Writer, r *bulkRun) error {
	for i := range r.run.Metrics {
		if err := w.WriteMetric(r.run.RunID, &r.run.Metrics[i]); err != nil {
			return err
		}
	}
	return nil
}

func writeOps(w *table.Writer, r *bulkRun) error {
	for i := range r.run.Ops {
		if err := w.WriteOp(r.run.RunID, &r.run.Ops[i]); err != nil {
			return err
		}
	}
	return nil
}

// dropKnown removes the runs that are already in the store. Skipping a run acknowledges it, but its writer may have died
// before the last fsync, so that fsync is repeated here.
func (b *bulk) dropKnown() (dropped Appended, err error) {
	if len(b.runs) == 0 {
		return dropped, nil
	}
	ids := make([]schema.ULID, len(b.runs))
	for i := range b.runs {
		ids[i] = b.runs[i].id
	}
	known, err := b.known(ids)
	for attempt := 1; errors.Is(err, runfile.ErrMoved) && attempt < runfile.MaxMoves; attempt++ {
		known, err = b.known(ids)
	}
	if err != nil {
		return dropped, err
	}
	b.runs = slices.DeleteFunc(b.runs, func(r *bulkRun) bool {
		digest, there := known[r.id]
		if there {
			dropped.skip(r, digest)
		}
		return there
	})
	return dropped, nil
}

// dropDoubled removes runs that appear earlier in the batch, which is sorted.
func (b *bulk) dropDoubled() (dropped Appended) {
	kept := b.runs[:0]
	for _, r := range b.runs {
		if n := len(kept); n > 0 && kept[n-1].id == r.id {
			dropped.skip(r, schema.DigestOf(&kept[n-1].run))
			continue
		}
		kept = append(kept, r)
	}
	b.runs = kept
	return dropped
}

// skip counts a run that the store or an earlier part of the input has, with a digest that begins with has.
func (a *Appended) skip(r *bulkRun, digest string) {
	a.Skipped++
	if !strings.HasPrefix(schema.DigestOf(&r.run), digest) {
		a.Differing++
	}
}

// known returns the runs, among the given ones in ascending order, that are in the store and on disk, with the beginnings of their
// digests. It fails with errMoved if one of them is being sealed.
func (b *bulk) known(ids []schema.ULID) (map[schema.ULID]string, error) {
	// Live runs are looked up first, because they move to sealed files. The sealed files of the listing are not used.
	listing, err := schema.List(b.files, schema.Scope{Newest: 1})
	if err != nil {
		return nil, err
	}
	known := map[schema.ULID]string{}
	for _, f := range listing.Live {
		if _, found := slices.BinarySearchFunc(ids, f.Run, schema.ULID.Compare); found {
			if known[f.Run], err = b.live(f); err != nil {
				return nil, err
			}
		}
	}
	near, err := runfile.Near(b.files, ids)
	if err != nil {
		return nil, err
	}
	live := len(known)
	for _, sealed := range near {
		if b.seen.files[sealed] {
			continue
		}
		if err := b.look(sealed, ids, known); err != nil {
			return nil, err
		}
	}
	b.seen.find(ids, known)
	if len(known) > live {
		return known, b.syncSealed(schema.MonthOf(ids[0].Time()))
	}
	return known, nil
}

// look adds the digests of the runs that a sealed file contains, or caches its content.
func (b *bulk) look(sealed schema.SealedFile, ids []schema.ULID, known map[schema.ULID]string) error {
	if !b.seen.takes(sealed.Rows) {
		return runfile.ReadDigests(b.files, sealed, ids, known)
	}
	if err := runfile.EachDigest(b.files, sealed, b.seen.add); err != nil {
		return err
	}
	b.seen.files[sealed] = true
	return nil
}

// live returns the digest of a live run on disk, or empty if the run cannot be read.
func (b *bulk) live(f schema.LiveFile) (digest string, err error) {
	if err := b.sync(path.Dir(f.Path())); err != nil {
		return "", runfile.Moved(err)
	}
	switch live, err := runfile.ReadLiveFile(b.files, f); {
	case err == nil:
		return live.Digest, nil
	case runfile.AboutContent(err):
		return "", nil
	default:
		return "", runfile.Moved(err)
	}
}

// seenFiles are the runs of sealed files that were read or written. Without them, ids that carry no time would make every
// batch read all files again.
type seenFiles struct {
	files map[schema.SealedFile]bool
	runs  map[schema.ULID]shortDigest
}

// shortDigest is the beginning of a digest. It is short because very many are held in memory.
type shortDigest [8]byte

// takes reports whether the given number of further runs fits into memory. A run takes some 40 bytes.
func (s *seenFiles) takes(runs int) bool {
	const limit = 2 << 20
	return len(s.runs)+runs <= limit
}

func (s *seenFiles) add(run schema.ULID, digest string) {
	var short shortDigest
	_, _ = hex.Decode(short[:], []byte(digest[:min(len(digest), hex.EncodedLen(len(short)))]))
	s.runs[run] = short
}

// find adds the runs that the files contain, with the beginnings of their digests.
func (s *seenFiles) find(runs []schema.ULID, known map[schema.ULID]string) {
	for _, id := range runs {
		if short, there := s.runs[id]; there {
			known[id] = hex.EncodeToString(short[:])
		}
	}
}

// syncSealed fsyncs the folders of sealed files that can contain a run of that month.
func (b *bulk) syncSealed(oldest string) error {
	for _, t := range runfile.Tables {
		zone := schema.TableFolders[t]
		folders, err := fs.ReadDir(b.files, zone)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, folder := range folders {
			if folder.Name() < oldest || !folder.IsDir() {
				continue
			}
			if err := b.sync(path.Join(zone, folder.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sync fsyncs a directory, once.
func (b *bulk) sync(dir string) error {
	if b.synced[dir] {
		return nil
	}
	err := disk.SyncDir(b.files, dir)
	b.synced[dir] = err == nil
	return err
}
