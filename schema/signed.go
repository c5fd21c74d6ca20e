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

// ReadSignedJSON reads a line of SignJSON into v. It hashes the bytes unchanged, so members that a later version adds, and v does not
// have, are no damage. The error wraps ErrDamaged.
func ReadSignedJSON(line []byte, v any) error {
	members, said, ok := signedParts(line)
	if !ok {
		return fmt.Errorf("%w: it does not end with its SHA-256", ErrDamaged)
	}
	if !sumMatches(members, said) {
		return fmt.Errorf("%w: its content does not match its SHA-256", ErrDamaged)
	}
	object := append(bytes.Clone(members), '}')
	if err := json.Unmarshal(object, v); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// signedParts splits a line of SignJSON into the object up to its last member, without a closing brace, and the recorded hash.
func signedParts(line []byte) (members, said []byte, ok bool) {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	at := len(text) - signedLength
	if !ended || at < 2 || !bytes.HasPrefix(text[at:], []byte(signedBefore)) || !bytes.HasSuffix(text, []byte(signedAfter)) {
		return nil, nil, false
	}
	return text[:at:at], text[at+len(signedBefore):][:2*sha256.Size], true
}

// sumMatches reports whether the hash of an object equals the recorded hash.
func sumMatches(members, said []byte) bool {
	hash := sha256.New()
	hash.Write(members)
	hash.Write([]byte{'}'})
	return hex.EncodeToString(hash.Sum(nil)) == string(said)
}
