package output

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
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
func readNPY(r io.Reader) (Array, error) {
	b := bufio.NewReader(r)
	header, err := npyHeader(b)
	if err != nil {
		return Array{}, err
	}
	descr, order, shape := npyDescr.FindStringSubmatch(header), npyOrder.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	if descr == nil || order == nil || shape == nil {
		return Array{}, fmt.Errorf("the header of the .npy file is not understood: %.100q", header)
	}
	array, size, err := npySize(shape[1])
	if err != nil {
		return Array{}, err
	}
	decode, width := npyDecoder(descr[2] + descr[3])
	if decode == nil {
		return Array{}, fmt.Errorf("the .npy file has values of type %s: want real numbers", strings.Join(descr[1:], ""))
	}
	var bytes binary.ByteOrder = binary.LittleEndian
	if descr[1] == ">" {
		bytes = binary.BigEndian
	}
	buffer := make([]byte, width)
	for range size {
		if _, err := io.ReadFull(b, buffer); err != nil {
			return Array{}, fmt.Errorf("the .npy file ends after %d of %d values", len(array.Values), size)
		}
		array.Values = append(array.Values, decode(bytes, buffer))
	}
	if order[1] == "True" && len(array.Shape) > 1 {
		array.Values = rowMajor(array)
	}
	return array, nil
}

// npyHeader reads what is before the values.
func npyHeader(r io.Reader) (string, error) {
	start := make([]byte, len(npyMagic)+2)
	if _, err := io.ReadFull(r, start); err != nil || string(start[:len(npyMagic)]) != string(npyMagic) {
		return "", errors.New("it is no .npy file")
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

// npyDecoder gives what reads a value of a type, and how many bytes it has; nil where the type is none of numbers.
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

// rowMajor are the values of an array that has the first dimension moving fastest.
func rowMajor(a Array) []float64 {
	values := make([]float64, len(a.Values))
	at := make([]int, len(a.Shape))
	for i := range values {
		from, stride := 0, 1
		for d, n := range at {
			from += n * stride
			stride *= a.Shape[d]
		}
		values[i] = a.Values[from]
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < a.Shape[d] {
				break
			}
			at[d] = 0
		}
	}
	return values
}
