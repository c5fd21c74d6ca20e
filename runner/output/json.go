package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// maxTextBytes bounds JSON, which is read whole.
const maxTextBytes = 256 << 20

// bareNonFinite is what Python's json writes for what JSON cannot say.
var bareNonFinite = regexp.MustCompile(`(^|[\[,\s])(-?Infinity|NaN)`)

// readJSON reads a number, or lists of numbers that are equally long at each depth. NaN and Infinity may be there, bare as
// Python writes them, or as texts.
func readJSON(r io.Reader, to *sink) ([]int, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxTextBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxTextBytes {
		return nil, fmt.Errorf("more than %d bytes", maxTextBytes)
	}
	if bytes.ContainsAny(text, "NI") {
		text = bareNonFinite.ReplaceAll(text, []byte(`$1"$2"`))
	}
	in := jsonReader{tokens: json.NewDecoder(bytes.NewReader(text)), to: to}
	if err := in.value(0); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	if _, err := in.tokens.Token(); err != io.EOF {
		return nil, errors.New("reading JSON: there is more than one value")
	}
	return in.shape, nil
}

// jsonReader reads lists of numbers, token by token, so that it takes the memory of the numbers.
type jsonReader struct {
	tokens *json.Decoder
	shape  []int
	to     *sink
}

var errUneven = errors.New("the lists have different lengths")

// value reads a number or a list at a depth.
func (r *jsonReader) value(depth int) error {
	token, err := r.tokens.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		if v != '[' {
			return errors.New("an object is not a number")
		}
		return r.list(depth)
	case float64:
		err = r.to.add(v)
	case string:
		err = r.to.addWord(v)
	case nil:
		return errors.New("null is not a number (NaN and Infinity are allowed)")
	default:
		return fmt.Errorf("%v is not a number", token)
	}
	if err == nil && depth != len(r.shape) {
		return errUneven
	}
	return err
}

// list reads the values of a list. The first one at a depth says how long all others have to be.
func (r *jsonReader) list(depth int) error {
	first := depth == len(r.shape)
	if first {
		if depth == maxDims || r.to.n > 0 {
			return errUneven
		}
		r.shape = append(r.shape, 0)
	}
	n := 0
	for ; r.tokens.More(); n++ {
		if err := r.value(depth + 1); err != nil {
			return err
		}
	}
	if _, err := r.tokens.Token(); err != nil {
		return err
	}
	if first {
		r.shape[depth] = n
	}
	if r.shape[depth] != n {
		return errUneven
	}
	return nil
}
