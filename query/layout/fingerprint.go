package layout

import (
	"crypto/sha1" // required by the format: a signature identifies an op and has no security purpose
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// fingerprint makes two run documents comparable op by op.
type fingerprint struct {
	CreatedAt  string             `json:"created_at"` // as in the run document
	Hardware   hardwareNorm       `json:"hardware_norm"`
	Ops        []opVector         `json:"ops"`
	RunID      string             `json:"run_id"`
	SourceSHA  string             `json:"source_run_sha"`
	Summary    fingerprintSummary `json:"summary"`
	VectorSpec []string           `json:"vector_spec"`
}

// hardwareNorm holds the peaks that vectors are normalized by; null, because a run does not have them.
type hardwareNorm struct {
	PeakDRAM *float64 `json:"peak_dram_gbps"`
	SMCount  *int64   `json:"sm_count"`
}

type opVector struct {
	Index  int64      `json:"index"`
	Name   string     `json:"name"`
	Sig    string     `json:"sig"` // identical in two runs for the same op
	Type   string     `json:"type"`
	Vector [6]float64 `json:"vector"`
}

type fingerprintSummary struct {
	NumOps         int     `json:"num_ops"`
	TotalLatencyMS float64 `json:"total_latency_ms"`
}

// newFingerprint makes the fingerprint of a run document, which is also passed as text. A vector consists of the op's share of the
// time of all ops, its arithmetic intensity (0, because a document has none for an op), the means of occupancy, warp
// efficiency and L2 hit rate over its kernels, and its share of the peak memory bandwidth (0, because no peak is known).
func newFingerprint(d *runDocument, text []byte) (*fingerprint, error) {
	sha, err := sourceSHA(text)
	if err != nil {
		return nil, err
	}
	f := &fingerprint{
		CreatedAt: d.CreatedAt, RunID: d.RunID, SourceSHA: sha,
		Summary:    fingerprintSummary{NumOps: len(d.Timeline), TotalLatencyMS: d.Summary.TotalDurationMS},
		VectorSpec: []string{"lat_norm", "ai", "occ", "warp_eff", "l2_hit", "dram_norm"},
	}
	total := 0.0
	for _, op := range d.Timeline {
		total += op.DurationMS
	}
	for _, op := range d.Timeline {
		v := opVector{Index: op.OpIndex, Name: op.OpName, Type: op.OpType, Sig: signature(op)}
		n := float64(len(op.Kernels))
		var occupancy, warps, hits float64
		for _, k := range op.Kernels {
			occupancy, warps, hits = occupancy+k.Occupancy, warps+k.WarpEfficiency, hits+k.L2HitRate
		}
		v.Vector = [6]float64{op.DurationMS / total, 0, occupancy / n, warps / n, hits / n, 0}
		f.Ops = append(f.Ops, v)
	}
	return f, nil
}

// signature returns the signature of an op of unknown shape.
func signature(op operation) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s|%s|%d", op.OpType, unknown, op.OpIndex))
	return hex.EncodeToString(sum[:])
}

// sourceSHA identifies the content of a run document: the hexadecimal SHA-256 of its canonical text.
func sourceSHA(text []byte) (string, error) {
	v, err := schemaValue(text)
	if err != nil {
		return "", fmt.Errorf("reading a run document: %w", err)
	}
	sum := sha256.Sum256(appendCanonical(nil, v))
	return hex.EncodeToString(sum[:]), nil
}

// dropped are the members that the canonical text leaves out at every level.
var dropped = []string{"created_at", "timestamp", "updated_at"}

// appendCanonical writes a JSON value like Python's json.dumps with sorted keys, no spaces and only the escapes that JSON
// requires: the text that other programs compute fingerprints from. Numbers are finite, as in every document written here.
func appendCanonical(to []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		to = append(to, '{')
		separator := ""
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains(dropped, key) {
				continue
			}
			to = append(appendPythonString(append(to, separator...), key), ':')
			to = appendCanonical(to, v[key])
			separator = ","
		}
		return append(to, '}')
	case []any:
		to = append(to, '[')
		separator := ""
		for _, element := range v {
			to = appendCanonical(append(to, separator...), element)
			separator = ","
		}
		return append(to, ']')
	case string:
		return appendPythonString(to, v)
	case json.Number:
		return append(to, pythonNumber(v.String())...)
	case bool:
		return strconv.AppendBool(to, v)
	default:
		return append(to, "null"...)
	}
}

func appendPythonString(to []byte, s string) []byte {
	to = append(to, '"')
	for _, r := range s {
		switch short := strings.IndexRune("\"\\\n\r\t\f\b", r); {
		case short >= 0:
			to = append(to, '\\', `"\nrtfb`[short])
		case r < ' ':
			to = fmt.Appendf(to, `\u%04x`, r)
		default:
			to = utf8.AppendRune(to, r)
		}
	}
	return append(to, '"')
}

// pythonNumber writes an integer literal unchanged, any other number like Python's repr of a float.
func pythonNumber(literal string) string {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || !strings.ContainsAny(literal, ".eE") {
		return literal
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
