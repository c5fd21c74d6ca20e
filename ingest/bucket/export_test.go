package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// MadeUp returns the manifest of a push of n runs whose objects nobody needs, and the sealed file that it names.
func MadeUp(t testing.TB, number, n int) ([]byte, schema.SealedFile) {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(number) * time.Minute / 2)
	m := &manifest{Format: Format, Push: schema.NewULID(at).String(), Writer: schema.ULIDFrom(at, [10]byte{1}).String(), At: at, Program: "test", Runs: n}
	for i := range n {
		m.RunIDs = append(m.RunIDs, schema.ULIDFrom(at.Add(time.Duration(i)*time.Millisecond), [10]byte{byte(number >> 8), byte(number)}))
	}
	sealed := schema.NewSealedFile(schema.NewClaim(at, m.RunIDs), m.RunIDs)
	for _, kind := range []string{kindRuns, kindSamples} {
		m.Objects = append(m.Objects, Object{Key: m.place() + sealed.Path(kind), Kind: kind, Bytes: 1, SHA256: sha("")})
	}
	line, err := m.encode()
	valuetest.OK(t, err)
	if _, err := decodeManifest(line); err != nil {
		t.Fatal(err)
	}
	return line, sealed
}

// Hurry sets the time after which a silent connection is cut.
func (b *Bucket) Hurry(idle time.Duration) { b.idle = idle }

// CommitLate puts the manifest of a push that began some time ago.
func CommitLate(ctx context.Context, b *Bucket, ago time.Duration) error {
	m := example(false)
	m.At = time.Now().Add(-ago)
	log, err := b.openOrCreate(ctx)
	if err == nil {
		_, err = log.commit(ctx, m)
	}
	return err
}

// EmptyCompacted returns the manifest of a compacted store without runs, which replaces pushes up to a number.
func EmptyCompacted(t testing.TB, replaces int64) []byte {
	t.Helper()
	at := time.Now()
	m := &manifest{Format: Format, Push: schema.NewULID(at).String(), Writer: schema.NewULID(at).String(), At: at.UTC(), Replaces: replaces}
	return valuetest.Must(m.encode())
}
