package schema

import "crypto/sha256"

// RowHash is SHA-256 over all values of a row, derived ones included, encoded as in a digest. Rows with equal hashes have
// equal values. The values have the types that Kind names.
func RowHash(row []any) [sha256.Size]byte {
	var b []byte
	for _, value := range row {
		b = appendValue(b, value)
	}
	return sha256.Sum256(b)
}
