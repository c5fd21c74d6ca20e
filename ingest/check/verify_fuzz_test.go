package check_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// FuzzClassify reads names: what they are taken for has this name, and nothing else has.
func FuzzClassify(f *testing.F) {
	mustDo(f, disk.Walk(os.DirFS(everything(f)), func(s disk.StoreFile) error {
		f.Add(s.Path)
		return nil
	}))
	for _, name := range []string{"", "/", "live", "live//x.parquet", "runs/2026-11/", "artifacts/ab/ab", "claims/x.0/plan.json", "tmp/a/b.part"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s := disk.Classify(name)
		again := name
		switch s.Kind {
		case disk.KindLive:
			again = s.Live.Path()
		case disk.KindSealed, disk.KindPack:
			again = s.Sealed.Path(s.Zone)
		case disk.KindEvent:
			again = schema.EventFile(s.ID)
		case disk.KindWideEvent:
			again = schema.WideEvent(s.ID)
		case disk.KindFolderNames:
			again = schema.FolderNames(s.ID)
		case disk.KindPackedEvents:
			again = schema.PackedEvents(s.ID)
		case disk.KindPlan:
			again = s.Claim.Path() + "/" + schema.PlanFile
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
	mustDo(f, disk.Walk(os.DirFS(dir), func(s disk.StoreFile) error {
		content, err := os.ReadFile(filepath.Join(dir, s.Path))
		whole[s.Path] = &fstest.MapFile{Data: content}
		return err
	}))
	for table := range runfile.Tables {
		f.Add(uint8(table), uint16(100), uint8(1), []byte(nil))
		f.Add(uint8(table), uint16(1000), uint8(0), []byte("xyz"))
	}
	f.Fuzz(func(t *testing.T, of uint8, at uint16, mask uint8, more []byte) {
		name := sealed.Path(schema.TableZones[runfile.Tables[int(of)%len(runfile.Tables)]])
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
		if _, err := check.VerifyFiles(context.Background(), store, func(check.Finding) {}); err != nil {
			t.Fatal(err)
		}
	})
}
