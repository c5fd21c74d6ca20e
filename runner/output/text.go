package output

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Formats are the formats in which a program may write its output.
var Formats = []string{"npy", "csv", "json", "text"}

// Read reads an output in one of Formats: its shape, and the values that are compared, which the seed selects if there are very many. A
// text with that many is read twice, because its size is known only at the end.
func Read(r io.ReadSeeker, format string, seed uint64) (Array, error) {
	read, known := map[string]func(io.Reader, *sink) ([]int, error){"csv": readCSV, "json": readJSON, "text": readText}[format]
	switch {
	case format == "npy":
		return readNPY(r, seed)
	case !known:
		return Array{}, fmt.Errorf("format %q: want one of %s", format, strings.Join(Formats, " "))
	}
	to := &sink{}
	shape, err := read(r, to)
	if err == nil && to.n > maxCompared {
		to = &sink{places: positions(to.n, seed)}
		if _, err = r.Seek(0, io.SeekStart); err == nil {
			shape, err = read(r, to)
		}
	}
	if err != nil {
		return Array{}, err
	}
	return Array{Shape: shape, Values: to.values, Odd: to.odd}, nil
}

// sink takes the values of an output one after the other.
type sink struct {
	n      int   // values
	places []int // of those that are kept, ascending; nil: the first maxCompared
	values []float64
	odd    Odd
}

func (s *sink) add(v float64) error {
	if s.n == maxSize {
		return fmt.Errorf("more than %d values", maxSize)
	}
	kept := len(s.values)
	if s.places == nil && kept < maxCompared || kept < len(s.places) && s.places[kept] == s.n {
		s.values = append(s.values, v)
	}
	s.n++
	s.odd.add(v)
	return nil
}

// readCSV reads a table of numbers. A first row without a number is a header.
func readCSV(r io.Reader, to *sink) ([]int, error) {
	rows := csv.NewReader(r)
	rows.ReuseRecord, rows.TrimLeadingSpace = true, true
	n, columns := 0, 0
	for line := 1; ; line++ {
		row, err := rows.Read()
		if err == io.EOF {
			return []int{n, columns}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading CSV: %w", err)
		}
		if line == 1 && isHeader(row) {
			continue
		}
		for _, word := range row {
			if err := to.addWord(word); err != nil {
				return nil, fmt.Errorf("row %d: %w", line, err)
			}
		}
		n, columns = n+1, len(row)
	}
}

// isHeader reports that no word of a row is a number.
func isHeader(row []string) bool {
	return !slices.ContainsFunc(row, func(word string) bool { return new(sink).addWord(word) == nil })
}

// readText reads numbers that stand in a text, with spaces or line breaks between them.
func readText(r io.Reader, to *sink) ([]int, error) {
	words := bufio.NewScanner(r)
	words.Split(bufio.ScanWords)
	for words.Scan() {
		if err := to.addWord(words.Text()); err != nil {
			return nil, err
		}
	}
	if errors.Is(words.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("a word of more than %d bytes is not a number", bufio.MaxScanTokenSize)
	}
	return []int{to.n}, words.Err()
}

// addWord adds the number that a word is.
func (s *sink) addWord(word string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // beyond float64 is an infinity
		return fmt.Errorf("%.40q is not a number", word)
	}
	return s.add(v)
}
