package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// FileHashKey is the key in the metadata of every file under which the file's own SHA-256 stands, in hex, taken with
// EmptyFileHash in its place.
const FileHashKey = "neurolens.sha256"

// EmptyFileHash stands for the hash while a file is encoded and hashed.
var EmptyFileHash = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// fileHashSlot is what stands before the hash in the footer: its key, then the header of a Thrift string (field 2 of
// KeyValue, type 8) and its length, 64.
const fileHashSlot = FileHashKey + "\x18\x40"

// PutFileHash writes the hash of a whole file, encoded with EmptyFileHash, into its place. The checksums of pages leave
// headers, footer and statistics uncovered, and a flipped bit in a statistic makes readers pass over the run in silence.
func PutFileHash(file []byte) error {
	at, err := fileHashPlace(file)
	if err != nil || string(file[at:][:len(EmptyFileHash)]) != EmptyFileHash {
		return fmt.Errorf("no place for %s in the footer", FileHashKey)
	}
	sum := sha256.Sum256(file)
	hex.Encode(file[at:], sum[:])
	return nil
}

// CheckFileHash compares a file with the hash that it carries of itself. The error wraps ErrDamaged.
func CheckFileHash(file []byte) error {
	at, err := fileHashPlace(file)
	if err != nil {
		return err
	}
	end := at + len(EmptyFileHash)
	h := sha256.New()
	for _, part := range [][]byte{file[:at], []byte(EmptyFileHash), file[end:]} {
		_, _ = h.Write(part) // never fails
	}
	if hex.EncodeToString(h.Sum(nil)) != string(file[at:end]) {
		return fmt.Errorf("%w: the file does not match its own hash", ErrDamaged)
	}
	return nil
}

// fileHashPlace is where the hash begins; all of it is in the file.
func fileHashPlace(file []byte) (int, error) {
	at := bytes.LastIndex(file, []byte(fileHashSlot)) + len(fileHashSlot)
	if at < len(fileHashSlot) || at+len(EmptyFileHash) > len(file) {
		return 0, fmt.Errorf("%w: it is not a file of a store", ErrDamaged)
	}
	return at, nil
}
