package ingest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema"
)

// FuzzClassify reads names: what they are taken for has this name, and nothing else has.
func FuzzClassify(f *testing.F) {
	mustDo(f, walkStore(os.DirFS(everything(f)), func(s stored) error {
		f.Add(s.path)
		return nil
	}))
	for _, name := range []string{"", "/", "live", "live//x.parquet", "runs/2026-11/", "artifacts/ab/ab", "claims/x.0/plan.json", "tmp/a/b.part"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s := classify(name)
		again := name
		switch s.kind {
		case kindLive:
			again = s.live.Path()
		case kindSealed, kindPack:
			again = s.sealed.Path(s.zone)
		case kindEvent:
			again = schema.EventFile(s.id)
		case kindPackedEvents:
			again = schema.PackedEvents(s.id)
		case kindPlan:
			again = s.claim.Path() + "/" + schema.PlanFile
		}
		if again != name {
			t.Errorf("%q is taken for %q", name, again)
		}
	})
}

// FuzzVerify has sealed files whose hash matches whatever is in them: verifying ends, and finds damage or a run as it
// was sealed.
func FuzzVerify(f *testing.F) {
	dir, sealed := sealedStore(f, fullRun(), smallRun())
	whole := fstest.MapFS{}
	mustDo(f, walkStore(os.DirFS(dir), func(s stored) error {
		content, err := os.ReadFile(filepath.Join(dir, s.path))
		whole[s.path] = &fstest.MapFile{Data: content}
		return err
	}))
	for table := range sealedTables {
		f.Add(uint8(table), uint16(100), uint8(1), []byte(nil))
		f.Add(uint8(table), uint16(1000), uint8(0), []byte("xyz"))
	}
	f.Fuzz(func(t *testing.T, of uint8, at uint16, mask uint8, more []byte) {
		name := sealed.Path(schema.TableZones[sealedTables[int(of)%len(sealedTables)]])
		content := bytes.Clone(whole[name].Data)
		place := int(at) % len(content)
		content[place] ^= mask
		copy(content[place:], more)
		hash, err := schema.FileHashPlace(content)
		if err != nil {
			return
		}
		copy(content[hash:], schema.EmptyFileHash)
		if err := schema.PutFileHash(content); err != nil {
			return
		}
		store := fstest.MapFS{}
		for other, file := range whole {
			store[other] = file
		}
		store[name] = &fstest.MapFile{Data: content}
		if _, err := verify(context.Background(), store, func(Finding) {}); err != nil {
			t.Fatal(err)
		}
	})
}
