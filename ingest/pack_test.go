package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// bulkFiles appends runs, so many in a file.
func bulkFiles(t testing.TB, store *Store, perFile int, runs []schema.Run) {
	t.Helper()
	for part := range slices.Chunk(runs, perFile) {
		if done, err := store.AppendAll(each(part...)); err != nil || done.Added != len(part) {
			t.Fatalf("%+v, %v", done, err)
		}
	}
}

// newPacker packs three files and more.
func newPacker(f disk.Files) *sealing.Packer {
	rules := sealing.StandardPackRules()
	rules.MinFiles = 3
	return &sealing.Packer{Files: f, Version: "test", Now: time.Now(), Rules: rules}
}

// planned gives what readers take of a store, and checks each pack: it has a hash of itself, its name says what is in
// it, and its rows are those of the files that it covers.
func planned(t testing.TB, dir string) (packs, files []schema.SealedFile) {
	t.Helper()
	listing := must(schema.List(os.DirFS(dir), schema.Scope{}))
	rows := map[schema.ULID][]string{} // of each sealed file: its runs with their digests
	for _, f := range listing.Sealed {
		rows[f.ID] = digests(t, dir, f.Path(schema.RunsDir))
	}
	covers := map[schema.ULID][]schema.ULID{}
	for _, pack := range listing.Packs {
		ids := must(schema.PackCovers(os.DirFS(dir), pack))
		covers[pack.ID] = ids
		var want []string
		for _, id := range ids {
			want = append(want, rows[id]...)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got := digests(t, dir, pack.Path(schema.PacksDir))
		if !slices.Equal(got, want) || pack.Rows != len(got) {
			t.Fatalf("pack %s has %d rows, want %d", pack.Name(), len(got), len(want))
		}
		first, last := must(schema.ParseULID(got[0][:26])), must(schema.ParseULID(got[len(got)-1][:26]))
		if want := schema.NewSealedFile(pack.ID, []schema.ULID{first, last}); want.First != pack.First || want.Last != pack.Last || pack.ID.Time().Before(last.Time()) {
			t.Fatalf("pack %s holds runs from %s to %s", pack.Name(), first, last)
		}
	}
	return schema.PlanPacks(listing, covers)
}

// digests returns the runs of a file with their digests, in its order.
func digests(t testing.TB, dir, name string) []string {
	t.Helper()
	rows := must(runfile.OpenRows(os.DirFS(dir), name, schema.Runs))
	defer rows.Close()
	mustDo(t, runfile.CheckHash(os.DirFS(dir), name))
	var all []string
	for rows.Row != nil {
		all = append(all, fmt.Sprint(rows.Row[0], rows.Row[runfile.DigestPlace]))
		mustDo(t, rows.Advance())
	}
	return all
}

// TestPack: small files are packed when there are enough of them, packs become larger ones, and what is new stays by
// itself until it is enough.
func TestPack(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	runs := sweep(1, 60, 3)
	slices.Reverse(runs)
	for round, want := range []struct{ runs, packs, files int }{
		{4, 0, 2}, {8, 1, 0}, {10, 1, 1}, {14, 2, 0}, {20, 3, 0}, {26, 4, 0}, {32, 5, 0}, {38, 6, 0}, {44, 7, 0}, {48, 7, 2}, {50, 1, 0}, {52, 1, 1},
	} {
		before := len(sealedFiles(t, dir)) * 2
		bulkFiles(t, store, 2, runs[before:want.runs])
		p := newPacker(store.files)
		mustDo(t, p.Pack())
		packs, files := planned(t, dir)
		valuetest.Equal(t, len(packs), want.packs, "round", round, want)
		valuetest.Equal(t, len(files), want.files, "round", round, want)
		rows := 0
		for _, f := range slices.Concat(packs, files) {
			rows += f.Rows
		}
		valuetest.Equal(t, rows, want.runs, "round", round)
	}
	mustHold(t, dir, runs[:52]...)

	p := newPacker(store.files)
	p.Now = p.Now.Add(11 * time.Minute)
	mustDo(t, p.Pack())
	if left, err := schema.ListZone(os.DirFS(dir), schema.PacksDir); err != nil || len(left) != 1 {
		t.Errorf("%d packs are left, %v", len(left), err)
	}
	valuetest.DeepEqual(t, must(os.ReadDir(filepath.Join(dir, schema.TmpDir))), nil)
}

// TestPackClose: a Store that sealed packs at its end, and one that did not leaves packs alone.
func TestPackClose(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	least := sealing.StandardPackRules().MinFiles
	bulkFiles(t, store, 1, sweep(1, least, 1))
	for _, want := range []int{1, 0} {
		mustDo(t, store.Close())
		packs, files := planned(t, dir)
		valuetest.Equal(t, len(packs), want)
		valuetest.Equal(t, len(files), (1-want)*least)
		mustDo(t, os.RemoveAll(filepath.Join(dir, schema.PacksDir)))
		store = must(Open(dir, "test"))
		mustAppend(t, store, smallRun())
	}
}

// TestPackFull: what is packed at once fills one pack after another, and packs that are more than half full are left
// alone.
func TestPackFull(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	runs := sweep(1, 72, 3)
	for done := 40; done <= len(runs); done += 4 {
		before := len(sealedFiles(t, dir)) * 2
		bulkFiles(t, store, 2, runs[before:done])
		p := newPacker(store.files)
		p.Rules.MinFiles, p.Rules.MaxRows = 2, 10
		mustDo(t, p.Pack())
		want := slices.Repeat([]int{10}, 4)
		want = append(want, slices.Repeat([]int{4}, (done-40)/4)...)
		if done == len(runs) { // eight small ones become fewer
			want = []int{8, 8, 8, 8, 10, 10, 10, 10}
		}
		packs, files := planned(t, dir)
		var rows []int
		for _, pack := range packs {
			rows = append(rows, pack.Rows)
		}
		slices.Sort(rows)
		slices.Sort(want)
		valuetest.DeepEqual(t, []any{len(files), slices.Equal(rows, want)}, []any{0, true}, done, "runs: packs of", rows, want)
	}
	mustHold(t, dir, runs...)
}

// TestPackOverlapping merges files of the same times with little memory, by way of temporary files.
func TestPackOverlapping(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	runs := sweep(1, 48, 1)
	runs = append(runs, fullRun())
	var mixed []schema.Run
	for i := range 7 {
		for j := i; j < len(runs); j += 7 {
			mixed = append(mixed, runs[j])
		}
	}
	bulkFiles(t, store, 7, mixed)
	p := newPacker(store.files)
	p.Rules.Memory = 1 // two at a time
	mustDo(t, p.Pack())
	if packs, files := planned(t, dir); len(packs) != 1 || len(files) != 0 || packs[0].Rows != len(runs) {
		t.Errorf("%v, %v", packs, files)
	}
}

// TestPackLeaves what cannot be packed to the readers, and packs the rest.
func TestPackLeaves(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	bulkFiles(t, store, 2, sweep(1, 10, 0))
	broken := sealedFiles(t, dir)[2].Path(schema.RunsDir)
	content := must(os.ReadFile(filepath.Join(dir, broken)))
	content[len(content)/2] ^= 1
	mustDo(t, os.WriteFile(filepath.Join(dir, broken), content, 0o666))
	mustDo(t, newPacker(store.files).Pack())
	content[len(content)/2] ^= 1
	mustDo(t, os.WriteFile(filepath.Join(dir, broken), content, 0o666))
	packs, files := planned(t, dir)
	if len(packs) != 1 || packs[0].Rows != 8 || len(files) != 1 || files[0].Path(schema.RunsDir) != broken {
		t.Errorf("%v, %v", packs, files)
	}

	// A pack that is damaged is as good as none: its files are packed again.
	name := filepath.Join(dir, packs[0].Path(schema.PacksDir))
	mustDo(t, os.WriteFile(name, []byte("PAR1"), 0o666))
	mustDo(t, newPacker(store.files).Pack())
	mustDo(t, os.Remove(name))
	if packs, files := planned(t, dir); len(packs) != 1 || packs[0].Rows != 10 || len(files) != 0 {
		t.Errorf("%v, %v", packs, files)
	}
}

// TestPackEvents packs events; where there are many packs, one stands for all.
func TestPackEvents(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	run := smallRun()
	want := map[schema.ULID][]byte{}
	for round := range 9 {
		for range 3 {
			e := must(store.Annotate(Annotation{Kind: schema.EventTag, Runs: []string{run.RunID}, Key: "k", Value: fmt.Sprint("round ", round)}))
			want[must(schema.ParseULID(e.EventID))] = must(e.Encode())
		}
		p := newPacker(store.files)
		if err := p.Pack(); err != nil || p.Written != 1 {
			t.Fatalf("round %d: %d packs written, %v", round, p.Written, err)
		}
	}
	p := newPacker(store.files)
	p.Now = p.Now.Add(11 * time.Minute)
	if err := p.Pack(); err != nil || p.Written != 0 {
		t.Fatalf("%d packs written, %v", p.Written, err)
	}
	packs := must(filepath.Glob(filepath.Join(dir, schema.PacksDir, "*")))
	valuetest.Equal(t, len(packs), 2)
	got := map[schema.ULID][]byte{}
	for _, pack := range packs {
		name := path.Join(schema.PacksDir, filepath.Base(pack))
		mustDo(t, schema.ReadPackedEvents(store.files, name, func(line []byte) error {
			e, err := schema.DecodeEvent(line)
			got[must(schema.ParseULID(e.EventID))] = bytes.Clone(line)
			return err
		}))
	}
	if !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%d events are packed, want %d", len(got), len(want))
	}
	mustHold(t, dir)
}

// TestPackSizes: the sizes of folders of months that are over are kept when they count many files, and again when many have come.
func TestPackSizes(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	later := time.Now().AddDate(0, 2, 0)
	bulkFiles(t, store, 2, sweep(1, 2, 0))
	if sizes, _, err := schema.StableSizes(store.files, later); err != nil || len(sizes) == 0 {
		t.Skip("the times of folders do not show changes on this file system")
	}
	kept := func() int {
		return len(must(filepath.Glob(filepath.Join(dir, schema.FolderSizesFile(schema.ULID{})[:len("packs/folders-")]+"*"))))
	}
	for round, want := range []struct {
		runs, written, left int
		after               time.Duration
	}{{0, 0, 0, 0}, {4, 1, 1, 0}, {0, 0, 1, 0}, {4, 1, 2, 0}, {0, 0, 1, 11 * time.Minute}} {
		bulkFiles(t, store, 2, sweep(uint64(round+2), want.runs, 0))
		p := newPacker(store.files)
		p.Rules.MinFiles, p.Rules.MinSizes = 100, 5
		p.Now = later.Add(want.after + time.Duration(round)*time.Second) // the latest file is that of the largest id
		if err := p.Pack(); err != nil || p.Written != want.written || kept() != want.left {
			t.Fatalf("round %d: %d written, %d there, %v; want %+v", round, p.Written, kept(), err, want)
		}
		if want.written > 0 {
			sameSizes(t, dir)
		}
	}
	p := newPacker(store.files)
	p.Rules.MinFiles, p.Rules.MinSizes = 100, 1
	bulkFiles(t, store, 2, sweep(20, 2, 0))
	if err := p.Pack(); err != nil || p.Written != 0 {
		t.Errorf("a moment after a folder changed %d are written, %v", p.Written, err)
	}
}

// sameSizes: the sizes of folders are known, and they are those of the files.
func sameSizes(t *testing.T, dir string) {
	t.Helper()
	known, found := schema.KnownSizes(schema.Dir(dir)), 0
	for _, folder := range must(fs.Glob(os.DirFS(dir), "[rs]*s/*")) {
		size, ok := known(folder)
		for _, e := range must(os.ReadDir(filepath.Join(dir, folder))) {
			size.Files, size.Bytes = size.Files-1, size.Bytes-must(e.Info()).Size()
		}
		valuetest.DeepEqual(t, []any{ok, size.Files, size.Bytes}, []any{true, 0, int64(0)}, "the size of", folder, "is known")
		found++
	}
	if found < 2 {
		t.Error("there are no folders")
	}
}

// changingFiles are files that change when a directory is opened for the first time.
type changingFiles struct {
	disk.OS
	dir    string
	change func()
}

func (f *changingFiles) Open(name string) (fs.File, error) {
	if change := f.change; name == f.dir && change != nil {
		f.change = nil
		change()
	}
	return f.OS.Open(name)
}

// TestPackSizesRace: a folder that changes while it is measured has no size, although it is stable before and after.
func TestPackSizesRace(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	bulkFiles(t, store, 2, sweep(1, 2, 0))
	folder := path.Dir(sealedFiles(t, dir)[0].Path(schema.RunsDir))
	// An old time makes every change visible, whatever the steps of the clock are.
	mustDo(t, os.Chtimes(filepath.Join(dir, folder), time.Time{}, time.Now().Add(-time.Hour)))
	files := &changingFiles{OS: must(disk.NewOS(dir)), dir: folder}
	files.change = func() { bulkFiles(t, store, 2, sweep(2, 2, 0)) }
	sizes, _, err := schema.StableSizes(files, time.Now().AddDate(0, 2, 0))
	if err != nil || files.change != nil || slices.ContainsFunc(sizes, func(s schema.FolderSize) bool { return s.Folder == folder }) {
		t.Errorf("changed: %v; %+v, %v", files.change == nil, sizes, err)
	}
}

// TestPackFaults lets every file operation of packing fail in turn: the store stays as it is, and once the cause is
// gone it is packed.
func TestPackFaults(t *testing.T) {
	t.Parallel()
	store, dir := newStore(t)
	runs := sweep(1, 8, 1)
	bulkFiles(t, store, 2, runs)
	for range 3 {
		must(store.Annotate(Annotation{Kind: schema.EventNote, Runs: []string{runs[0].RunID}, Value: "slow"}))
	}
	for name, bulk := range bulkFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, step := bulk.begin()
			for failPack(t, dir, files) {
				files.At += step
			}
			if files.At < 30 {
				t.Errorf("packing with %d file operations does not write much", files.At)
			}
		})
	}
}

// failPack packs a copy of a store, and tells whether an operation failed.
func failPack(t *testing.T, store string, files faultyFiles) bool {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	mustDo(t, os.CopyFS(dir, os.DirFS(store)))
	before := must(fs.Sub(os.DirFS(dir), schema.RunsDir))
	files.OS = must(disk.NewOS(dir))
	packer := func() *sealing.Packer {
		p := newPacker(&files)
		p.Rules.Memory, p.Rules.MinSizes = 1, 1
		p.Now = p.Now.AddDate(0, 2, 0) // when no folder changes any more
		return p
	}
	p := packer()
	if err := p.Pack(); err != nil && (!files.Hit || !errors.Is(err, files.Fault)) {
		t.Fatalf("operation %d failed with %v; the error is %v", files.At, files.Fault, err)
	} else if err == nil && files.Unsync > 0 && files.Fault != syscall.EPERM {
		t.Fatalf("operation %d: an fsync failed, and nobody says so", files.At)
	}
	planned(t, dir)
	p = packer()
	files.Healed = true
	mustDo(t, p.Pack(), "operation", files.At, "the second time")
	if packs, rest := planned(t, dir); len(packs) != 1 || len(rest) != 0 {
		t.Fatalf("operation %d: %v, %v", files.At, packs, rest)
	}
	valuetest.Equal(t, len(must(fs.Glob(before, "*/*"))), 4, "operation", files.At)
	if _, fresh, err := schema.StableSizes(files.OS, p.Now); err != nil || fresh > 0 {
		t.Fatalf("operation %d: the sizes of folders with %d files are not kept, %v", files.At, fresh, err)
	}
	return files.Hit
}
