package schema

import "crypto/sha256"

// RowHash is SHA-256 over all values of a row of a table, derived ones included, as they stand in a digest: two rows say
// the same if their hashes are equal. The values are of the types that Kind names.
func RowHash(row []any) [sha256.Size]byte {
	var b []byte
	for _, value := range row {
		b = appendValue(b, value)
	}
	return sha256.Sum256(b)
}
