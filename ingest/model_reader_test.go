package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// readers look at the store again and again.
func (m *model) readers() {
	for !m.stop.Load() && !m.t.Failed() {
		m.look()
		time.Sleep(50 * time.Millisecond) // of the model
	}
}

// look reads the names in the store as a reader does, opens what is new, and compares that with what was acknowledged
// before.
func (m *model) look() {
	m.mu.Lock()
	want := make([]string, 0, len(m.acked))
	for run := range m.acked {
		want = append(want, run)
	}
	m.looks++
	m.mu.Unlock()
	for range 1000 {
		listed, err := schema.List(os.DirFS(m.dir), schema.Scope{})
		if errors.Is(err, fs.ErrNotExist) {
			continue // a directory was removed between opening and reading it
		}
		if err != nil {
			m.t.Errorf("listing: %v", err)
			return
		}
		there := map[string]bool{}
		if !m.openLive(listed.Live, there) {
			continue // something was moved: begin anew
		}
		m.openSealed(listed.Sealed, there)
		m.checkPacks(listed)
		for _, run := range want {
			if !there[run] {
				m.missing(run)
			}
		}
		return
	}
	m.t.Error("a reader gets nowhere")
}

// missing reports an acknowledged run that a reader did not meet, and where it is.
func (m *model) missing(run string) {
	var found []string
	_ = filepath.WalkDir(m.dir, func(name string, _ fs.DirEntry, _ error) error {
		if filepath.Base(name) == run+".parquet" {
			found = append(found, name)
		}
		return nil
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.t.Errorf("run %s was acknowledged and is missing; live files of it: %q; sealed in %q", run, found, m.holder[run])
}

// openLive reads live files, and tells whether all were there.
func (m *model) openLive(files []schema.LiveFile, there map[string]bool) bool {
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(f.Path())))
		if errors.Is(err, fs.ErrNotExist) {
			return false
		}
		if err == nil {
			err = schema.CheckFileHash(content)
		}
		if err != nil {
			m.t.Errorf("%s: %v", f.Path(), err)
		}
		there[f.Run.String()] = true
	}
	return true
}

// openSealed reads the sealed files that were not seen before. Those that were have to be there.
func (m *model) openSealed(files []schema.SealedFile, there map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := map[string]bool{}
	for _, f := range files {
		names[f.Name()] = true
		if _, seen := m.sealed[f.Name()]; !seen {
			m.openNew(f)
		}
	}
	for name, runs := range m.sealed {
		if !names[name] {
			continue // another reader saw it since this one listed
		}
		for _, run := range runs {
			there[run] = true
		}
	}
}

// checkPacks: the packs and the files that a reader takes instead of the sealed files have as many runs as these.
func (m *model) checkPacks(listed *schema.Listing) {
	covers := map[schema.ULID][]schema.ULID{}
	for _, pack := range listed.Packs {
		ids, err := schema.PackCovers(os.DirFS(m.dir), pack)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.t.Errorf("%s: %v", pack.Name(), err)
		}
		covers[pack.ID] = ids
	}
	packs, files := schema.PlanPacks(listed, covers)
	rows := 0
	for _, f := range listed.Sealed {
		rows += f.Rows
	}
	for _, f := range slices.Concat(packs, files) {
		rows -= f.Rows
	}
	if rows != 0 {
		m.t.Errorf("packs and the other files have %d runs less than the sealed files", rows)
	}
}

// openNew reads a sealed file: each run in it is in no other one, and has its samples.
func (m *model) openNew(f schema.SealedFile) {
	runs := checkSealed(m.t, m.dir, f)
	m.sealed[f.Name()] = runs
	for _, run := range runs {
		if other := m.holder[run]; other != "" {
			m.t.Errorf("run %s is in %s and in %s", run, other, f.Name())
		}
		m.holder[run] = f.Name()
	}
}

// end lets one last process finish everything.
func (m *model) end() {
	time.Sleep(2 * modelGrace) // of the model
	var claims []schema.Claim
	for range 100 {
		m.seal()
		var live []string
		if live, _, claims = whereRuns(m.t, m.dir); len(live)+len(claims) == 0 {
			break
		}
	}
	live, sealed, claims := whereRuns(m.t, m.dir)
	if len(live)+len(claims) > 0 {
		m.t.Errorf("live files %v and claims %v are left", live, claims)
	}
	slices.Sort(sealed)
	if n := len(sealed); len(slices.Compact(sealed)) != n {
		m.t.Error("a run is sealed twice")
	}
	m.look()
	listed, err := schema.List(os.DirFS(m.dir), schema.Scope{})
	if err != nil {
		m.t.Fatal(err)
	}
	m.checkNames(listed)
	for _, f := range listed.Sealed {
		rows, _ := sealedRows(m.t, m.dir, f, schema.Runs)
		for run, row := range rows {
			if want, acked := m.acked[run]; acked && row[0][runfile.DigestPlace] != want {
				m.t.Errorf("run %s had the digest %s and has %v", run, want, row[0][runfile.DigestPlace])
			}
		}
	}
	checkStore(m.t, m.dir)
}

// seal seals all that may be sealed, of whomever, in the time of the model.
func (m *model) seal() {
	files := quickFiles(m.dir)
	files.stall, files.random = 1, rand.New(rand.NewPCG(1, 1))
	if _, err := openWith(m.t, m.dir, files, heirRules()).Seal(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// checkNames: every sealed file that was seen at any time is there.
func (m *model) checkNames(listed *schema.Listing) {
	for name := range m.sealed {
		if !slices.ContainsFunc(listed.Sealed, func(f schema.SealedFile) bool { return f.Name() == name }) {
			m.t.Errorf("%s is gone", name)
		}
	}
	if len(listed.Sealed) == 0 && len(m.acked) > 0 {
		m.t.Error(fmt.Sprint("nothing is sealed of ", len(m.acked)))
	}
}
