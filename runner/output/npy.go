package output

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
