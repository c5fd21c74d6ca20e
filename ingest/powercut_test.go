package ingest

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// cutFiles are the files as a process sees them that ends at one operation, and know what a power cut takes: names that
// were made, removed or changed in a directory since the last fsync of that directory, and what is in files that were
// written since theirs. That the store directory itself is durable is for MakeRoot alone.
type cutFiles struct {
	faultyFiles // they do not fsync, and all operations fail from the one on at which the process ends
	top         *cutNode
	shelf       string              // has another name of every file, for those that are removed
	opened      map[string]*cutNode // under the names that they had then
	done        int                 // operations whose meaning is in the nodes
	acked       []string            // what has to be there after a power cut, as said calls it
}

// cutNode is a file or a directory, under whatever names.
type cutNode struct {
	names, disk map[string]*cutNode // of a directory: what is in it, and what is on disk of that
	moved       map[string]bool     // names that were renamed, and not removed, since the last fsync
	shelved     string              // of a file
	synced      bool                // its content is on disk
}

func cutDir() *cutNode {
	return &cutNode{names: map[string]*cutNode{}, disk: map[string]*cutNode{}, moved: map[string]bool{}}
}

// cutOf returns the files of a directory, all of which are on disk.
func cutOf(t *testing.T, dir string) *cutFiles {
	f := &cutFiles{shelf: t.TempDir(), opened: map[string]*cutNode{}}
	f.faultyFiles = faultyFiles{OS: must(disk.NewOS(dir)), Fault: errCrashed, Lasting: true, Quick: true, Healed: true}
	f.top = f.load(".")
	return f
}

func (f *cutFiles) load(name string) *cutNode {
	if !must(os.Stat(pathIn(f.Dir, name))).IsDir() {
		return &cutNode{shelved: f.shelve(name), synced: true}
	}
	n := cutDir()
	for _, e := range must(os.ReadDir(pathIn(f.Dir, name))) {
		n.names[e.Name()] = f.load(path.Join(name, e.Name()))
	}
	n.disk = maps.Clone(n.names)
	return n
}

func (f *cutFiles) Create(name string) (disk.File, error) {
	opened, err := f.faultyFiles.Create(name)
	f.shelve(name)
	return opened, err
}

// shelve gives a file another name, under which it is found whatever becomes of the first.
func (f *cutFiles) shelve(name string) string {
	shelved := filepath.Join(f.shelf, strings.ReplaceAll(name, "/", "-"))
	_ = os.Link(pathIn(f.Dir, name), shelved)
	return shelved
}

// node finds what has a name; nil where there is nothing.
func (f *cutFiles) node(name string) *cutNode {
	n := f.top
	for part := range strings.SplitSeq(name, "/") {
		if n != nil && part != "." {
			n = n.names[part]
		}
	}
	return n
}

// replay gives the operations since the last time their meaning. Those that found nothing, or what is there, have none.
func (f *cutFiles) replay() {
	for ; f.done < len(f.Trace); f.done++ {
		words := strings.Fields(f.Trace[f.done])
		name, last := words[1], words[len(words)-1]
		n, dir, into, base := f.node(name), f.node(path.Dir(name)), f.node(path.Dir(last)), path.Base(last)
		switch opened := f.opened[name]; {
		case words[0] == "open":
			f.opened[name] = n
		case words[0] == "write" && opened != nil:
			opened.synced = false
		case words[0] == "sync" && opened != nil:
			opened.synced, opened.disk, opened.moved = true, maps.Clone(opened.names), map[string]bool{}
		case words[0] == "mkdir" && into != nil && n == nil:
			into.names[base] = cutDir()
		case words[0] == "create" && into != nil && n == nil:
			into.names[base] = &cutNode{shelved: f.shelve(name)}
			f.opened[name] = into.names[base]
		case words[0] == "link" && into != nil && n != nil && into.names[base] == nil:
			into.names[base] = n
		case words[0] == "rename" && into != nil && n != nil:
			delete(dir.names, path.Base(name))
			dir.moved[path.Base(name)], into.names[base] = true, n
		case words[0] == "remove" && n != nil && len(n.names) == 0:
			delete(dir.names, base)
		}
	}
}

// cutModes tell, of a change in a directory that was not fsynced, whether it is on disk all the same: a system may write
// at any moment, and in any order.
var cutModes = map[string]func(n *rand.Rand, removed bool) bool{
	"nothing more":  func(*rand.Rand, bool) bool { return false },
	"what was gone": func(_ *rand.Rand, removed bool) bool { return removed },
	"some of it":    func(n *rand.Rand, _ bool) bool { return n.IntN(2) == 0 },
}

// left makes what a power cut leaves of a file or directory.
func (n *cutNode) left(to string, kept func(removed bool) bool) error {
	if n.names == nil && n.synced {
		return os.Link(n.shelved, to)
	}
	if n.names == nil {
		return os.WriteFile(to, nil, 0o666)
	}
	err := os.Mkdir(to, 0o777)
	all := maps.Clone(n.disk)
	maps.Copy(all, n.names)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		child, is := n.disk[name], n.names[name]
		if child != is && (is != nil || !n.moved[name]) && kept(is == nil) { // a name that is moved is gone with an fsync
			child = is
		}
		if child != nil {
			err = errors.Join(err, child.left(filepath.Join(to, name), kept))
		}
	}
	return err
}

// said gives all that a store says: its runs by id, events, artifacts and header by name. What is no store says nothing.
func said(t *testing.T, dir string) map[string]string {
	t.Helper()
	header, err := os.ReadFile(filepath.Join(dir, schema.HeaderFile))
	if err != nil {
		return nil
	}
	all := contents(t, dir)
	all[schema.HeaderFile] = string(header)
	for _, pattern := range []string{schema.EventsDir + "/*", schema.ArtifactsDir + "/*/*"} {
		for _, name := range must(fs.Glob(os.DirFS(dir), pattern)) {
			all[name] = string(must(os.ReadFile(filepath.Join(dir, name))))
		}
	}
	return all
}

// cut cuts the power, and checks that what was acknowledged is there, that all is whole, and that others can go on: in
// the end every run is sealed, once.
func (f *cutFiles) cut(t *testing.T) {
	t.Helper()
	f.replay()
	f.Healed = true
	want := said(t, string(f.Dir))
	for mode, kept := range cutModes {
		random := rand.New(rand.NewPCG(7, uint64(f.done)))
		dir := filepath.Join(t.TempDir(), "left")
		mustDo(t, f.top.left(dir, func(removed bool) bool { return kept(random, removed) }))
		for _, claim := range must(fs.Glob(os.DirFS(dir), schema.ClaimsDir+"/*")) { // no directory comes back as two
			mustDo(t, os.RemoveAll(filepath.Join(dir, schema.TrashDir, path.Base(claim))))
		}
		got := said(t, dir)
		for _, key := range f.acked {
			if got[key] == "" {
				t.Errorf("%s: %s was acknowledged, and is lost", mode, key)
			}
		}
		for key, text := range got {
			valuetest.Equal(t, text, want[key], mode, key)
		}
		if got == nil || t.Failed() {
			continue
		}
		valuetest.DeepEqual(t, damage(findings(t, dir)), nil, mode)
		planned(t, dir)
		if mode != "some of it" {
			continue
		}
		next := openWith(t, dir, quickFiles(dir), heirRules())
		run := smallRun()
		mustAppend(t, next, run)
		mustDo(t, next.Close())
		for range 3 {
			mustSeal(t, dir)
		}
		later := said(t, dir)
		live, sealed, claims := whereRuns(t, dir)
		got[run.RunID] = later[run.RunID]
		slices.Sort(sealed)
		if !maps.Equal(later, got) || len(live)+len(claims) > 0 || len(slices.Compact(sealed)) < len(sealed) {
			t.Fatalf("%s: later live %v, sealed %v, claims %v;\n%v\nand there was\n%v", mode, live, sealed, claims, later, got)
		}
		wholeStore(t, dir)
	}
}

// did acknowledges what was done without an error, unless the process ended before it could say so.
func (f *cutFiles) did(err error, keys ...string) error {
	if f.Hit && !f.Healed {
		return errCrashed
	}
	if err == nil {
		f.acked = append(f.acked, keys...)
	}
	return err
}

// TestPowerCut ends a process in a session before each operation that makes names durable or takes names away, and cuts
// the power there; and where it stays on, another process does the session, and the power is cut after that. With
// NEUROLENS_LONG=1 it takes every 15th of them, from another one on each time; with NEUROLENS_LONG=all each.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	decisive := regexp.MustCompile(`^(sync|rename|remove) (\.|[a-su-z]|trash)`) // not of tmp
	step := tier(149, 15, 1)
	offset := rand.IntN(tier(1, step, 1))
	t.Logf("offset %d", offset)
	for name, c := range cutSessions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := c.begin(t)
			from := len(f.Trace)
			mustDo(t, c.session(f))
			f.cut(t)
			number := 0
			for at, operation := range f.Trace[from:] {
				if !decisive.MatchString(operation) {
					continue
				}
				if number++; (number+offset)%step != 0 {
					continue
				}
				t.Run(operation, func(t *testing.T) {
					f := c.begin(t)
					f.At, f.Healed = from+at, false
					if err := c.session(f); !f.Hit {
						t.Fatalf("it has no such operation: %v", err)
					}
					f.Trace = f.Trace[:f.At]
					f.cut(t)
					mustDo(t, c.session(f))
					f.cut(t)
				})
			}
		})
	}
}

// cutSession is what processes do in a copy of a store.
type cutSession struct {
	before  string
	session func(f *cutFiles) error
}

func (c cutSession) begin(t *testing.T) *cutFiles {
	dir := copied(t, c.before)
	mustDo(t, os.MkdirAll(dir, 0o777))
	f := cutOf(t, dir)
	f.acked = slices.Collect(maps.Keys(said(t, dir)))
	return f
}

func cutSessions(t *testing.T) map[string]cutSession {
	nothing := t.TempDir()
	_, empty := newStore(t)
	store, small := newStore(t)
	runs := append(sweep(1, 8, 1), fullRun(), smallRun(), smallRun())
	fresh := sweep(2, 3, 1)
	bulkFiles(t, store, 2, runs[:8])
	note := func(f *cutFiles) error {
		e, err := runfile.AppendEvent(f, schema.Event{Kind: schema.EventNote, Runs: ids(runs[0]), Value: "x"}, time.Now())
		return f.did(err, path.Join(schema.EventsDir, e.EventID+".json"))
	}
	for range 3 {
		mustDo(t, note(cutOf(t, small)))
	}
	store, resting := newStore(t)
	late := smallRun()
	mustAppend(t, store, append(runs[8:], startedAt(late, late.StartedAt.AddDate(0, 2, 0)))...)
	p := newPair(t)
	other := must(Open(p.b, "test"))
	bulkFiles(t, other, 3, fresh) // a sealed file that is copied as it is
	mustAppend(t, other, runs[8:]...)
	merged, from := copied(t, p.a), must(disk.NewOS(p.b))
	mustMerge(t, p.b, merged)
	all, ofB := slices.Collect(maps.Keys(said(t, merged))), slices.Collect(maps.Keys(said(t, p.b)))
	return map[string]cutSession{
		"init":     {nothing, func(f *cutFiles) error { return f.did(initStore(f), schema.HeaderFile) }},
		"annotate": {empty, func(f *cutFiles) error { return cmp.Or(note(f), note(f)) }},
		"pack":     {small, func(f *cutFiles) error { return f.did(newPacker(f).Pack()) }},
		"append":   {empty, func(f *cutFiles) error { return cmp.Or(f.append(runs[8:]...), f.seal()) }},
		"seal":     {resting, (*cutFiles).seal},
		"append all": {small, func(f *cutFiles) error {
			if err := f.append(runs[8:]...); err != nil {
				return err
			}
			b := newBulk(f, "test", bulkBytes)
			return f.did(b.all(each(append(fresh, runs...)...)), ids(append(fresh, runs...)...)...)
		}},
		"merge": {p.a, func(f *cutFiles) error {
			if err := f.append(runs[8:]...); err != nil {
				return err
			}
			_, err := mergeFrom(from, f, func(found LeftOut) { t.Errorf("refused %+v", found) })
			return f.did(err, all...)
		}},
		"compact": {nothing, func(f *cutFiles) error {
			if f.Hit {
				return nil // another process does not go on with it
			}
			c := &compacter{from: from, into: f, version: "test", memory: compactMemory}
			return f.did(c.all(t.Context()), ofB...)
		}},
	}
}

// append has the first process append runs, sealing two at a time, and bury at once what is settled.
func (f *cutFiles) append(runs ...schema.Run) error {
	if f.Hit {
		return nil
	}
	store, err := openStore(string(f.Dir), "test", f)
	if err != nil {
		return err
	}
	store.sealer.Rules = heirRules()
	store.sealer.Rules.Runs = 2
	for _, run := range runs {
		if err := f.did(store.Append(run), run.RunID); err != nil {
			return err
		}
	}
	return nil
}

// seal seals all, takes over what was begun, and buries. The first process has a run that came too late for its claim.
func (f *cutFiles) seal() error {
	s := sealing.Sealer{Files: f, Version: "test", Rules: heirRules()}
	if segments, err := disk.ListSegments(f, schema.LiveDir); err == nil && len(segments) == 1 && len(segments[0].Runs) == 4 && !f.Hit {
		s.Files = lateFiles{f, segments[0].Runs[3].String()}
		if _, err := s.Seal(context.Background(), 1); err != nil {
			return err
		}
		s.Files = f
	}
	for range 3 {
		if _, err := s.SealAll(context.Background(), 1); err != nil {
			return err
		}
	}
	return nil
}
