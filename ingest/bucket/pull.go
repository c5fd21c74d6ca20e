package bucket

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Pulled counts what a pull did.
type Pulled struct {
	ingest.Merged
	Pushes  int   // whose runs or events were missing
	Objects int   // that were read from the bucket, without manifests
	Bytes   int64 // of these objects
}

// Pulling are the options of Pull.
type Pulling struct {
	// Choose returns the ids of the wanted runs. dir is a store with the runs that are missing, without their samples, and with the
	// events of the bucket. Nil: all runs are wanted.
	Choose  func(ctx context.Context, dir string) ([]string, error)
	Make    func() (*ingest.Store, error) // makes the store, if there is none, before the first run or event is merged
	Refused func(ingest.LeftOut)          // called for each push, file or run that cannot be taken
}

// Limits of what is read before it is merged.
const (
	stagePushes = 64
	stageBytes  = 256 << 20
)

// Pull merges what the pushes of the bucket have and a store lacks, as ingest.Store.Merge does. A push counts as a whole: nothing is
// merged of one whose manifest or objects are damaged; it is refused, and the others are merged. If a pull is interrupted, the next one
// does the rest. If s is nil, there is no store in dir, and Make makes it once there is something to merge: with Choose, a wanted run.
func (b *Bucket) Pull(ctx context.Context, dir string, s *ingest.Store, o Pulling) (Pulled, error) {
	p := &pulling{into: s, options: o, damaged: map[int64]bool{}}
	err := p.pull(ctx, b, dir)
	if err != nil {
		err = fmt.Errorf("pulling %s into store %s: %w", b.location, dir, err)
	}
	return p.done, err
}

// pulling is the state of a pull.
type pulling struct {
	log     *pushLog
	into    *ingest.Store
	store   *local
	options Pulling
	damaged map[int64]bool // pushes that were refused
	wanted  map[string]bool
	done    Pulled

	counting sync.Mutex // of objects in done, while several are read
}

// lacking is a push of which the store lacks runs or events.
type lacking struct {
	number       int64
	runs, events bool
}

func (p *pulling) pull(ctx context.Context, b *Bucket, dir string) (err error) {
	if p.log, err = b.open(ctx); err != nil {
		return err
	}
	if err := p.log.refresh(ctx); err != nil {
		return err
	}
	p.log.eachGone(p.log.last(), p.refuse)
	if p.log.unknown() > fewPushes {
		if err := p.log.skipReplaced(ctx); err != nil {
			return err
		}
	}
	stage, err := newStage(p.log.cache)
	if err != nil {
		return err
	}
	defer stage.remove()
	for again := true; again; {
		if p.store, err = p.openLocal(dir); err != nil {
			return err
		}
		if err := p.round(ctx, stage); err != nil {
			return err
		}
		// An event that came may restore a run that was spared because it was removed. The next round finds it missing.
		restored := p.store.removed
		if len(restored) > 0 {
			removed := runfile.ReadRemoved(p.store)
			maps.DeleteFunc(restored, func(run string, _ bool) bool { return removed[run] })
		}
		again = len(restored) > 0
	}
	if p.into == nil {
		return nil
	}
	return p.takeFiles(ctx, stage, dir)
}

// openLocal lists the store, or nothing if there is none yet.
func (p *pulling) openLocal(dir string) (*local, error) {
	if p.into != nil {
		return openLocal(dir)
	}
	l, err := newLocal(dir)
	if err == nil {
		l.listing = &schema.Listing{}
	}
	return l, err
}

// round takes what is missing now.
func (p *pulling) round(ctx context.Context, stage *stage) error {
	missing, err := p.missing(ctx)
	if err != nil {
		return err
	}
	if p.options.Choose != nil {
		return p.chosen(ctx, stage, missing)
	}
	for len(missing) > 0 {
		n, bytes := 0, int64(0)
		for n < len(missing) && n < stagePushes && (n == 0 || bytes < stageBytes) {
			for _, o := range p.log.pushes[missing[n].number].summary.Objects {
				bytes += o.Bytes
			}
			n++
		}
		if err := p.take(ctx, stage, missing[:n]); err != nil {
			return err
		}
		if missing = missing[n:]; p.damaged[p.log.compacted()] && p.log.base > 0 { // then the pushes that it replaces are needed
			p.log.base = 0
			if err := p.log.listAfter(ctx, 0); err != nil {
				return err
			}
			if missing, err = p.missing(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing lists the pushes of which the store lacks something, in order.
func (p *pulling) missing(ctx context.Context) (all []lacking, err error) {
	if err := p.log.readAll(ctx, p.log.numbers(), p.refuse); err != nil {
		return nil, err
	}
	whole := p.log.compacted()
	objects := 0
	for _, n := range p.log.numbers() {
		m := p.log.pushes[n].summary
		if m == nil || p.damaged[n] || m.Replaces > 0 {
			continue
		}
		l := lacking{number: n}
		if l.runs, l.events, err = p.store.lacks(ctx, p.log, n, p.store.isRemoved); err != nil {
			return nil, err
		}
		if l.runs || l.events {
			if all = append(all, l); whole > 0 && n <= p.log.pushes[whole].summary.Replaces {
				objects += len(m.Objects)
			}
		}
	}
	if whole == 0 || p.damaged[whole] {
		return all, nil
	}
	m := p.log.pushes[whole].summary
	if p.log.base == 0 && objects <= len(m.Objects) {
		return all, nil // the pushes themselves are fewer objects
	}
	l := lacking{number: whole}
	if l.runs, l.events, err = p.store.lacks(ctx, p.log, whole, p.store.isRemoved); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(l lacking) bool { return l.number <= m.Replaces })
	if l.runs || l.events {
		all = append([]lacking{l}, all...)
	}
	return all, nil
}

// refuse says, once, that a push is not taken.
func (p *pulling) refuse(n int64, err error) {
	if p.damaged[n] {
		return
	}
	p.damaged[n] = true
	p.done.Refused++
	p.options.Refused(ingest.LeftOut{Path: numberKey(n), Problem: problem(err), Damaged: true})
}

// take reads pushes and merges them.
func (p *pulling) take(ctx context.Context, stage *stage, pushes []lacking) error {
	for _, l := range pushes {
		if err := p.stagePush(ctx, stage, l, func(Object) bool { return true }); err != nil {
			return err
		}
	}
	return p.merge(ctx, stage)
}

// chosen takes the runs that Choose returns.
func (p *pulling) chosen(ctx context.Context, stage *stage, pushes []lacking) error {
	for _, l := range pushes {
		if err := p.stagePush(ctx, stage, l, func(o Object) bool { return o.Kind == kindRuns || o.Kind == kindEvents }); err != nil {
			return err
		}
	}
	matching, err := p.options.Choose(ctx, string(stage.Dir))
	if err != nil {
		return err
	}
	ids, err := schema.ParseULIDs(matching)
	if err != nil {
		return err
	}
	slices.SortFunc(ids, schema.ULID.Compare)
	if ids, err = p.store.missingOf(ctx, ids, nil); err != nil {
		return err
	}
	if p.into == nil && len(ids) == 0 {
		return nil
	}
	p.wanted = map[string]bool{}
	for _, id := range ids {
		p.wanted[id.String()] = true
	}
	for _, l := range pushes {
		if !l.runs || p.damaged[l.number] {
			continue
		}
		if err := p.stageRest(ctx, stage, l); err != nil {
			return err
		}
	}
	return p.merge(ctx, stage)
}

// stageRest reads the samples, ops and artifacts of the wanted runs of a push, and takes the files without any back.
func (p *pulling) stageRest(ctx context.Context, stage *stage, l lacking) error {
	m := p.log.pushes[l.number].summary
	rest := map[string]bool{}
	for _, sealed := range m.sealedFiles() {
		artifacts, wanted, err := wantedOf(stage, sealed, p.wanted)
		if err != nil {
			return err
		}
		if !wanted {
			if err := stage.Remove(sealed.Path(schema.RunsDir)); err != nil {
				return err
			}
			continue
		}
		rest[sealed.Path(schema.SamplesDir)], rest[sealed.Path(schema.OpsDir)] = true, true
		for _, sum := range artifacts {
			rest[sum] = true
		}
	}
	return p.stagePush(ctx, stage, l, func(o Object) bool { return rest[o.name()] || o.Kind == kindArtifacts && rest[o.SHA256] })
}

// takeFiles reads the files of runs of the store that it lacks and did not prune, from whichever push has them: a push puts no file that an
// earlier one put, and that one may have been left out or refused.
func (p *pulling) takeFiles(ctx context.Context, stage *stage, dir string) (err error) {
	if p.store, err = openLocal(dir); err != nil {
		return err
	}
	offered, err := p.offered()
	if err != nil || len(offered) == 0 {
		return err
	}
	wanted, err := namedOf(ctx, p.store)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, sum := range slices.Sorted(maps.Keys(offered)) {
		if !wanted[sum] {
			continue
		}
		var failed error
		for _, o := range offered[sum] {
			if failed = p.stageObject(ctx, stage, nil, o); failed == nil {
				size += o.Bytes
				break
			}
			if !errors.Is(failed, ErrDamaged) {
				return failed
			}
		}
		if failed != nil {
			p.done.Refused++
			p.options.Refused(ingest.LeftOut{Path: offered[sum][0].Key, Problem: problem(failed), Damaged: true})
		}
		if size > stageBytes {
			if err := p.merge(ctx, stage); err != nil {
				return err
			}
			size = 0
		}
	}
	return p.merge(ctx, stage)
}

// offered returns the files of known pushes that the store lacks and did not prune, by their hashes: the objects that have each.
func (p *pulling) offered() (map[string][]Object, error) {
	offered := map[string][]Object{}
	for _, e := range p.log.pushes {
		if e.summary == nil {
			continue
		}
		for _, o := range e.summary.Objects {
			if o.Kind == kindArtifacts {
				offered[o.SHA256] = append(offered[o.SHA256], o)
			}
		}
	}
	err := disk.WalkZone(p.store, schema.ArtifactsDir, func(f disk.StoreFile) error {
		delete(offered, disk.ArtifactHash(f.Path))
		return nil
	})
	if len(offered) > 0 {
		for sum := range runfile.ReadPruned(p.store) {
			delete(offered, sum)
		}
	}
	return offered, err
}

// merge merges what was read, and empties the stage.
func (p *pulling) merge(ctx context.Context, stage *stage) error {
	if p.into == nil {
		if len(stage.pushes) == 0 { // all were refused
			return nil
		}
		var err error
		if p.into, err = p.options.Make(); err != nil {
			return err
		}
	}
	o := ingest.Merging{Refused: p.options.Refused}
	if p.wanted != nil {
		o.Only = func(run string) bool { return p.wanted[run] }
	}
	done, err := p.into.Merge(ctx, string(stage.Dir), o)
	p.done.Merged.Add(done)
	if err != nil {
		return err
	}
	return stage.clear()
}

// stagePush reads the objects of a push that the store lacks and of which take is true. If the push is damaged, it is refused, and nothing
// of it is left in the stage.
func (p *pulling) stagePush(ctx context.Context, stage *stage, l lacking, take func(o Object) bool) error {
	m := p.log.pushes[l.number].summary
	var objects []Object
	for _, o := range m.Objects {
		lacks, err := p.lacksObject(l, o)
		if err != nil {
			return err
		}
		if lacks && take(o) {
			objects = append(objects, o)
		}
	}
	err := inParallel(ctx, len(objects), func(i int) error { return p.stageObject(ctx, stage, m, objects[i]) })
	if err == nil {
		if !stage.pushes[l.number] {
			stage.pushes[l.number] = true
			p.done.Pushes++
		}
		return nil
	}
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	p.refuse(l.number, err)
	for _, o := range m.Objects {
		if name := o.name(); name != "" && o.Kind != kindArtifacts {
			_ = os.Remove(stage.path(name))
		}
	}
	for _, id := range m.EventIDs {
		_ = os.Remove(stage.path(schema.EventFile(id)))
	}
	return nil
}

// lacksObject reports whether the store needs an object.
func (p *pulling) lacksObject(l lacking, o Object) (bool, error) {
	switch o.Kind {
	case kindStore:
		return false, nil // every store has a header of its own
	case kindEvents:
		return l.events, nil
	case kindArtifacts:
		there, err := disk.Exists(p.store, o.name())
		return l.runs && !there, err
	default:
		return l.runs && !p.store.names[path.Base(o.Key)], nil
	}
}

// stageObject reads an object into the stage.
func (p *pulling) stageObject(ctx context.Context, stage *stage, m *manifest, o Object) error {
	name := o.name()
	if o.Kind == kindEvents {
		name = path.Join(schema.TmpDir, m.Push+eventsSuffix)
	}
	file := stage.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if o.Kind == kindRuns && p.options.Choose != nil && p.kept(o, file) {
		return nil
	}
	if err := p.log.fetch(ctx, o, file); err != nil {
		if errors.Is(err, os.ErrExist) {
			return nil // an artifact that another push has too
		}
		_ = os.Remove(file)
		return err
	}
	p.counting.Lock()
	p.done.Objects, p.done.Bytes = p.done.Objects+1, p.done.Bytes+o.Bytes
	p.counting.Unlock()
	if o.Kind == kindRuns && p.options.Choose != nil {
		p.keepObject(o, file)
	}
	if o.Kind == kindEvents {
		return p.splitEvents(stage, m, o, file)
	}
	return nil
}

// keptFile returns the name, in the cache, of an object with runs that was read to choose from. Which of them match, later events may change.
func (p *pulling) keptFile(o Object) string { return filepath.Join(p.log.cache, o.SHA256+keptSuffix) }

const keptSuffix = ".runs"

// keepObject keeps an object in the cache. If that fails, the next pull reads it again.
func (p *pulling) keepObject(o Object, file string) {
	if p.log.cache != "" {
		_ = os.Link(file, p.keptFile(o))
	}
}

// kept makes a file of an object that the cache has. A damaged one is removed there.
func (p *pulling) kept(o Object, file string) bool {
	if p.log.cache == "" || os.Link(p.keptFile(o), file) != nil {
		return false
	}
	opened, err := os.Open(file)
	if err == nil {
		defer opened.Close()
		hash := sha256.New()
		var size int64
		if size, err = io.Copy(hash, opened); err == nil {
			err = o.check(size, hex.EncodeToString(hash.Sum(nil)))
		}
	}
	if err != nil {
		_, _ = os.Remove(file), os.Remove(p.keptFile(o))
	}
	return err == nil
}

// splitEvents makes a file of each line.
func (p *pulling) splitEvents(stage *stage, m *manifest, o Object, file string) error {
	damaged := func(err error) error { return fmt.Errorf("%w: %s: %s", ErrDamaged, o.Key, problem(err)) }
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := os.MkdirAll(stage.path(schema.EventsDir), 0o700); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(opened, 64<<10)
	for _, id := range m.EventIDs {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		e, err := schema.DecodeEvent(bytes.Clone(line))
		if err == nil && e.EventID != id.String() {
			err = fmt.Errorf("event %s is in the place of %s", e.EventID, id)
		}
		if err != nil {
			return damaged(err)
		}
		if err := os.WriteFile(stage.path(schema.EventFile(id)), line, 0o600); err != nil {
			return err
		}
	}
	if _, err := lines.ReadByte(); !errors.Is(err, io.EOF) {
		return damaged(errors.New("it has more lines than its manifest says"))
	}
	return os.Remove(file)
}

// stage is a store of files that were read and are not merged yet.
type stage struct {
	disk.OS
	unlock func()
	pushes map[int64]bool // that have files in it
}

// stagePrefix begins the names of stages.
const stagePrefix = "neurolens-pull-"

// newStage makes a stage in a directory of the cache, from which it removes those of dead processes, or among the temporary files if dir
// is empty.
func newStage(dir string) (*stage, error) {
	if dir != "" {
		removeDead(dir)
	}
	for attempt := 1; ; attempt++ {
		at, err := os.MkdirTemp(dir, stagePrefix)
		if err != nil {
			return nil, err
		}
		s := &stage{OS: disk.OS{Dir: schema.Dir(at)}, pushes: map[int64]bool{}}
		if s.unlock, err = s.LockRoot(); err == nil {
			if err = s.clear(); err == nil {
				return s, nil
			}
			s.unlock()
		}
		if attempt == 3 { // before, another process may have taken it for a dead one's
			return nil, err
		}
	}
}

// removeDead removes the stages of a directory that no process has locked, and old files that were to become manifests of the cache.
func removeDead(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
		case e.IsDir() && strings.HasPrefix(e.Name(), stagePrefix):
			if unlock, err := (disk.OS{Dir: schema.Dir(path)}).LockRoot(); err == nil {
				_ = os.RemoveAll(path)
				unlock()
			}
		case strings.HasSuffix(e.Name(), partSuffix) && time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(path)
		}
	}
}

// clear makes the stage an empty store.
func (s *stage) clear() error {
	entries, err := os.ReadDir(string(s.Dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(s.path(e.Name())); err != nil {
			return err
		}
	}
	clear(s.pushes)
	return ingest.Init(string(s.Dir))
}

// path returns the path of a file.
func (s *stage) path(name string) string {
	return filepath.Join(string(s.Dir), filepath.FromSlash(name))
}

func (s *stage) remove() {
	_ = os.RemoveAll(string(s.Dir))
	s.unlock()
}
