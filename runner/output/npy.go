package output

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

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

// npyHeader reads what is before the values.
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

// npySize is an array of a shape without its values, and how many those are.
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

// at returns the values at places in the file, which ascend. The file has to have all values.
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

// skip goes on from one value to another, and looks at those between.
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

// ofFortran is at of a file in which the first dimension moves fastest. The places are those of the array in which the last one
// does.
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

// half is a number of IEEE 754 binary16.
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
