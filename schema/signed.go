package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// The text around the hash, which is the last member of a signed object.
const (
	signedBefore = `,"sha256":"`
	signedAfter  = `"}`
	signedLength = len(signedBefore) + 2*sha256.Size + len(signedAfter)
)

// SignJSON prints a value, which must have members, as one line of JSON. Its last member, sha256, is the hex SHA-256 of
// the object's text without that member.
func SignJSON(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text) < 3 || text[0] != '{' {
		return nil, fmt.Errorf("%.30q is not a JSON object with members", text)
	}
	sum := sha256.Sum256(text)
	text = append(text[:len(text)-1], signedBefore+hex.EncodeToString(sum[:])+signedAfter+"\n"...)
	return text, nil
}

// ReadSignedJSON reads a line of SignJSON into v. It hashes the bytes as they are, so members that a later version adds,
// and v does not have, are no damage. The error wraps ErrDamaged.
func ReadSignedJSON(line []byte, v any) error {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	at := len(text) - signedLength
	if !ended || at < 2 || !bytes.HasPrefix(text[at:], []byte(signedBefore)) || !bytes.HasSuffix(text, []byte(signedAfter)) {
		return fmt.Errorf("%w: it does not end with its SHA-256", ErrDamaged)
	}
	said := string(text[at+len(signedBefore):][:2*sha256.Size])
	object := append(bytes.Clone(text[:at]), '}')
	if sum := sha256.Sum256(object); hex.EncodeToString(sum[:]) != said {
		return fmt.Errorf("%w: its content does not match its SHA-256", ErrDamaged)
	}
	if err := json.Unmarshal(object, v); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}
