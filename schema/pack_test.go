package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"testing/fstest"
)

// packOf returns what PackCovers looks at of a pack: its footer with the metadata, and the end of the file.
func packOf(ids []ULID) []byte {
	value := EncodeCovers(ids)
	footer := append([]byte("rows that say "+packCoversSlot), packCoversSlot...)
	footer = append(binary.AppendUvarint(footer, uint64(len(value))), value...)
	footer = append(footer, 0)
	b := append([]byte(ParquetMagic+"pages"), footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), ParquetMagic...)
}

func TestPackCovers(t *testing.T) {
	store := newStoreFS(t)
	for _, n := range []int{1, 8, 1000} {
		var ids []ULID
		for range n {
			ids = append(ids, NewULID(day(1)))
		}
		slices.SortFunc(ids, func(a, b ULID) int { return bytes.Compare(a[:], b[:]) })
		pack := NewSealedFile(NewULID(day(2)), ids)
		content := packOf(ids)
		store[pack.Path(PacksDir)] = &fstest.MapFile{Data: content}
		got, err := PackCovers(store, pack)
		if err != nil || !slices.Equal(got, ids) {
			t.Fatalf("%d ids: %d, %v", n, len(got), err)
		}
		if n > 8 {
			continue
		}
		for cut := range content {
			store[pack.Path(PacksDir)] = &fstest.MapFile{Data: content[:cut]}
			if _, err := PackCovers(store, pack); !errors.Is(err, ErrDamaged) {
				t.Fatalf("cut to %d of %d bytes: %v", cut, len(content), err)
			}
		}
	}
	a, b := NewULID(day(1)), NewULID(day(2))
	for _, ids := range [][]ULID{nil, {b, a}, {a, a}} {
		pack := SealedFile{ID: b, Rows: 1}
		store[pack.Path(PacksDir)] = &fstest.MapFile{Data: packOf(ids)}
		if got, err := PackCovers(store, pack); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v is read as %v, %v", ids, got, err)
		}
	}
}

func FuzzPackCovers(f *testing.F) {
	f.Add(packOf([]ULID{NewULID(day(1))}))
	f.Fuzz(func(t *testing.T, content []byte) {
		pack := SealedFile{ID: NewULID(day(1)), Rows: 1}
		store := fstest.MapFS{pack.Path(PacksDir): {Data: content}}
		ids, err := PackCovers(store, pack)
		if (err == nil) == (len(ids) == 0) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%d ids, %v", len(ids), err)
		}
	})
}

// TestPlanPacks: each file is met once, in a pack or by itself, and a pack is taken before the smaller ones in it.
func TestPlanPacks(t *testing.T) {
	l := &Listing{}
	var ids []ULID
	for i := range 10 {
		f := NewSealedFile(NewULID(day(i+1)), []ULID{NewULID(day(i + 1))})
		l.Sealed = append([]SealedFile{f}, l.Sealed...)
		ids = append(ids, f.ID)
	}
	covers := map[ULID][]ULID{}
	pack := func(ids ...ULID) SealedFile {
		p := NewSealedFile(NewULID(day(20)), ids)
		l.Packs, covers[p.ID] = append(l.Packs, p), ids
		return p
	}
	pack(ids[:3]...)
	pack(ids[3:5]...)
	large := pack(ids[:5]...)
	other := pack(ids[6], ids[8])
	pack(ids[8])                          // what a larger one covers
	pack(ids[7], NewULID(day(30)))        // one file of it is not in the store
	pack(NewULID(day(0)), ids[7], ids[9]) // likewise
	pack()
	unread := pack(ids[7], ids[9])
	delete(covers, unread.ID)

	packs, files := PlanPacks(l, covers)
	if !slices.Equal(packs, []SealedFile{large, other}) {
		t.Errorf("packs %v", packs)
	}
	var rest []ULID
	for _, f := range files {
		rest = append(rest, f.ID)
	}
	if want := []ULID{ids[9], ids[7], ids[5]}; !slices.Equal(rest, want) {
		t.Errorf("files %v, want %v", rest, want)
	}
}
