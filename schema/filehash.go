package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
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
	said, place, err := findFileHash(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	h := sha256.New()
	h.Write(file[:place])
	h.Write([]byte(EmptyFileHash))
	h.Write(file[place+int64(len(said)):])
	return compareFileHash(h, said)
}

// CheckFileHashAt is CheckFileHash for a file of any size: it keeps only its footer and one block in memory. The error
// may also be one of reading.
func CheckFileHashAt(file io.ReaderAt, size int64) error {
	said, place, err := findFileHash(file, size)
	if err != nil {
		return err
	}
	h, end := sha256.New(), place+int64(len(said))
	_, err = io.Copy(h, io.MultiReader(
		io.NewSectionReader(file, 0, place), strings.NewReader(EmptyFileHash), io.NewSectionReader(file, end, size-end)))
	if err != nil {
		return err
	}
	return compareFileHash(h, said)
}

// findFileHash reads the hash in the metadata of a file, and its offset.
func findFileHash(file io.ReaderAt, size int64) (said string, place int64, err error) {
	footer, err := readFooter(file, size)
	if err != nil {
		return "", 0, err
	}
	at, err := FileHashPlace(footer)
	if err != nil {
		return "", 0, err
	}
	return string(footer[at:][:len(EmptyFileHash)]), size - int64(ParquetTail+len(footer)) + int64(at), nil
}

func compareFileHash(h hash.Hash, said string) error {
	if hex.EncodeToString(h.Sum(nil)) != said {
		return fmt.Errorf("%w: its content does not match its SHA-256", ErrDamaged)
	}
	return nil
}

// FileHashPlace returns the offset of the hash in a file, or in the end of a file that includes the footer. The error wraps ErrDamaged.
func FileHashPlace(file []byte) (int, error) {
	at := bytes.LastIndex(file, []byte(fileHashSlot)) + len(fileHashSlot)
	if at < len(fileHashSlot) || at+len(EmptyFileHash) > len(file) {
		return 0, fmt.Errorf("%w: it is not a file of a store", ErrDamaged)
	}
	return at, nil
}
