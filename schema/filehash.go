package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// FileHashKey is the key in the metadata of every file that has the file's SHA-256, in hex, computed with EmptyFileHash
// in its place.
const FileHashKey = "neurolens.sha256"

// EmptyFileHash takes the place of the hash while a file is encoded and hashed.
var EmptyFileHash = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// fileHashSlot precedes the hash in the footer: its key, then the header of a Thrift string (field 2 of KeyValue, type 8)
// and its length, 64.
const fileHashSlot = FileHashKey + "\x18\x40"

// PutFileHash writes the hash of a whole file, encoded with EmptyFileHash, into its place. The checksums of pages do not
// cover headers, footer and statistics, and with a flipped bit in a statistic readers would skip the run without an
// error.
func PutFileHash(file []byte) error {
	at, err := FileHashPlace(file)
	if err != nil || string(file[at:][:len(EmptyFileHash)]) != EmptyFileHash {
		return fmt.Errorf("no place for %s in the footer", FileHashKey)
	}
	sum := sha256.Sum256(file)
	hex.Encode(file[at:], sum[:])
	return nil
}

// CheckFileHash compares a file with the hash in its metadata. The error wraps ErrDamaged.
func CheckFileHash(file []byte) error {
	return CheckFileHashAt(bytes.NewReader(file), int64(len(file)))
}

// CheckFileHashAt is CheckFileHash for a file of any size: it keeps only its footer and one block in memory. The error
// may also be one of reading.
func CheckFileHashAt(file io.ReaderAt, size int64) error {
	footer, err := readFooter(file, size)
	if err != nil {
		return err
	}
	at, err := FileHashPlace(footer)
	if err != nil {
		return err
	}
	said := string(footer[at:][:len(EmptyFileHash)])
	place := size - int64(parquetTailLen+len(footer)) + int64(at)
	end := place + int64(len(EmptyFileHash))
	h := sha256.New()
	_, err = io.Copy(h, io.MultiReader(
		io.NewSectionReader(file, 0, place), strings.NewReader(EmptyFileHash), io.NewSectionReader(file, end, size-end)))
	if err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != said {
		return fmt.Errorf("%w: its content does not match its SHA-256", ErrDamaged)
	}
	return nil
}

// FileHashPlace is the offset of the hash in a file, or in the end of one that includes the footer. The error wraps
// ErrDamaged.
func FileHashPlace(file []byte) (int, error) {
	at := bytes.LastIndex(file, []byte(fileHashSlot)) + len(fileHashSlot)
	if at < len(fileHashSlot) || at+len(EmptyFileHash) > len(file) {
		return 0, fmt.Errorf("%w: it is not a file of a store", ErrDamaged)
	}
	return at, nil
}
