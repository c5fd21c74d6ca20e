package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Formats are the ways in which a program may write its output.
var Formats = []string{"npy", "csv", "json", "text"}

// Read reads an output in one of Formats.
func Read(r io.Reader, format string) (Array, error) {
	switch format {
	case "npy":
		return readNPY(r)
	case "csv":
		return readCSV(r)
	case "json":
		return readJSON(r)
	case "text":
		return readText(r)
	}
	return Array{}, fmt.Errorf("format %q: want one of %s", format, strings.Join(Formats, " "))
}

// readCSV reads a table of numbers. A first row without a number is a header.
func readCSV(r io.Reader) (Array, error) {
	rows := csv.NewReader(r)
	rows.ReuseRecord, rows.TrimLeadingSpace = true, true
	var a Array
	n, columns := 0, 0
	for line := 1; ; line++ {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Array{}, fmt.Errorf("reading CSV: %w", err)
		}
		values, err := numbers(row)
		if err != nil {
			if line == 1 && isHeader(row) {
				continue
			}
			return Array{}, fmt.Errorf("row %d: %w", line, err)
		}
		if a.Values = append(a.Values, values...); len(a.Values) > maxSize {
			return Array{}, fmt.Errorf("more than %d values", maxSize)
		}
		n, columns = n+1, len(values)
	}
	a.Shape = []int{n, columns}
	return a, nil
}

// isHeader tells that no word of a row is a number.
func isHeader(row []string) bool {
	return !slices.ContainsFunc(row, func(word string) bool { _, err := numbers([]string{word}); return err == nil })
}

// readText reads numbers that stand in a text, with spaces or line breaks between them.
func readText(r io.Reader) (Array, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxTextBytes+1))
	if err != nil {
		return Array{}, err
	}
	if len(text) > maxTextBytes {
		return Array{}, fmt.Errorf("more than %d bytes", maxTextBytes)
	}
	values, err := numbers(strings.Fields(string(text)))
	return Array{Shape: []int{len(values)}, Values: values}, err
}

// maxTextBytes bounds an output that is read whole.
const maxTextBytes = 256 << 20

func numbers(words []string) ([]float64, error) {
	values := make([]float64, len(words))
	for i, word := range words {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // beyond float64 is an infinity
			return nil, fmt.Errorf("%.40q is no number", word)
		}
		values[i] = v
	}
	return values, nil
}

// bareNonFinite is what Python's json writes for what JSON cannot say.
var bareNonFinite = regexp.MustCompile(`(^|[\[,\s])(-?Infinity|NaN)`)

// readJSON reads a number, or lists of numbers that are equally long at each depth. NaN and Infinity may be there, bare as
// Python writes them, or as texts.
func readJSON(r io.Reader) (Array, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxTextBytes+1))
	if err != nil {
		return Array{}, err
	}
	if len(text) > maxTextBytes {
		return Array{}, fmt.Errorf("more than %d bytes", maxTextBytes)
	}
	in := jsonReader{tokens: json.NewDecoder(bytes.NewReader(bareNonFinite.ReplaceAll(text, []byte(`$1"$2"`))))}
	if err := in.value(0); err != nil {
		return Array{}, fmt.Errorf("reading JSON: %w", err)
	}
	if _, err := in.tokens.Token(); err != io.EOF {
		return Array{}, errors.New("reading JSON: there is more than one value")
	}
	return in.array, nil
}

// jsonReader reads lists of numbers, token by token, so that it takes the memory of the numbers.
type jsonReader struct {
	tokens *json.Decoder
	array  Array
}

var errUneven = errors.New("the lists are not equally long")

// value reads a number or a list at a depth.
func (r *jsonReader) value(depth int) error {
	token, err := r.tokens.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		if v != '[' {
			return errors.New("an object is no number")
		}
		return r.list(depth)
	case float64:
		r.array.Values = append(r.array.Values, v)
	case string:
		n, err := numbers([]string{v})
		if err != nil {
			return err
		}
		r.array.Values = append(r.array.Values, n...)
	default:
		return fmt.Errorf("%v is no number", token)
	}
	if depth != len(r.array.Shape) {
		return errUneven
	}
	return nil
}

// list reads the values of a list. The first one at a depth says how long all others have to be.
func (r *jsonReader) list(depth int) error {
	first := depth == len(r.array.Shape)
	if first {
		if depth == maxDims || len(r.array.Values) > 0 {
			return errUneven
		}
		r.array.Shape = append(r.array.Shape, 0)
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
		r.array.Shape[depth] = n
	}
	if r.array.Shape[depth] != n {
		return errUneven
	}
	return nil
}
