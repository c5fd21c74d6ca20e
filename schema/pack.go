package schema

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// PackCoversKey is the key in the metadata of a pack with the ids of the sealed files that it covers, as EncodeCovers
// prints them.
const PackCoversKey = "neurolens.covers"

// packCoversSlot precedes the length and the value in the footer: the key, then the header of a Thrift string (field 2 of
// KeyValue, type 8).
const packCoversSlot = PackCoversKey + "\x18"

// ParquetMagic begins and ends a Parquet file.
const ParquetMagic = "PAR1"

// ParquetTail is the number of bytes behind the footer of a Parquet file: its length, little-endian, and the magic bytes.
const ParquetTail = 4 + len(ParquetMagic)

// maxFooter is enough for a file of terabytes.
const maxFooter = 256 << 20

// EncodeCovers prints the ids of sealed files, ascending, as the value of PackCoversKey.
func EncodeCovers(ids []ULID) string {
	b := make([]byte, 0, len(ids)*len(ULID{}))
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// PackCovers reads the ids, ascending, of the sealed files whose rows a pack contains. It reads only the footer of the file. The error
// wraps ErrDamaged, or comes from the file system. Packs are derived, so a reader can ignore one that cannot be read.
func PackCovers(store fs.FS, pack SealedFile) ([]ULID, error) {
	name := pack.Path(PacksDir)
	file, at, size, err := OpenAt(store, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	footer, err := readFooter(at, size)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	covers, err := parseCovers(footer)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	return covers, nil
}

// readFooter reads the metadata at the end of a Parquet file, without its length.
func readFooter(file io.ReaderAt, size int64) ([]byte, error) {
	tail := make([]byte, ParquetTail)
	if size < int64(len(tail)) {
		return nil, fmt.Errorf("%w: %d bytes are too few for a Parquet file", ErrDamaged, size)
	}
	if err := readAt(file, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != ParquetMagic || length > min(size-int64(len(tail)), maxFooter) {
		return nil, fmt.Errorf("%w: it does not end like a Parquet file", ErrDamaged)
	}
	footer := make([]byte, length)
	return footer, readAt(file, footer, size-int64(len(tail))-length)
}

// readAt fills b or returns an error.
func readAt(file io.ReaderAt, b []byte, offset int64) error {
	n, err := file.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	return err
}

// parseCovers finds the ids in the footer of a pack. Text from the rows comes before the metadata in the footer, so the
// last occurrence of the key counts.
func parseCovers(footer []byte) ([]ULID, error) {
	at := bytes.LastIndex(footer, []byte(packCoversSlot)) + len(packCoversSlot)
	if at < len(packCoversSlot) {
		return nil, fmt.Errorf("%w: it has no %s", ErrDamaged, PackCoversKey)
	}
	length, n := binary.Uvarint(footer[at:])
	if n <= 0 || length > uint64(len(footer)-at-n) {
		return nil, fmt.Errorf("%w: its %s is cut off", ErrDamaged, PackCoversKey)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(string(footer[at+n:][:length]))
	if err != nil || len(b) == 0 || len(b)%len(ULID{}) != 0 {
		return nil, fmt.Errorf("%w: its %s is not a list of ids", ErrDamaged, PackCoversKey)
	}
	ids := make([]ULID, len(b)/len(ULID{}))
	for i := range ids {
		copy(ids[i][:], b[i*len(ULID{}):])
		if i > 0 && bytes.Compare(ids[i-1][:], ids[i][:]) >= 0 {
			return nil, fmt.Errorf("%w: its %s is not in order", ErrDamaged, PackCoversKey)
		}
	}
	return ids, nil
}

// PlanPacks chooses which files to read so that every row of the sealed files of a listing is read once: packs, largest coverage first,
// of which no two cover the same file, and the files that no pack covers, newest id first. The listing must have the zero Scope; covers
// are the results of PackCovers by the id of the pack. A pack without a result is not used. Neither is a pack that covers a file which
// is not in the listing: it may have runs that were sealed after the listing, or whose file was removed from the store.
func PlanPacks(l *Listing, covers map[ULID][]ULID) (packs, files []SealedFile) {
	bySize := slices.SortedFunc(slices.Values(l.Packs), func(a, b SealedFile) int {
		return cmp.Or(cmp.Compare(len(covers[b.ID]), len(covers[a.ID])), newestFirst(a, b))
	})
	covered := make([]bool, len(l.Sealed))
	for _, pack := range bySize {
		places, ok := coveredPlaces(l.Sealed, covers[pack.ID])
		if !ok || slices.ContainsFunc(places, func(i int) bool { return covered[i] }) {
			continue
		}
		for _, i := range places {
			covered[i] = true
		}
		packs = append(packs, pack)
	}
	for i, f := range l.Sealed {
		if !covered[i] {
			files = append(files, f)
		}
	}
	return packs, files
}

// coveredPlaces returns the indices of the ids, which ascend, among the files, whose ids descend. ok is false if there are no ids or one
// of them is missing.
func coveredPlaces(sealed []SealedFile, ids []ULID) (places []int, ok bool) {
	at := len(sealed) - 1
	for _, id := range ids {
		for at >= 0 && bytes.Compare(sealed[at].ID[:], id[:]) < 0 {
			at--
		}
		if at < 0 || sealed[at].ID != id {
			return nil, false
		}
		places = append(places, at)
	}
	return places, len(places) > 0
}
