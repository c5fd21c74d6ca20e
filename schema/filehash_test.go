package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func TestFileHash(t *testing.T) {
	// The key may stand in the data too; the last one counts.
	empty := "PAR1 neurolens.sha256\x18\x40 data neurolens.sha256\x18\x40" + strings.Repeat("0", 64) + " rest"
	file := []byte(empty)
	if err := PutFileHash(file); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(empty))
	if want := strings.Replace(empty, strings.Repeat("0", 64), hex.EncodeToString(sum[:]), 1); string(file) != want {
		t.Fatalf("got %q, want %q", file, want)
	}
	whole := bytes.Clone(file)
	if err := CheckFileHash(file); err != nil || !bytes.Equal(file, whole) {
		t.Errorf("the file is checked with %v and is then %q", err, file)
	}
	if err := PutFileHash(file); err == nil {
		t.Error("a file is hashed twice")
	}
	for i := range file {
		file[i] ^= 1
		if err := CheckFileHash(file); !errors.Is(err, ErrDamaged) {
			t.Errorf("with byte %d changed: %v", i, err)
		}
		file[i] ^= 1
	}
	for n := range len(file) {
		if err := CheckFileHash(file[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}
