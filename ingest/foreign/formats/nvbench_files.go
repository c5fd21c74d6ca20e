package formats

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// float32Size is the size in bytes of a sample in a file of samples: 32 bits, little-endian, nothing before them.
const float32Size = 4

// maxSampleBytes bounds a file of samples.
const maxSampleBytes = 64 << 20

// addSamples adds the samples of a file that a summary names. A missing file is left out; one that does not fit is
// refused.
func (f *nvbenchFile) addSamples(r *schema.Run, s *nvbenchSummary) {
	name, unit := schema.PrimaryMetric, "s"
	if strings.HasSuffix(s.Tag, "/sample_freqs") {
		name, unit = "clock_sm", "Hz"
	} else if !strings.HasSuffix(s.Tag, "/sample_times") {
		return
	}
	file := s.value("filename")
	if file == "" || r.Metric(name) != nil { // without a name, the file could not be written
		return
	}
	content, err := f.sampleFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		f.out.LeaveOutNamed("missing files of samples", file)
		return
	}
	if err == nil {
		err = fits(content, foreign.Number(s.value("size")).Int64())
	}
	if err != nil {
		f.out.Refuse(file, err)
		return
	}
	stored, factor, _ := schema.StoredUnit(unit)
	values := make([]float64, len(content)/float32Size)
	for i := range values {
		values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(content[i*float32Size:]))) * factor
	}
	if len(values) == 0 {
		return
	}
	m := foreign.Series{Unit: stored, Given: unit, Reals: values}.Metric(name, schema.LevelIteration)
	if name == schema.PrimaryMetric && !strings.Contains(s.Tag, "/cpu_only/") {
		m.Clock = "cuda_event"
	}
	foreign.Add(r, m, unit)
}

// fits returns an error unless a file of samples has as many samples as the summary says.
func fits(content []byte, size *int64) error {
	if len(content)%float32Size != 0 || (size != nil && *size != int64(len(content)/float32Size)) {
		said := "an unknown number of"
		if size != nil {
			said = fmt.Sprint(*size)
		}
		return fmt.Errorf("%d bytes, want %d for each of %s samples", len(content), float32Size, said)
	}
	return nil
}

// sampleFile reads a file of samples. Its name is a path from the folder of the JSON file. In older versions it is a path
// from where the benchmark was launched; then its own folder is looked up next to the JSON file.
func (f *nvbenchFile) sampleFile(name string) ([]byte, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	candidates := []string{
		clean,
		path.Join(path.Base(path.Dir(clean)), path.Base(clean)),
		f.in.Head.Name + "-bin/" + path.Base(clean),
	}
	refused, found := error(nil), false
	for _, candidate := range slices.Compact(candidates) {
		below, err := foreign.Below(candidate)
		if err != nil {
			refused = err
			continue
		}
		found = true
		content, err := f.raw(below)
		if !errors.Is(err, fs.ErrNotExist) {
			return content, err
		}
	}
	if !found {
		return nil, refused
	}
	return nil, fs.ErrNotExist
}

// raw reads a file below this one's folder without decoding it, because its bytes may begin like gzip or a byte order
// mark by chance.
func (f *nvbenchFile) raw(name string) ([]byte, error) {
	if f.in.Folder == nil {
		return nil, fs.ErrNotExist
	}
	file, err := f.in.Folder.Open(path.Join(path.Dir(f.in.Path), name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSampleBytes+1))
	if len(content) > maxSampleBytes {
		return nil, fmt.Errorf("%s: more than %d MiB", name, maxSampleBytes>>20)
	}
	return content, err
}

var sampleFileName = regexp.MustCompile(`^[0-9]+\.bin$`)

// isNVBenchSamples reports whether a file has only times in s or frequencies in Hz: positive and finite.
func isNVBenchSamples(h *foreign.Head) bool {
	const longest = 1e11
	if !sampleFileName.MatchString(h.Name) || len(h.Bytes) < float32Size || (h.Whole && len(h.Bytes)%float32Size != 0) {
		return false
	}
	for i := 0; i+float32Size <= len(h.Bytes); i += float32Size {
		v := math.Float32frombits(binary.LittleEndian.Uint32(h.Bytes[i:]))
		if !(v >= 0 && v < longest) {
			return false
		}
	}
	return true
}
