package output

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Formats are the formats in which a program may write its output.
var Formats = []string{"npy", "csv", "json", "text"}

// Read reads an output in one of Formats: its shape, and the compared values, which the seed selects if there are very many. A text with
// that many is read twice, because its size is known only at the end.
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
	places []int // indices of the values to keep, ascending; nil: the first maxCompared
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

// readText reads numbers separated by spaces or line breaks.
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

// maxTextBytes is the maximum size of JSON, which is read as a whole.
const maxTextBytes = 256 << 20

// bareNonFinite matches the words that Python's json writes for values that JSON does not have.
var bareNonFinite = regexp.MustCompile(`(^|[\[,\s])(-?Infinity|NaN)`)

// readJSON reads a number, or lists of numbers that are equally long at each depth. NaN and Infinity are accepted, bare as Python writes
// them, or as texts.
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

// list reads the values of a list. The first one at a depth determines the length of all others.
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

// The header of a .npy file, as numpy.lib.format describes it: a dictionary of Python with three keys.
var (
	npyMagic = []byte("\x93NUMPY")
	npyDescr = regexp.MustCompile(`'descr'\s*:\s*'([<>|=]?)([a-z?])([0-9]*)'`)
	npyOrder = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, L]*)\)`)
)

const maxHeader = 1 << 16

// readNPY reads an array of real numbers or truth values in the format of numpy.save.
func readNPY(r io.Reader, seed uint64) (Array, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	header, err := npyHeader(b)
	if err != nil {
		return Array{}, err
	}
	descr, order, shape := npyDescr.FindStringSubmatch(header), npyOrder.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	if descr == nil || order == nil || shape == nil {
		return Array{}, fmt.Errorf("the header of the .npy file is not valid: %.100q", header)
	}
	array, size, err := npySize(shape[1])
	if err != nil {
		return Array{}, err
	}
	decode, width := npyDecoder(descr[2] + descr[3])
	if decode == nil {
		return Array{}, fmt.Errorf("the .npy file has values of type %s: want real numbers", strings.Join(descr[1:], ""))
	}
	values := npyValues{from: b, size: size, width: width, decode: decode, bytes: binary.LittleEndian, real: descr[2] == "f", odd: &array.Odd}
	if descr[1] == ">" {
		values.bytes = binary.BigEndian
	}
	places := positions(size, seed)
	if order[1] == "True" && len(array.Shape) > 1 {
		array.Values, err = values.ofFortran(array.Shape, places)
	} else {
		array.Values, err = values.at(places)
	}
	return array, err
}

// npyHeader reads the header of an .npy file.
func npyHeader(r io.Reader) (string, error) {
	start := make([]byte, len(npyMagic)+2)
	if _, err := io.ReadFull(r, start); err != nil || string(start[:len(npyMagic)]) != string(npyMagic) {
		return "", errors.New("it is not a .npy file")
	}
	length := make([]byte, 2)
	if start[len(npyMagic)] > 1 { // versions 2 and 3 have longer headers
		length = make([]byte, 4)
	}
	if _, err := io.ReadFull(r, length); err != nil {
		return "", errors.New("the .npy file ends in its header")
	}
	size := uint32(binary.LittleEndian.Uint16(length))
	if len(length) == 4 {
		size = binary.LittleEndian.Uint32(length)
	}
	if size > maxHeader {
		return "", fmt.Errorf("the header of the .npy file has %d bytes: want at most %d", size, maxHeader)
	}
	header := make([]byte, size)
	if _, err := io.ReadFull(r, header); err != nil {
		return "", errors.New("the .npy file ends in its header")
	}
	return string(header), nil
}

// npySize returns an array of a shape without its values, and their number.
func npySize(shape string) (Array, int, error) {
	array, size := Array{}, 1
	for word := range strings.SplitSeq(shape, ",") {
		if word = strings.TrimSuffix(strings.TrimSpace(word), "L"); word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n > maxSize || len(array.Shape) == maxDims {
			return Array{}, 0, fmt.Errorf("the .npy file has shape (%.100s): want at most %d values", shape, maxSize)
		}
		array.Shape = append(array.Shape, n)
		if size *= n; size > maxSize {
			return Array{}, 0, fmt.Errorf("the .npy file has shape (%.100s): want at most %d values", shape, maxSize)
		}
	}
	return array, size, nil
}

// npyValues are the values of a .npy file.
type npyValues struct {
	from   *bufio.Reader
	size   int // values
	width  int // B of each
	decode func(binary.ByteOrder, []byte) float64
	bytes  binary.ByteOrder
	real   bool // some may be no numbers
	odd    *Odd // of all values
}

// at returns the values at ascending indices in the file. The file must have all values.
func (v npyValues) at(places []int) ([]float64, error) {
	values := make([]float64, len(places))
	buffer := make([]byte, v.width)
	next := 0 // value
	for i, place := range places {
		if err := v.skip(next, place); err != nil {
			return nil, err
		}
		if n, err := io.ReadFull(v.from, buffer); err != nil {
			return nil, v.short(place*v.width + n)
		}
		values[i], next = v.decode(v.bytes, buffer), place+1
		v.odd.add(values[i])
	}
	return values, v.skip(next, v.size)
}

// skip proceeds from one value to another, and examines the values between.
func (v npyValues) skip(from, to int) error {
	if !v.real {
		n, err := v.from.Discard((to - from) * v.width)
		if err != nil {
			return v.short(from*v.width + n)
		}
		return nil
	}
	for from < to {
		part := min(to-from, v.from.Size()/v.width)
		b, err := v.from.Peek(part * v.width)
		if err != nil {
			return v.short(from*v.width + len(b))
		}
		for at := 0; at < len(b); at += v.width {
			v.odd.add(v.decode(v.bytes, b[at:at+v.width]))
		}
		if _, err := v.from.Discard(len(b)); err != nil {
			return v.short(from * v.width)
		}
		from += part
	}
	return nil
}

func (v npyValues) short(read int) error {
	return fmt.Errorf("the .npy file ends after %d of %d values", read/v.width, v.size)
}

// ofFortran is like at for a file in Fortran order, in which the first dimension varies fastest. The indices are in C order, in which
// the last one does.
func (v npyValues) ofFortran(shape, places []int) ([]float64, error) {
	in := make([]int, len(places)) // the file, of each place
	for i, place := range places {
		stride := v.size
		for d := len(shape) - 1; d >= 0; d-- {
			stride /= shape[d]
			in[i] += place % shape[d] * stride
			place /= shape[d]
		}
	}
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return in[a] - in[b] })
	slices.Sort(in)
	sorted, err := v.at(in)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(places))
	for i, to := range order {
		values[to] = sorted[i]
	}
	return values, nil
}

// npyDecoder returns a function that reads a value of a type, and the size of a value in bytes; nil if the type is not numeric.
func npyDecoder(kind string) (func(binary.ByteOrder, []byte) float64, int) {
	switch kind {
	case "f8":
		return func(o binary.ByteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }, 8
	case "f4":
		return func(o binary.ByteOrder, b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }, 4
	case "f2":
		return func(o binary.ByteOrder, b []byte) float64 { return half(o.Uint16(b)) }, 2
	case "i8":
		return func(o binary.ByteOrder, b []byte) float64 { return float64(int64(o.Uint64(b))) }, 8
	case "i4":
		return func(o binary.ByteOrder, b []byte) float64 { return float64(int32(o.Uint32(b))) }, 4
	case "i2":
		return func(o binary.ByteOrder, b []byte) float64 { return float64(int16(o.Uint16(b))) }, 2
	case "i1":
		return func(_ binary.ByteOrder, b []byte) float64 { return float64(int8(b[0])) }, 1
	case "u8":
		return func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint64(b)) }, 8
	case "u4":
		return func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint32(b)) }, 4
	case "u2":
		return func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint16(b)) }, 2
	case "u1", "b1":
		return func(_ binary.ByteOrder, b []byte) float64 { return float64(b[0]) }, 1
	}
	return nil, 0
}

// half returns a number of IEEE 754 binary16.
func half(bits uint16) float64 {
	sign := 1 - 2*float64(bits>>15)
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// The maximum bytes of the text of a number, and of the part that an error quotes.
const (
	maxNumber = 800
	maxShown  = 40
)

// maxExponent bounds an exponent: beyond it a number is 0 or has no float64, whatever its digits within maxNumber are.
const maxExponent = 2000

// decimal matches a number and the unit after it.
var decimal = regexp.MustCompile(`^([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eE]([-+]?[0-9]+))?(?:[ \t]*([^-+.,0-9 \t].*|1/.+))?$`)

// number parses a text that a rule has found, in the stored unit of its metric.
func (r *ExtractRule) number(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxNumber {
		return 0, fmt.Errorf("%s has %d characters: want a number", shown(text), len(text))
	}
	m := decimal.FindStringSubmatch(text)
	switch {
	case m != nil:
	case strings.ContainsRune(text, ','):
		return 0, fmt.Errorf("%s: a comma may be a decimal point or separate thousands: match digits only", shown(text))
	default:
		return 0, fmt.Errorf("%s: want a number", shown(text))
	}
	factor, err := r.factor(m[3])
	if err != nil {
		return 0, fmt.Errorf("%s: %w", shown(text), err)
	}
	exponent, err := strconv.Atoi("0" + strings.TrimLeft(m[2], "+-"))
	if err != nil || exponent > maxExponent {
		return 0, fmt.Errorf("%s: the exponent is beyond %d", shown(text), maxExponent)
	}
	if strings.HasPrefix(m[2], "-") {
		exponent = -exponent
	}
	value, err := product(m[1], exponent, factor)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", shown(text), err)
	}
	return value, nil
}

// factor returns how many of the stored unit one of the number's is. given is the unit behind the number, or empty.
func (r *ExtractRule) factor(given string) (float64, error) {
	unit := r.unit()
	stored, factor, _ := schema.StoredUnit(unit)
	if given == "" {
		return factor, nil
	}
	own, factor, known := schema.StoredUnit(strings.TrimSpace(given))
	switch {
	case unit == "":
		return 0, fmt.Errorf("want a number without a unit, or set the unit of the metric: unit: %q", given)
	case !known && given != unit:
		return 0, fmt.Errorf("unit %q is not known", given)
	case own != stored:
		return 0, fmt.Errorf("%s is not a unit for a metric in %s", given, unit)
	}
	return factor, nil
}

// product returns digits times ten to an exponent times a factor, rounded once. The factor counts as the decimal number that
// it prints as: 0.01 is one hundredth.
func product(digits string, exponent int, factor float64) (float64, error) {
	x, ok := new(big.Rat).SetString(fmt.Sprintf("%se%d", digits, exponent))
	y, ok2 := new(big.Rat).SetString(strconv.FormatFloat(factor, 'g', -1, 64))
	if !ok || !ok2 {
		return 0, fmt.Errorf("want a number")
	}
	value, _ := x.Mul(x, y).Float64()
	switch {
	case math.IsInf(value, 0):
		return 0, fmt.Errorf("too large for a float64")
	case value == 0 && x.Sign() != 0:
		return 0, fmt.Errorf("too small for a float64")
	}
	return value, nil
}

// shown returns a text shortened and quoted for an error.
func shown(text string) string {
	if len(text) > maxShown {
		return strconv.Quote(text[:maxShown]) + "…"
	}
	return strconv.Quote(text)
}
