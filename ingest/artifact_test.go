package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// keep keeps a text and gives its hash.
func keep(t *testing.T, s *Store, text string) string {
	t.Helper()
	hash, size, err := s.KeepArtifact(strings.NewReader(text))
	valuetest.DeepEqual(t, []any{err, size}, []any{nil, int64(len(text))}, "keeping", text)
	return hash
}

// artifactsOf returns the hashes of the artifacts of a store, in order.
func artifactsOf(t *testing.T, dir string) (hashes []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, schema.ArtifactsDir, "*", "*"))
	valuetest.OK(t, err)
	for _, name := range names {
		hashes = append(hashes, strings.TrimSuffix(filepath.Base(name), ".zst"))
	}
	slices.Sort(hashes)
	return hashes
}

// age gives an artifact the time of so long ago.
func age(t *testing.T, dir, hash string, ago time.Duration) {
	t.Helper()
	valuetest.OK(t, os.Chtimes(filepath.Join(dir, schema.ArtifactPath(hash)), time.Time{}, time.Now().Add(-ago)))
}

// TestKeepArtifact: equal contents are stored once, compressed, under the hash of what is stored.
func TestKeepArtifact(t *testing.T) {
	s, dir := newStore(t)
	text := strings.Repeat("what a run produced\n", 50_000)
	hash := keep(t, s, text)
	valuetest.Equal(t, keep(t, s, text), hash)
	empty := keep(t, s, "")
	want := []string{hash, empty}
	slices.Sort(want)
	valuetest.DeepEqual(t, artifactsOf(t, dir), want)
	stored, err := os.ReadFile(filepath.Join(dir, schema.ArtifactPath(hash)))
	valuetest.OK(t, err)
	if sum := fmt.Sprintf("%x", sha256.Sum256(stored)); sum != hash || len(stored) > len(text)/100 {
		t.Errorf("%d B with the hash %s, want less than a hundredth of %d B with %s", len(stored), sum, len(text), hash)
	}
	z, err := zstd.NewReader(bytes.NewReader(stored))
	valuetest.OK(t, err)
	defer z.Close()
	var read bytes.Buffer
	if _, err := read.ReadFrom(z); err != nil || read.String() != text {
		t.Errorf("read back %d B: %v", read.Len(), err)
	}
	storetest.Whole(t, dir)
}

// TestKeepArtifactAgain: an artifact that is kept again has the time of now, and one that lost bytes is put there anew.
func TestKeepArtifactAgain(t *testing.T) {
	s, dir := newStore(t)
	hash := keep(t, s, "same")
	path := filepath.Join(dir, schema.ArtifactPath(hash))
	age(t, dir, hash, 40*24*time.Hour)
	aged, err := os.Stat(path)
	valuetest.OK(t, err)
	keep(t, s, "same")
	again, err := os.Stat(path)
	valuetest.OK(t, err)
	if !again.ModTime().After(aged.ModTime().Add(artifactFresh)) {
		t.Errorf("kept again, and of %s", again.ModTime())
	}
	valuetest.OK(t, os.Truncate(path, 3))
	keep(t, s, "same")
	storetest.Whole(t, dir)
}

// TestKeepArtifactFaults lets operations of keeping fail in turn: nothing or the whole file is there, and a hash is given only
// for what was fsynced.
func TestKeepArtifactFaults(t *testing.T) {
	made := filepath.Join(t.TempDir(), "store")
	valuetest.OK(t, Init(made))
	for _, plan := range []faultyFiles{{}, {Late: true}, {Lasting: true}} {
		plan.Fault, plan.Quick = storetest.ErrCrashed, true
		for hit := true; hit; plan.At++ {
			files := plan
			dir := storetest.Copied(t, made)
			files.OS = valuetest.Must(disk.NewOS(dir))
			s, err := openFiles(dir, "test", &files)
			if err == nil {
				_, _, err = s.KeepArtifact(strings.NewReader("what a run produced"))
			}
			if err != nil {
				checkFault(t, &files, err)
			}
			if err == nil && (files.Unsync > 0 || len(artifactsOf(t, dir)) != 1) {
				t.Fatalf("operation %d: kept, with %d failed fsyncs and %v there", files.At, files.Unsync, artifactsOf(t, dir))
			}
			storetest.Whole(t, dir)
			hit = files.Hit
			valuetest.OK(t, os.RemoveAll(dir))
		}
		if plan.At < 10 {
			t.Errorf("%d operations are not many", plan.At)
		}
	}
}

// TestPruneArtifacts: what no run keeps and is old goes, and that is recorded; a dry run does nothing.
func TestPruneArtifacts(t *testing.T) {
	s, dir := newStore(t)
	old, kept, young := keep(t, s, "old"), keep(t, s, "kept"), keep(t, s, "young")
	age(t, dir, old, 48*time.Hour)
	age(t, dir, kept, 48*time.Hour)
	p := Pruning{Keep: map[string]bool{kept: true}, Before: time.Now(), DryRun: true}
	for _, p.DryRun = range []bool{true, false} {
		done := must(s.PruneArtifacts(context.Background(), p))
		valuetest.Equal(t, done.Files, 1, p, done)
		valuetest.Equal(t, done.Left, 2, p, done)
		valuetest.Equal(t, done.Young, 1, p, done)
		if got := len(artifactsOf(t, dir)); p.DryRun && got != 3 || !p.DryRun && got != 2 {
			t.Fatalf("%+v: %d are there", p, got)
		}
	}
	pruned := runfile.ReadPruned(os.DirFS(dir))
	valuetest.DeepEqual(t, slices.Collect(maps.Keys(pruned)), []string{old}, "recorded as gone", old)
	if slices.Contains(artifactsOf(t, dir), old) || !slices.Contains(artifactsOf(t, dir), young) {
		t.Errorf("there are %v", artifactsOf(t, dir))
	}
	storetest.Whole(t, dir)
}

// TestPruneKeptMeanwhile: an artifact that is kept again while it is pruned stays.
func TestPruneKeptMeanwhile(t *testing.T) {
	s, dir := newStore(t)
	hash := keep(t, s, "same")
	age(t, dir, hash, 48*time.Hour)
	going, _, err := s.prunable(context.Background(), Pruning{Before: time.Now().Add(-artifactYoung)})
	valuetest.DeepEqual(t, []any{err, len(going)}, []any{nil, 1}, going)
	keep(t, s, "same")
	valuetest.OK(t, s.pruneSome(context.Background(), going, time.Now().Add(-artifactYoung)))
	valuetest.DeepEqual(t, artifactsOf(t, dir), []string{hash}, hash)
}

// TestPruneFaults: whatever fails, what is gone is recorded as gone, and the next time does the rest.
func TestPruneFaults(t *testing.T) {
	s, made := newStore(t)
	var hashes []string
	for _, text := range []string{"a", "b", "c"} {
		hashes = append(hashes, keep(t, s, text))
	}
	for _, plan := range []faultyFiles{{}, {Late: true}, {Lasting: true}} {
		plan.Fault, plan.Quick = storetest.ErrCrashed, true
		for hit := true; hit; plan.At++ {
			files := plan
			dir := storetest.Copied(t, made)
			for _, hash := range hashes {
				age(t, dir, hash, 48*time.Hour)
			}
			files.OS = valuetest.Must(disk.NewOS(dir))
			prune := func() error {
				s, err := openFiles(dir, "test", &files)
				if err == nil {
					_, err = s.PruneArtifacts(context.Background(), Pruning{Before: time.Now()})
				}
				return err
			}
			if err := prune(); err != nil {
				checkFault(t, &files, err)
			}
			recorded := runfile.ReadPruned(os.DirFS(dir))
			for _, hash := range hashes {
				_, err := fs.Stat(os.DirFS(dir), schema.ArtifactPath(hash))
				if _, said := recorded[hash]; err != nil && !said {
					t.Fatalf("operation %d: %s is gone, and nothing says so", files.At, hash)
				}
			}
			files.Healed = true
			valuetest.OK(t, prune())
			valuetest.DeepEqual(t, artifactsOf(t, dir), nil, "operation", files.At, "again")
			hit = files.Hit
			valuetest.OK(t, os.RemoveAll(dir))
		}
	}
}

// TestMergeAfterPrune: a merge brings the artifacts that are not here, but none that was pruned here since the other
// store got it.
func TestMergeAfterPrune(t *testing.T) {
	from, other := newStore(t)
	gone, later := keep(t, from, "gone"), keep(t, from, "later")
	age(t, other, gone, 48*time.Hour)
	age(t, other, later, 48*time.Hour)
	s, dir := newStore(t)
	left := 0
	merge := func() int {
		done, err := s.Merge(context.Background(), other, Merging{Refused: func(f LeftOut) { t.Errorf("refused %+v", f) }})
		valuetest.OK(t, err)
		left = done.Pruned
		return done.Artifacts
	}
	valuetest.Equal(t, merge(), 2)
	age(t, dir, gone, 48*time.Hour)
	age(t, dir, later, 48*time.Hour)
	_, err := s.PruneArtifacts(context.Background(), Pruning{Before: time.Now()})
	valuetest.OK(t, err)
	age(t, other, later, -time.Hour) // a run of the other store has left it again
	if n := merge(); n != 1 || left != 1 {
		t.Errorf("%d artifacts came back and %d did not, want 1 and 1", n, left)
	}
	valuetest.DeepEqual(t, artifactsOf(t, dir), []string{later}, later)
	done, err := s.Merge(context.Background(), other, Merging{RestorePruned: true, Refused: func(f LeftOut) { t.Errorf("refused %+v", f) }})
	valuetest.OK(t, err)
	if got := artifactsOf(t, dir); done.Artifacts != 1 || len(got) != 2 {
		t.Errorf("asked for what was pruned: %d came, %v are here", done.Artifacts, got)
	}
}

// TestVerifyMissingArtifact: a file that a run has left and that is neither there nor pruned is named; the run is whole all the same.
func TestVerifyMissingArtifact(t *testing.T) {
	s, dir := newStore(t)
	run := smallRun()
	for _, path := range []string{"there", "gone", "pruned"} {
		hash := keep(t, s, path)
		run.Artifacts = append(run.Artifacts, schema.Artifact{Kind: schema.ArtifactFile, Path: path, SHA256: hash, Bytes: new(int64(len(path)))})
	}
	run.Artifacts = append(run.Artifacts, schema.Artifact{Kind: schema.ArtifactFile, Path: "not kept"})
	mustAppend(t, s, run)
	storetest.Whole(t, dir)
	age(t, dir, run.Artifacts[2].SHA256, 48*time.Hour)
	kept := map[string]bool{run.Artifacts[0].SHA256: true, run.Artifacts[1].SHA256: true}
	_, err := s.PruneArtifacts(context.Background(), Pruning{Keep: kept, Before: time.Now()})
	valuetest.OK(t, err)
	storetest.Whole(t, dir)
	valuetest.OK(t, os.Remove(filepath.Join(dir, schema.ArtifactPath(run.Artifacts[1].SHA256))))
	for _, sealed := range []bool{false, true} {
		if sealed {
			mustSeal(t, dir)
		}
		findings := storetest.Findings(t, dir)
		if len(findings) != 1 || findings[0].Severity != check.SeverityNotice || !strings.Contains(findings[0].Problem, `missing from artifacts/, though never pruned: 1 artifact of its runs, such as "gone"`) {
			t.Errorf("sealed %t: %+v", sealed, findings)
		}
	}
}

// TestVerifyHostileArtifacts: a size that is not that of the content, and a kind that is no word, are named. The runs stay readable and can be
// sealed, merged and compacted: an earlier version took them.
func TestVerifyHostileArtifacts(t *testing.T) {
	s, dir := newStore(t)
	hash := keep(t, s, "text")
	mustAppend(t, s, smallRun())
	run := smallRun()
	for kind, size := range map[string]int64{"../../.bash_profile": 4, "file": 3, "stdout": 5, "stderr": 4, "profile": math.MaxInt64, "log": -1} {
		run.Artifacts = append(run.Artifacts, schema.Artifact{Kind: kind, Path: kind, SHA256: hash, Bytes: new(size)})
	}
	run.Artifacts = append(run.Artifacts, schema.Artifact{Path: "unknown", SHA256: hash})
	slices.SortFunc(run.Artifacts, func(a, b schema.Artifact) int { return strings.Compare(a.Kind, b.Kind) })
	valuetest.Fails(t, s.Append(run), `kind "../../.bash_profile" is not a word`, "appending")
	content, err := table.NewEncoder("test").Encode(&run, schema.DigestOf(&run))
	valuetest.OK(t, err)
	f := schema.LiveFile{Segment: schema.NewULID(time.Now()), Run: valuetest.Must(schema.ParseULID(run.RunID))}
	storetest.WriteFile(t, filepath.Join(dir, f.Path()), content)
	valuetest.OK(t, s.Close())
	verify := func(dir string) {
		t.Helper()
		var found []string
		for _, f := range storetest.Findings(t, dir) {
			found = append(found, string(f.Severity)+" "+f.Problem)
		}
		want := []string{
			`damage not of the size that the run says: 4 artifacts of its runs, such as "file"`,
			`notice the kind "../../.bash_profile" is not a word of up to 64 letters, digits and _ . -: 1 artifact of its runs, such as "../../.bash_profile"; NeuroLens makes no name of a file of it`,
		}
		valuetest.DeepEqual(t, found, want)
	}
	verify(dir)
	other, otherDir := newStore(t)
	must(other.Merge(t.Context(), dir, Merging{}))
	verify(otherDir)
}
