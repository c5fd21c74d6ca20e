package schema

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

// crockford is the alphabet of a ULID: base 32 without I, L, O and U.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ulidLength is the length of a ULID's text: 10 characters of time, 16 of randomness.
const ulidLength = 26

// ULID is a 128-bit identifier that sorts by time: 48 bits of Unix milliseconds, 80 random bits.
type ULID [16]byte

// NewULID makes a ULID for a time, truncated to milliseconds. The zero time gives 0.
func NewULID(t time.Time) ULID {
	var random [10]byte
	_, _ = rand.Read(random[:]) // never fails, by its documentation
	return ULIDFrom(t, random)
}

// ULIDFrom makes a ULID of a time and 80 given bits.
func ULIDFrom(t time.Time, bits [10]byte) ULID {
	var u ULID
	var ms uint64
	if !t.IsZero() {
		ms = uint64(max(t.UnixMilli(), 0))
	}
	binary.BigEndian.PutUint64(u[:8], ms<<16)
	copy(u[6:], bits[:])
	return u
}

// Dated reports whether the time in an id is the start of its run or session. The ids of runs and sessions without a start have times on
// the first day of 1970: 0 for a run, and a counter in milliseconds for the sessions that a log names. Such ids sort, but not by time.
func (u ULID) Dated() bool { return u.Time().UnixMilli() >= FirstDated }

// FirstDated is the first time of an id that is Dated, in Unix milliseconds.
const FirstDated = 24 * 60 * 60 * 1000

// String prints the 26 characters of the identifier.
func (u ULID) String() string { return string(u.appendText(make([]byte, 0, ulidLength))) }

// appendText appends the text of String.
func (u ULID) appendText(b []byte) []byte {
	high, low := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	var s [ulidLength]byte
	for i := ulidLength - 1; i >= 0; i-- {
		s[i] = crockford[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return append(b, s[:]...)
}

// noDigit marks bytes that are not digits in crockfordDigits.
const noDigit = 0xff

// crockfordDigits are the values of the digits. A table is fast: a store of a million runs has 100,000 names to parse.
var crockfordDigits = func() (digits [256]byte) {
	for i := range digits {
		digits[i] = noDigit
	}
	for i := range len(crockford) {
		digits[crockford[i]] = byte(i)
	}
	return digits
}()

// ParseULID parses the output of String, and nothing else: no lower case, no other length.
func ParseULID(s string) (ULID, error) { return parseULID(s) }

// parseULID implements ParseULID for texts and for bytes, which it does not copy.
func parseULID[T string | []byte](s T) (ULID, error) {
	if len(s) != ulidLength || s[0] > '7' {
		return ULID{}, fmt.Errorf("%q is not a ULID", s)
	}
	var high, low uint64
	for i := range len(s) {
		digit := crockfordDigits[s[i]]
		if digit == noDigit {
			return ULID{}, fmt.Errorf("%q is not a ULID", s)
		}
		high = high<<5 | low>>59
		low = low<<5 | uint64(digit)
	}
	var u ULID
	binary.BigEndian.PutUint64(u[:8], high)
	binary.BigEndian.PutUint64(u[8:], low)
	return u, nil
}

// ParseULIDs parses texts, each as ParseULID does.
func ParseULIDs(texts []string) ([]ULID, error) {
	ids := make([]ULID, len(texts))
	for i, text := range texts {
		var err error
		if ids[i], err = ParseULID(text); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// Time returns the time in the identifier, in UTC.
func (u ULID) Time() time.Time {
	return time.UnixMilli(u.millis()).UTC()
}

// Compare orders ids by their times, and ids of the same time by their random bits. Their texts have the same order.
func (u ULID) Compare(v ULID) int { return bytes.Compare(u[:], v[:]) }

// millis returns the time in the identifier, in Unix milliseconds.
func (u ULID) millis() int64 { return int64(binary.BigEndian.Uint64(u[:8]) >> 16) }
