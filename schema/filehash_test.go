package schema

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestFileHash(t *testing.T) {
	// The key may stand in the data too; the last one counts.
	footer := "neurolens.sha256\x18\x40 statistics neurolens.sha256\x18\x40" + strings.Repeat("0", 64) + " rest"
	length := string(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	empty := "PAR1 neurolens.sha256\x18\x40 data" + footer + length + "PAR1"
	file := []byte(empty)
	valuetest.OK(t, PutFileHash(file))
	sum := sha256.Sum256([]byte(empty))
	if want := strings.Replace(empty, strings.Repeat("0", 64), hex.EncodeToString(sum[:]), 1); string(file) != want {
		t.Fatalf("got %q, want %q", file, want)
	}
	whole := bytes.Clone(file)
	at := func(file []byte) error { return CheckFileHashAt(bytes.NewReader(file), int64(len(file))) }
	if err := cmp.Or(CheckFileHash(file), at(file)); err != nil || !bytes.Equal(file, whole) {
		t.Errorf("the file is checked with %v and is then %q", err, file)
	}
	broken := errors.New("broken")
	if err := CheckFileHashAt(failingAt{broken}, int64(len(file))); err != broken {
		t.Errorf("a file that cannot be read: %v", err)
	}
	if err := PutFileHash(file); err == nil {
		t.Error("a file is hashed twice")
	}
	for i := range file {
		file[i] ^= 1
		if err, read := CheckFileHash(file), at(file); !errors.Is(err, ErrDamaged) || !errors.Is(read, ErrDamaged) {
			t.Errorf("with byte %d changed: %v, %v", i, err, read)
		}
		file[i] ^= 1
	}
	for n := range len(file) {
		if err, read := CheckFileHash(file[:n]), at(file[:n]); !errors.Is(err, ErrDamaged) || !errors.Is(read, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v, %v", n, err, read)
		}
	}
}

type failingAt struct{ err error }

func (f failingAt) ReadAt([]byte, int64) (int, error) { return 0, f.err }
