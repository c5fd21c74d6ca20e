package bucket

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// example returns the manifest of a push with two runs, an event and an artifact; compacted, of a compacted store.
func example(compacted bool) *manifest {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	id := func(n byte) schema.ULID { return schema.ULIDFrom(at, [10]byte{n}) }
	m := &manifest{
		Format: Format, Push: id(9).String(), Writer: id(1).String(), At: at, Program: "0.1.0",
		Runs: 2, RunIDs: idList{id(2), id(3)}, Events: 1, EventIDs: idList{id(4)},
	}
	if compacted {
		m.Replaces = 7
	}
	sealed := schema.NewSealedFile(id(9), m.RunIDs)
	m.Sources = []string{sealed.Name()}
	sum := strings.Repeat("0a", 32)
	for _, kind := range []string{kindRuns, kindSamples, kindOps} {
		m.Objects = append(m.Objects, Object{Key: m.place() + sealed.Path(kind), Kind: kind, Bytes: 10, SHA256: sum})
	}
	m.Objects = append(m.Objects,
		Object{Key: m.eventsKey(), Kind: kindEvents, Bytes: 10, SHA256: sum},
		Object{Key: artifactKey(m.Writer, m.Push, sum+".zst"), Kind: kindArtifacts, Bytes: 10, SHA256: sum})
	if compacted {
		m.Objects = append(m.Objects, Object{Key: m.place() + schema.HeaderFile, Kind: kindStore, Bytes: 10, SHA256: sum})
	}
	return m
}

// TestManifest: what is written is read again.
func TestManifest(t *testing.T) {
	for _, compacted := range []bool{false, true} {
		want := example(compacted)
		got, err := decodeManifest(valuetest.Must(want.encode()))
		valuetest.OK(t, err)
		valuetest.DeepEqual(t, got, want)
	}
}

// TestLyingManifest: a manifest that contradicts itself, or names a key that is not of its push, is refused.
func TestLyingManifest(t *testing.T) {
	other := schema.ULIDFrom(time.Now(), [10]byte{8}).String()
	for what, lie := range map[string]func(m *manifest){
		"no push":              func(m *manifest) { m.Push = "" },
		"another writer":       func(m *manifest) { m.Writer = other },
		"a writer with a path": func(m *manifest) { m.Writer = "../" + m.Writer[3:] },
		"more runs":            func(m *manifest) { m.Runs++ },
		"fewer ids":            func(m *manifest) { m.RunIDs, m.Runs = m.RunIDs[:1], 1 },
		"another order":        func(m *manifest) { m.RunIDs = idList{m.RunIDs[1], m.RunIDs[0]} },
		"more events":          func(m *manifest) { m.Events++ },
		"events without ids":   func(m *manifest) { m.Events, m.EventIDs = 0, nil },
		"a source elsewhere":   func(m *manifest) { m.Sources[0] = "../" + m.Sources[0] },
		"a negative size":      func(m *manifest) { m.Objects[0].Bytes = -1 },
		"a huge size":          func(m *manifest) { m.Objects[0].Bytes = maxObject + 1 },
		"no hash":              func(m *manifest) { m.Objects[0].SHA256 = "" },
		"another kind":         func(m *manifest) { m.Objects[0].Kind = kindSamples },
		"no kind":              func(m *manifest) { m.Objects[0].Kind = "" },
		"an object twice":      func(m *manifest) { m.Objects = append(m.Objects, m.Objects[1]) },
		"no object of runs":    func(m *manifest) { m.Objects = m.Objects[1:] },
		"other runs":           func(m *manifest) { m.Objects[0].Key = strings.Replace(m.Objects[0].Key, "-2.parquet", "-3.parquet", 1) },
		"an absolute key":      func(m *manifest) { m.Objects[0].Key = "/etc/passwd" },
		"a key above":          func(m *manifest) { m.Objects[0].Key = m.place() + "../" + m.Objects[0].Key },
		"a key of another":     func(m *manifest) { m.Objects[0].Key = strings.Replace(m.Objects[0].Key, m.Writer, other, 1) },
		"another folder":       func(m *manifest) { m.Objects[0].Key = strings.Replace(m.Objects[0].Key, "2026-11", "2026-12", 1) },
		"a folder above":       func(m *manifest) { m.Objects[0].Key = strings.Replace(m.Objects[0].Key, "2026-11", "..", 1) },
		"events of another":    func(m *manifest) { m.Objects[3].Key = strings.Replace(m.Objects[3].Key, m.Push, other, 1) },
		"an artifact above":    func(m *manifest) { m.Objects[4].Key = strings.Replace(m.Objects[4].Key, ".zst", "/../../x", 1) },
		"a strange artifact":   func(m *manifest) { m.Objects[4].Key += "\x00" },
		"another artifact":     func(m *manifest) { m.Objects[4].SHA256 = strings.Repeat("0b", 32) },
		"the header":           func(m *manifest) { m.Objects[4].Key, m.Objects[4].Kind = m.place()+"neurolens.json", kindStore },
		"replaces too much":    func(m *manifest) { m.Replaces = maxNumber + 1 },
		"replaces":             func(m *manifest) { m.Replaces = 1 },
	} {
		m := example(false)
		lie(m)
		line, err := schema.SignJSON(m)
		valuetest.OK(t, err)
		if _, err := decodeManifest(line); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got error %v", what, err)
		}
	}
}

// FuzzManifest: whatever a bucket has in the place of a manifest, it is refused, or all its objects are files that a store can have.
func FuzzManifest(f *testing.F) {
	for _, compacted := range []bool{false, true} {
		line, err := example(compacted).encode()
		valuetest.OK(f, err)
		f.Add(string(line[:len(line)-78]) + "}")
	}
	f.Add(`{"bucket_format":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		line := []byte(text)
		if object, ok := strings.CutSuffix(text, "}"); ok { // most changes would only break the hash
			line = signed(object)
		}
		m, err := decodeManifest(line)
		if err != nil {
			return
		}
		for _, o := range m.Objects {
			if !strings.HasPrefix(o.Key, m.place()) && !strings.HasPrefix(o.Key, writerDir) || o.name() != "" && (!fs.ValidPath(o.name()) || disk.Classify(o.name()).Kind == disk.KindForeign) {
				t.Errorf("the object %+v has the name %q", o, o.name())
			}
		}
		if again, err := m.encode(); err != nil {
			t.Errorf("%s cannot be written: %v", again, err)
		}
	})
}

// signed signs the members of an object.
func signed(object string) []byte {
	sum := sha(object + "}")
	return []byte(object + `,"sha256":"` + sum + "\"}\n")
}
