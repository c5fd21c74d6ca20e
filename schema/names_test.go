package schema

import (
	"path"
	"testing"
	"time"
)

func FuzzNames(f *testing.F) {
	runs := []ULID{NewULID(day(3)), NewULID(day(1))}
	sealedFile := NewSealedFile(NewClaim(day(2), runs), runs)
	claim := Claim{ID: NewULID(day(3)), Attempt: 12}
	for _, name := range []string{
		sealedFile.Name(), path.Base(claim.Path()), path.Base(EventFile(claim.ID)), path.Base(PackedEvents(claim.ID)),
		LiveFile{Segment: runs[0], Run: runs[1]}.Path(), LiveFile{Claim: &claim, Segment: runs[0], Run: runs[1]}.Path(),
		"", "x", "-", ".", "a.0", sealedFile.Name() + "x",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if s, err := ParseSealedFile(name); err == nil && s.Name() != name {
			t.Errorf("%q parses as the sealed file %q", name, s.Name())
		}
		if c, err := ParseClaim(name); err == nil && path.Base(c.Path()) != name {
			t.Errorf("%q parses as the claim %q", name, c.Path())
		}
		if l, err := ParseLiveFile(name); err == nil && l.Path() != name {
			t.Errorf("%q parses as the live file %q", name, l.Path())
		}
		if id, err := ParseEventFile(name); err == nil && path.Base(EventFile(id)) != name {
			t.Errorf("%q parses as the event %q", name, EventFile(id))
		}
		if id, err := ParsePackedEvents(name); err == nil && path.Base(PackedEvents(id)) != name {
			t.Errorf("%q parses as packed events %q", name, PackedEvents(id))
		}
	})
}

// TestSealedFileName: the name says the range and the number of its runs, and the folder is never before the latest.
func TestSealedFileName(t *testing.T) {
	runs := []ULID{NewULID(day(3)), NewULID(day(1)), NewULID(day(40))}
	f := NewSealedFile(NewClaim(day(2), runs), runs)
	if f.First != day(1).UnixMilli() || f.Last != day(40).UnixMilli() || f.Rows != 3 || path.Dir(f.Path(RunsDir)) != "runs/2026-12" {
		t.Errorf("%+v in %s", f, f.Path(RunsDir))
	}
	back, err := ParseSealedFile(f.Name())
	if err != nil || back != f {
		t.Errorf("%s parses as %+v, %v", f.Name(), back, err)
	}
	if want := RunsDir + "/2026-12/" + f.Name(); f.Path(RunsDir) != want {
		t.Errorf("%s, want %s", f.Path(RunsDir), want)
	}
	unknown := NewSealedFile(NewClaim(day(2), nil), []ULID{NewULID(time.Time{})})
	if back, err := ParseSealedFile(unknown.Name()); err != nil || back != unknown || unknown.First != 0 {
		t.Errorf("a run without a start: %s, %+v, %v", unknown.Name(), back, err)
	}
}
