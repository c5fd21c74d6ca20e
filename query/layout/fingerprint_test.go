package layout

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// originals returns the folder of files that the harness itself made.
func originals(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("NEUROLENS_SAMPLES")
	if dir == "" {
		t.Skip("NEUROLENS_SAMPLES names no folder of sample files")
	}
	return filepath.Join(dir, "seed0_neurolens")
}

// TestOriginals: the documents, fingerprints and summary of the original harness have the format that this package writes.
func TestOriginals(t *testing.T) {
	dir := originals(t)
	s := runSchema(t)
	real := valuetest.Must(filepath.Glob(filepath.Join(dir, "real", "t*.json")))
	valuetest.Equal(t, len(real), 3, "the real documents", real)
	for _, path := range real {
		valuetest.NoError(t, validate(s, read(t, path)), path)
	}
	checkOriginal(t, filepath.Join(dir, "real", "trace_minimal.json"), filepath.Join(dir, "real", "fp_minimal.json"))

	table := valuetest.Must(csv.NewReader(bytes.NewReader(read(t, dir, "generated", "bench_runs", "summary.csv"))).ReadAll())
	valuetest.DeepEqual(t, table[0], summaryHeader[:9], "the summary", len(table)-1, "rows below")
	valuetest.Equal(t, len(table), 25, "the summary", len(table)-1, "rows below")
	for _, row := range table[1:] {
		document := filepath.Join(dir, "generated", "bench_runs", "runs", row[0]+".json")
		valuetest.NoError(t, validate(s, read(t, document)), document)
		checkOriginal(t, document, filepath.Join(dir, "generated", "bench_runs", "fp", row[0]+".fp.json"))
		valuetest.NoError(t, valuetest.Error(strconv.ParseFloat(row[5], 64)), "latency of row", row)
	}
}

// checkOriginal compares the fingerprint that this package makes of a document with the one that lies beside it.
func checkOriginal(t *testing.T, document, print string) {
	t.Helper()
	text := read(t, document)
	got := fingerprintOf(t, text)
	var want fingerprint
	valuetest.OK(t, json.Unmarshal(read(t, print), &want))
	got.CreatedAt = want.CreatedAt
	valuetest.DeepEqual(t, got, want, "the fingerprint of", document)
}

func fingerprintOf(t *testing.T, text []byte) fingerprint {
	t.Helper()
	var d runDocument
	valuetest.OK(t, json.Unmarshal(text, &d))
	f := valuetest.Must(newFingerprint(&d, text))
	return *f
}

// TestVector: the vector has the means over an op's kernels.
func TestVector(t *testing.T) {
	f := fingerprintOf(t, []byte(`{"timeline": [{"duration_ms": 1, "kernels": [
		{"achieved_occupancy": 0.5, "warp_execution_efficiency": 1, "l2_hit_rate": 0},
		{"achieved_occupancy": 0.25, "warp_execution_efficiency": 0.5, "l2_hit_rate": 0.5}]},
		{"duration_ms": 3, "kernels": [{}]}]}`))
	if f.Ops[0].Vector != [6]float64{.25, 0, .375, .75, .25, 0} || f.Ops[1].Vector != [6]float64{.75} {
		t.Errorf("the vectors are %v", f.Ops)
	}
}

// TestFingerprint: the time of the document does not count, everything else does.
func TestFingerprint(t *testing.T) {
	text := valuetest.Must(files.JSON(documentOf(t, onGPU(1))))
	f := fingerprintOf(t, text)
	later := fingerprintOf(t, bytes.Replace(text, []byte("2026-11-21"), []byte("2026-11-22"), 1))
	other := fingerprintOf(t, bytes.Replace(text, []byte("0.3"), []byte("0.30001"), 1))
	if f.SourceSHA != later.SourceSHA || f.SourceSHA == other.SourceSHA {
		t.Errorf("hashes are %s, of another time %s, of another value %s", f.SourceSHA, later.SourceSHA, other.SourceSHA)
	}
	// SHA-1 of "MatMul|unknown|0", as in every fingerprint of such an op.
	if f.Ops[0].Sig != "7a7ea854c055d734d6e4c1636041e682f3a72cd6" {
		t.Errorf("the signature of %s is %s", f.Ops[0].Name, f.Ops[0].Sig)
	}
	if share := f.Ops[0].Vector[0]; math.Abs(share-.375) > 1e-15 {
		t.Errorf("the share of %s is %v", f.Ops[0].Name, share)
	}
}

const oddJSON = `{"b":[1,1.0,-0.5,100,1e2,1E-5,0.0001,0.00012,1e15,1e16,12345678901234567890,1.7976931348623157e308,5e-324,0.1,0.30000000000000004],` +
	`"a":"é\u2028\u007f\u0001\b\f\n\r\t\"\\/<>& 😀","é":true,"timestamp":1,"z":{"created_at":[],"y":null,"updated_at":{}},"e":[{},[],""]}`

// TestCanonicalPython: the canonical text equals that of Python, from which other programs compute the hashes.
func TestCanonicalPython(t *testing.T) {
	python := os.Getenv("NEUROLENS_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	if _, err := exec.LookPath(python); err != nil {
		if slices.Contains(strings.Split(os.Getenv("NEUROLENS_TEST_REQUIRE"), ","), "python") {
			t.Fatalf("python is required: %v", err)
		}
		t.Skipf("python is not there: %v", err)
	}
	cmd := exec.Command(python, "-c", `
import hashlib, json, sys
def strip(v):
    if isinstance(v, dict):
        return {k: strip(x) for k, x in v.items() if k not in ("created_at", "updated_at", "timestamp")}
    return [strip(x) for x in v] if isinstance(v, list) else v
text = json.dumps(strip(json.loads(sys.stdin.buffer.read())), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
print(hashlib.sha256(text.encode()).hexdigest())`)
	document := valuetest.Must(files.JSON(documentOf(t, onGPU(1))))
	for _, text := range []string{oddJSON, string(document)} {
		c := *cmd
		c.Stdin = strings.NewReader(text)
		want := valuetest.Must(c.Output())
		valuetest.Equal(t, valuetest.Must(sourceSHA([]byte(text))), strings.TrimSpace(string(want)), "the hash of", text, want)
	}
}

// FuzzSourceSHA: the canonical text of a document is a document with the same hash.
func FuzzSourceSHA(f *testing.F) {
	f.Add(oddJSON)
	f.Add(`[1e999, -0, "\ud800", {"a": 1, "a": 2}]`)
	f.Fuzz(func(t *testing.T, text string) {
		sha, err := sourceSHA([]byte(text))
		if err != nil {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var v any
		valuetest.OK(t, decoder.Decode(&v))
		again := appendCanonical(nil, v)
		valuetest.Equal(t, valuetest.Must(sourceSHA(again)), sha, text, again)
	})
}
