package bucket

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// Errors about the content of a bucket wrap one of these.
var (
	ErrDamaged = errors.New("the bucket is damaged")
	ErrFormat  = errors.New("unknown bucket format")
)

// Format is the version of the bucket format that this package writes and reads.
const Format = 1

// maxManifest is the maximum size of a manifest in bytes.
const maxManifest = 256 << 20

// The kinds of objects.
const (
	kindRuns      = schema.RunsDir
	kindSamples   = schema.SamplesDir
	kindOps       = schema.OpsDir
	kindEvents    = schema.EventsDir
	kindArtifacts = schema.ArtifactsDir
	kindStore     = "store" // a file that makes a compacted store one: its header, its pack of events
)

// Object is an object of a push.
type Object struct {
	Key    string `json:"key"`
	Kind   string `json:"kind"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// name returns the path, in a store that pulls it, of the file that an object of a valid manifest is. Others than tables and artifacts have none.
func (o Object) name() string {
	switch o.Kind {
	case kindRuns, kindSamples, kindOps:
		return path.Join(o.Kind, path.Base(path.Dir(o.Key)), path.Base(o.Key))
	case kindArtifacts:
		name := path.Base(o.Key)
		return path.Join(kindArtifacts, name[:2], name)
	}
	return ""
}

// check compares what arrived with what the manifest says.
func (o Object) check(size int64, sum string) error {
	if size != o.Bytes || sum != o.SHA256 {
		return fmt.Errorf("%w: %s does not match the size and SHA-256 of its manifest", ErrDamaged, o.Key)
	}
	return nil
}

// manifest describes a push; schema/BUCKET.md has its members.
type manifest struct {
	Format   int       `json:"bucket_format"`
	Push     string    `json:"push"`
	Writer   string    `json:"writer"`
	At       time.Time `json:"at"`
	Program  string    `json:"program"`
	Runs     int       `json:"runs"`
	RunIDs   idList    `json:"run_ids"`
	Events   int       `json:"events"`
	EventIDs idList    `json:"event_ids"`
	Sources  []string  `json:"sources,omitempty"`
	Objects  []Object  `json:"objects"`
	Replaces int64     `json:"replaces,omitempty"`
}

// idList is ascending ids, in JSON as base64.
type idList []schema.ULID

// MarshalText encodes the ids.
func (l idList) MarshalText() ([]byte, error) { return []byte(schema.EncodeCovers(l)), nil }

// UnmarshalText decodes the ids.
func (l *idList) UnmarshalText(text []byte) error {
	const length = len(schema.ULID{})
	b, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(b)%length != 0 {
		return errors.New("it is not a list of ids")
	}
	*l = make(idList, len(b)/length)
	for i := range *l {
		copy((*l)[i][:], b[i*length:])
		if i > 0 && (*l)[i-1].Compare((*l)[i]) >= 0 {
			return errors.New("the ids are not ascending")
		}
	}
	return nil
}

// encode prints the manifest as one line.
func (m *manifest) encode() ([]byte, error) {
	line, err := schema.SignJSON(m)
	if err == nil && len(line) > maxManifest {
		err = fmt.Errorf("a manifest of %d bytes is too large: at most %d", len(line), maxManifest)
	}
	return line, err
}

// decodeManifest reads and checks a manifest. The error wraps ErrDamaged, or ErrFormat if a later version wrote it.
func decodeManifest(line []byte) (*manifest, error) {
	if err := checkFormat(line); err != nil {
		return nil, err
	}
	m := &manifest{}
	if err := schema.ReadSignedJSON(line, m); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrDamaged, runfile.ProblemText(err))
	}
	if err := m.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return m, nil
}

// checkFormat refuses what is not JSON of this version.
func checkFormat(line []byte) error {
	var version struct {
		Format *int `json:"bucket_format"`
	}
	if err := json.Unmarshal(line, &version); err != nil || version.Format == nil {
		return fmt.Errorf("%w: NeuroLens did not write it", ErrDamaged)
	}
	if *version.Format != Format {
		return fmt.Errorf("%w: it has bucket format %d, and this version reads format %d", ErrFormat, *version.Format, Format)
	}
	return nil
}

// validate checks that a manifest contradicts itself nowhere, and names only keys of its own.
func (m *manifest) validate() error {
	for _, id := range []string{m.Push, m.Writer} {
		if _, err := schema.ParseULID(id); err != nil {
			return err
		}
	}
	if m.Runs != len(m.RunIDs) || m.Events != len(m.EventIDs) {
		return fmt.Errorf("it says %d runs and %d events, and has %d and %d ids", m.Runs, m.Events, len(m.RunIDs), len(m.EventIDs))
	}
	for _, name := range m.Sources {
		if _, err := schema.ParseSealedFile(name); err != nil {
			return err
		}
	}
	if m.Replaces < 0 || m.Replaces > maxNumber {
		return fmt.Errorf("it replaces pushes up to %d", m.Replaces)
	}
	kinds, rows, names := map[string]int{}, 0, map[string]bool{}
	for _, o := range m.Objects {
		if !m.hasKey(o) {
			return fmt.Errorf("%.200q is not a key of an object of the kind %.20q in this push", o.Key, o.Kind)
		}
		if o.Bytes < 0 || o.Bytes > maxObject || !schema.IsHash(o.SHA256) {
			return fmt.Errorf("object %q has %d bytes and the hash %q", o.Key, o.Bytes, o.SHA256)
		}
		if names[o.Key] {
			return fmt.Errorf("object %q is there twice", o.Key)
		}
		names[o.Key] = true
		kinds[o.Kind]++
		sealed := disk.Classify(o.name()).Sealed
		if o.Kind == kindRuns {
			rows += sealed.Rows
		}
		if sealed.Rows > 0 && !m.has(sealed) {
			return fmt.Errorf("object %q has runs that the manifest does not name", o.Key)
		}
	}
	switch {
	case rows != m.Runs:
		return fmt.Errorf("its objects have %d runs, and it says %d", rows, m.Runs)
	case kinds[kindEvents] != min(m.Events, 1):
		return fmt.Errorf("it has %d events, and %d objects of events", m.Events, kinds[kindEvents])
	case m.Replaces == 0 && max(kinds[kindRuns], kinds[kindSamples], kinds[kindOps]) > 1:
		return errors.New("it has several objects of a table")
	}
	return nil
}

// has reports whether the runs of a sealed file can be among those of the manifest.
func (m *manifest) has(sealed schema.SealedFile) bool {
	return len(m.RunIDs) > 0 && sealed.First >= m.RunIDs[0].Time().UnixMilli() && sealed.Last <= m.RunIDs[len(m.RunIDs)-1].Time().UnixMilli()
}

// place is the beginning of the keys of the push.
func (m *manifest) place() string {
	if m.Replaces > 0 {
		return compactedPlace(m.Replaces, m.Push)
	}
	return writerDir + m.Writer + "/"
}

// compactedPlace is the beginning of the keys of a compacted store.
func compactedPlace(replaces int64, push string) string {
	return compactedDir + numberText(replaces) + "-" + push + "/"
}

// artifactKey is the key of an artifact with a name, <sha256><.ext>. It has the id of the push, so that no two pushes write it.
func artifactKey(writer, push, name string) string {
	return writerDir + writer + "/" + kindArtifacts + "/" + push + "/" + name
}

// hasArtifact reports whether a key is of an artifact with a name in this push, or, as in a compacted store, in any push.
func (m *manifest) hasArtifact(key, name string) bool {
	writer, push := m.Writer, m.Push
	if m.Replaces > 0 {
		parts := strings.Split(strings.TrimPrefix(key, writerDir), "/")
		if len(parts) != 4 {
			return false
		}
		writer, push = parts[0], parts[2]
		for _, id := range []string{writer, push} {
			if _, err := schema.ParseULID(id); err != nil {
				return false
			}
		}
	}
	return key == artifactKey(writer, push, name)
}

// eventsKey is the key of the events of a push.
func (m *manifest) eventsKey() string { return m.place() + kindEvents + "/" + m.Push + eventsSuffix }

const eventsSuffix = ".jsonl"

// plainName is the name of an artifact.
var plainName = lazyregexp.MustCompile(`^[0-9a-f]{64}(\.[A-Za-z0-9_-]{1,32})*$`)

// hasKey reports whether the key of an object has the form that BUCKET.md specifies for its kind.
func (m *manifest) hasKey(o Object) bool {
	switch o.Kind {
	case kindRuns, kindSamples, kindOps:
		sealed, err := schema.ParseSealedFile(path.Base(o.Key))
		return err == nil && o.Key == m.place()+sealed.Path(o.Kind)
	case kindEvents:
		return o.Key == m.eventsKey()
	case kindArtifacts:
		name := path.Base(o.Key)
		return plainName.MatchString(name) && strings.HasPrefix(name, o.SHA256) && m.hasArtifact(o.Key, name)
	case kindStore:
		push, err := schema.ParseULID(m.Push)
		return err == nil && m.Replaces > 0 && (o.Key == m.place()+schema.HeaderFile || o.Key == m.place()+schema.PackedEvents(push))
	}
	return false
}

// sealedFiles returns the sealed files of the runs of a push.
func (m *manifest) sealedFiles() (files []schema.SealedFile) {
	for _, o := range m.Objects {
		if o.Kind == kindRuns {
			files = append(files, disk.Classify(o.name()).Sealed)
		}
	}
	return files
}

// Directories and names of a bucket.
const (
	markerKey    = "neurolens-bucket.json"
	pushesDir    = "pushes/"
	compactedDir = "compacted/"
	writerDir    = "writer="
	numberSuffix = ".json"

	numberDigits = 12
	maxNumber    = 999_999_999_999
)

// numberText prints a number as in names.
func numberText(n int64) string { return fmt.Sprintf("%0*d", numberDigits, n) }

// numberKey is the key of a manifest.
func numberKey(n int64) string { return pushesDir + numberText(n) + numberSuffix }

// parseNumber reads the number in the key of a manifest, or of a compacted store's pointer, below a directory.
func parseNumber(dir, key string) (int64, bool) {
	text, ok := strings.CutPrefix(key, dir)
	text, also := strings.CutSuffix(text, numberSuffix)
	n, err := strconv.ParseInt(text, 10, 64)
	return n, ok && also && err == nil && n > 0 && numberText(n) == text
}

// marker is the content of neurolens-bucket.json.
type marker struct {
	Format  int       `json:"bucket_format"`
	ID      string    `json:"bucket_id"`
	Created time.Time `json:"created"`
}

// maxMarker is the maximum size of the marker in bytes.
const maxMarker = 64 << 10

func decodeMarker(line []byte) (m marker, err error) {
	if err := checkFormat(line); err != nil {
		return m, err
	}
	if err := schema.ReadSignedJSON(line, &m); err != nil {
		return m, fmt.Errorf("%w: %s", ErrDamaged, runfile.ProblemText(err))
	}
	if _, err := schema.ParseULID(m.ID); err != nil {
		return m, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return m, nil
}
