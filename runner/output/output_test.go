package output

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestCompare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	vector := func(values ...float64) Array { return Array{Shape: []int{len(values)}, Values: values} }
	for _, c := range []struct {
		got, want Array
		errors    Errors
	}{
		{vector(1, 2), vector(1, 2), Errors{Cosine: 1}},
		{vector(3, 0), vector(0, 4), Errors{RMSE: math.Sqrt(12.5), MaxError: 4, Relative: 1.25, Mismatched: 2}},
		{vector(1, 1.0005), vector(1, 1), Errors{RMSE: math.Sqrt(0.5) * (1.0005 - 1), MaxError: 1.0005 - 1, Relative: (1.0005 - 1) / math.Sqrt2, Cosine: 0.99999996876}},
		{vector(1, nan), vector(1, 1), Errors{RMSE: nan, MaxError: nan, Relative: nan, Cosine: 1, Mismatched: 1, NotFinite: 1}},
		{vector(1, inf), vector(1, 1), Errors{RMSE: inf, MaxError: inf, Relative: inf, Cosine: 1, Mismatched: 1, NotFinite: 1}},
		{vector(1, inf, -inf), vector(1, inf, -inf), Errors{Cosine: 1}},
		{vector(1, inf), vector(1, -inf), Errors{RMSE: inf, MaxError: inf, Relative: inf, Cosine: 1, Mismatched: 1, NotFinite: 1, Reference: 1}},
		{vector(nan, 1), vector(nan, 1), Errors{RMSE: nan, MaxError: nan, Relative: nan, Cosine: 1, Mismatched: 1, NotFinite: 1, Reference: 1}},
		{vector(nan, 2), vector(1, 2.5), Errors{RMSE: nan, MaxError: nan, Relative: nan, Cosine: 1, Mismatched: 2, NotFinite: 1}},
		{vector(1, 2), vector(1, inf), Errors{RMSE: inf, MaxError: inf, Relative: inf, Cosine: 1, Mismatched: 1, Reference: 1}},
		{vector(1, 2), vector(1, nan), Errors{RMSE: nan, MaxError: nan, Relative: nan, Cosine: 1, Mismatched: 1, Reference: 1}},
		{vector(0), vector(0), Errors{Cosine: 1}},
		{vector(0, 0), vector(3, 4), Errors{RMSE: math.Sqrt(12.5), MaxError: 4, Relative: 1, Mismatched: 2}},
		{vector(3, 4), vector(0, 0), Errors{RMSE: math.Sqrt(12.5), MaxError: 4, Relative: inf, Mismatched: 2}},
	} {
		got, err := Compare(c.got, c.want, Tolerance{Relative: 1e-3, Absolute: 1e-3})
		if err != nil || !alike(got, c.errors) {
			t.Errorf("%v for %v: got %+v, %v, want %+v", c.got.Values, c.want.Values, got, err, c.errors)
		}
	}
	for _, other := range []Array{vector(1), {Shape: []int{2, 1}, Values: []float64{1, 2}}, {Shape: []int{2}, Values: []float64{1}}} {
		if _, err := Compare(other, vector(1, 2), Tolerance{}); err == nil {
			t.Errorf("%v was compared with an array of shape [2]", other)
		}
	}
	if _, err := Compare(vector(), vector(), Tolerance{}); err == nil {
		t.Error("nothing was compared with nothing")
	}
}

// same tells that two values are the same, though they may be no number.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// alike tells whether all errors agree to 1e-12 of the value. NaN agrees with NaN.
func alike(a, b Errors) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if x.Field(i).Kind() == reflect.Int {
			if x.Field(i).Int() != y.Field(i).Int() {
				return false
			}
			continue
		}
		v, w := x.Field(i).Float(), y.Field(i).Float()
		if !same(v, w) && !(math.Abs(v-w) <= 1e-12*math.Abs(w)+1e-300) && !(i == 3 && math.Abs(v-w) < 1e-10) {
			return false
		}
	}
	return true
}

// TestNumPy: arrays of every type that is read are what NumPy wrote, and errors are those that NumPy computes.
func TestNumPy(t *testing.T) {
	python := valuetest.Python(t, "python", "numpy")
	dir := t.TempDir()
	const program = `
import json, sys
import numpy as np
rng = np.random.default_rng(7)
out = []
for i, t in enumerate("f8 f4 f2 i8 i4 i2 i1 u8 u4 u2 u1 b1 >f8 >i4 >f2".split()):
    a = (rng.standard_normal((3, 4, 5)) * 50).astype(t)
    if t.endswith("f2"):
        a.flat[:6] = [np.inf, -np.inf, np.nan, 6e-8, -0.0, 65504]
    if i % 2:
        a = np.asfortranarray(a)
    np.save("%s/%d.npy" % (sys.argv[1], i), a)
    out.append([repr(float(v)) for v in a.ravel()])
np.save(sys.argv[1] + "/scalar.npy", np.float64(2.5))
errors = []
for n, scale in ((10, 1), (1000, 1e-3), (100000, 1e6)):
    want = rng.standard_normal(n) * scale
    got = want + rng.standard_normal(n) * scale * 1e-3
    np.save("%s/got%d.npy" % (sys.argv[1], n), got)
    np.save("%s/want%d.npy" % (sys.argv[1], n), want)
    w, g = want.astype(np.longdouble), got.astype(np.longdouble)
    errors.append([n, float(np.sqrt(np.mean((g - w) ** 2))), float(np.max(np.abs(g - w))),
                   float(np.linalg.norm(g - w) / np.linalg.norm(w)), float(np.dot(g, w) / np.linalg.norm(w) / np.linalg.norm(g)),
                   int(np.sum(~np.isclose(got, want, rtol=1e-3, atol=1e-6)))])
json.dump([out, errors], sys.stdout)
`
	said := valuetest.Must(exec.Command(python, "-c", program, dir).Output())
	var texts [][]string
	var errors [][]float64
	valuetest.OK(t, json.Unmarshal(said, &[]any{&texts, &errors}))
	for i, want := range texts {
		a := readFile(t, filepath.Join(dir, fmt.Sprintf("%d.npy", i)))
		for k, v := range a.Values {
			if w, err := strconv.ParseFloat(want[k], 64); err != nil || !same(v, w) {
				t.Fatalf("array %d, value %d: got %v, NumPy says %s", i, k, v, want[k])
			}
		}
		if !slices.Equal(a.Shape, []int{3, 4, 5}) || len(a.Values) != 60 {
			t.Errorf("array %d has shape %v and %d values", i, a.Shape, len(a.Values))
		}
	}
	if a := readFile(t, filepath.Join(dir, "scalar.npy")); a.Shape != nil || a.Values[0] != 2.5 {
		t.Errorf("a number is %v", a)
	}
	for _, e := range errors {
		got := readFile(t, filepath.Join(dir, fmt.Sprintf("got%.0f.npy", e[0])))
		want := readFile(t, filepath.Join(dir, fmt.Sprintf("want%.0f.npy", e[0])))
		found, err := Compare(got, want, Tolerance{Relative: 1e-3, Absolute: 1e-6})
		wanted := Errors{RMSE: e[1], MaxError: e[2], Relative: e[3], Cosine: e[4], Mismatched: int(e[5])}
		if err != nil || !alike(found, wanted) {
			t.Errorf("%v values: got %+v, NumPy says %+v", e[0], found, wanted)
		}
	}
}

func readFile(t *testing.T, path string) Array {
	t.Helper()
	file := valuetest.Must(os.Open(path))
	defer file.Close()
	a, err := readNPY(file, 0)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	return a
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		format, text string
		want         Array
		err          string
	}{
		{"csv", "a,b\n1, 2\n.5,1e-3\n", Array{Shape: []int{2, 2}, Values: []float64{1, 2, .5, 1e-3}}, ""},
		{"csv", "1\n2\n", Array{Shape: []int{2, 1}, Values: []float64{1, 2}}, ""},
		{"csv", "1,2\n3\n", Array{}, "reading CSV: record on line 2: wrong number of fields"},
		{"csv", "1,2\n3,x\n", Array{}, `row 2: "x" is not a number`},
		{"csv", "1,x\n3,4\n", Array{}, `row 1: "x" is not a number`},
		{"text", " 1 2.5\n-3e2 nan inf 1e999", Array{Shape: []int{6}, Values: []float64{1, 2.5, -300, math.NaN(), math.Inf(1), math.Inf(1)}}, ""},
		{"text", "1 two", Array{}, `"two" is not a number`},
		{"json", "[[1, 2], [3, NaN], [-Infinity, \"Infinity\"]]", Array{Shape: []int{3, 2}, Values: []float64{1, 2, 3, math.NaN(), math.Inf(-1), math.Inf(1)}}, ""},
		{"json", "[1, null]", Array{}, "reading JSON: null is not a number (NaN and Infinity are allowed)"},
		{"json", "2.5", Array{Shape: nil, Values: []float64{2.5}}, ""},
		{"json", "[[1], [2, 3]]", Array{}, "reading JSON: the lists have different lengths"},
		{"json", "[1, [2]]", Array{}, "reading JSON: the lists have different lengths"},
		{"json", "[[[1]], [2]]", Array{}, "reading JSON: the lists have different lengths"},
		{"json", "[[], [2]]", Array{}, "reading JSON: the lists have different lengths"},
		{"json", "1 2", Array{}, "reading JSON: there is more than one value"},
		{"json", "{}", Array{}, "reading JSON: an object is not a number"},
		{"json", "[null]", Array{}, "reading JSON: null is not a number (NaN and Infinity are allowed)"},
		{"npy", "PK", Array{}, "it is not a .npy file"},
		{"xml", "", Array{}, `format "xml": want one of npy csv json text`},
	} {
		got, err := Read(strings.NewReader(c.text), c.format, 0)
		switch {
		case c.err != "":
			valuetest.ErrorText(t, err, c.err, c.format, c.text)
		case err != nil || !slices.Equal(got.Shape, c.want.Shape) || !slices.EqualFunc(got.Values, c.want.Values, func(a, b float64) bool { return a == b || same(a, b) }):
			t.Errorf("%s %q: got %v, %v, want %v", c.format, c.text, got, err, c.want)
		}
	}
}

// TestReadNPYRefuses: what is no array of numbers has one line, and takes no memory.
func TestReadNPYRefuses(t *testing.T) {
	for header, want := range map[string]string{
		"{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }":                              "values of type <c16",
		"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }":                                "is not valid",
		"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }":                      "is not valid",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 99999999), }":               "want at most 134217728 values",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (9, 9, 9), }":                          "ends after 0 of 729 values",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (" + strings.Repeat("1,", 40) + "), }": "want at most",
	} {
		_, err := readNPY(bytes.NewReader(npy(header)), 0)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", header, err, want)
		}
	}
}

// npy returns a file with a header and no values.
func npy(header string) []byte {
	return append([]byte("\x93NUMPY\x01\x00"), append([]byte{byte(len(header)), byte(len(header) >> 8)}, header...)...)
}

func FuzzRead(f *testing.F) {
	f.Add(npy("{'descr': '<f2', 'fortran_order': True, 'shape': (2, 1), }\x00\x00\x00\x01"), uint8(0))
	f.Add([]byte("a,b\n1,2\n"), uint8(1))
	f.Add([]byte("[[1, NaN], [2, 3]]"), uint8(2))
	f.Add([]byte("1 2 3e5"), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, format uint8) {
		a, err := Read(bytes.NewReader(text), Formats[int(format)%len(Formats)], 0)
		if err != nil {
			return
		}
		size := 1
		for _, n := range a.Shape {
			size *= n
		}
		valuetest.DeepEqual(t, min(size, maxCompared), len(a.Values), "shape", a.Shape)
	})
}

func TestPositions(t *testing.T) {
	valuetest.DeepEqual(t, positions(5, 3), []int{0, 1, 2, 3, 4})
	size := 3*maxCompared + 17
	a, b := positions(size, 1), positions(size, 2)
	if len(a) != maxCompared || !slices.IsSorted(a) || a[len(a)-1] >= size || slices.Equal(a, b) {
		t.Errorf("%d positions from %d to %d", len(a), a[0], a[len(a)-1])
	}
	valuetest.DeepEqual(t, a, positions(size, 1), "one seed gave two samples")
}

// TestSamples: of a large output the same values are kept, in whatever format and order it was written.
func TestSamples(t *testing.T) {
	const rows, columns = 1031, 1021 // a little more than maxCompared
	const size, seed = rows * columns, 9
	var want []float64
	for _, place := range positions(size, seed) {
		want = append(want, float64(place))
	}
	c := npy(fmt.Sprintf("{'descr': '<i4', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns))
	fortran := npy(fmt.Sprintf("{'descr': '<i4', 'fortran_order': True, 'shape': (%d, %d), }", rows, columns))
	var text []byte
	for i := range size {
		c = binary.LittleEndian.AppendUint32(c, uint32(i))
		fortran = binary.LittleEndian.AppendUint32(fortran, uint32(i%rows*columns+i/rows))
		text = append(strconv.AppendInt(text, int64(i), 10), ' ')
	}
	for name, file := range map[string][]byte{"npy": c, "npy fortran": fortran, "text": text} {
		format, _, _ := strings.Cut(name, " ")
		valuetest.DeepEqual(t, valuetest.Must(Read(bytes.NewReader(file), format, seed)).Values, want, name)
	}
	if _, err := Read(bytes.NewReader(c[:len(c)-1]), "npy", seed); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("ends after %d of %d values", size-1, size)) {
		t.Errorf("a file that lacks a byte: %v", err)
	}
}

// endless is a file that begins with something and goes on with zeros.
type endless struct{ *bytes.Reader }

func (e endless) Read(p []byte) (int, error) {
	if e.Len() > 0 {
		return e.Reader.Read(p)
	}
	clear(p)
	return len(p), nil
}

// TestLargeInBoundedMemory: of 100 million values no more than those that are compared are in memory.
func TestLargeInBoundedMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Read(endless{bytes.NewReader(npy("{'descr': '<f2', 'fortran_order': False, 'shape': (10000, 10000), }"))}, "npy", 0)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err != nil || took > 20<<20 || !slices.Equal(got.Shape, []int{10000, 10000}) || len(got.Values) != maxCompared {
		t.Errorf("%d values of shape %v in %d B, %v", len(got.Values), got.Shape, took, err)
	}
}

// TestOdd: a value that is not a number, or infinite, is counted wherever it stands in a large output, in whatever format.
func TestOdd(t *testing.T) {
	const size = 3 * maxCompared / 2
	values := make([]float64, size)
	kept := map[int]bool{}
	for _, place := range positions(size, 0) {
		kept[place] = true
	}
	var want Odd
	for i, odd := range []float64{math.NaN(), math.Inf(1), math.NaN()} {
		place := 1000 * (i + 1)
		for kept[place] {
			place++
		}
		values[place] = odd
		want.add(odd)
	}
	var text bytes.Buffer
	binaryValues := npy(fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", size))
	for _, v := range values {
		fmt.Fprintln(&text, v)
		binaryValues = binary.LittleEndian.AppendUint64(binaryValues, math.Float64bits(v))
	}
	for format, content := range map[string][]byte{"npy": binaryValues, "text": text.Bytes(), "csv": text.Bytes()} {
		got, err := Read(bytes.NewReader(content), format, 0)
		if err != nil || got.Odd != want || len(got.Values) != maxCompared || slices.ContainsFunc(got.Values, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s: %+v of %d values, %v; want %+v", format, got.Odd, len(got.Values), err, want)
		}
		if _, err := Read(bytes.NewReader(content[:len(content)-9]), format, 0); format == "npy" && err == nil {
			t.Error("a file that is too short was read")
		}
	}
}
