package schema

import (
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
)

// Names in a store directory. A zone is one of the directories at the top.
const (
	HeaderFile   = "neurolens.json"
	CompactFile  = "compacting.json" // in a directory that becomes a store
	IgnoreFile   = ".gitignore"      // makes git ignore the store
	TmpDir       = "tmp"
	LiveDir      = "live"
	ClaimsDir    = "claims"
	RunsDir      = "runs"
	SamplesDir   = "samples"
	OpsDir       = "ops"
	PacksDir     = "packs"
	EventsDir    = "events"
	ArtifactsDir = "artifacts"
	TrashDir     = "trash"

	OwnerFile = "owner.json" // of a segment or a claim
	PlanFile  = "plan.json"  // of a claim

	parquetSuffix = ".parquet"
	eventSuffix   = ".json"
	packedPrefix  = "events-" // of packed events, in PacksDir
	packedSuffix  = ".jsonl"
	runSetPrefix  = "event-" // of an event of many runs, in PacksDir
	runSetSuffix  = ".runs"
	sizesPrefix   = "folders-" // of the sizes of folders, in PacksDir
	sizesSuffix   = ".names"   // earlier versions kept names there
)

// TableFolders are the zones with the sealed files of each table.
var TableFolders = map[*Table]string{Runs: RunsDir, Samples: SamplesDir, Ops: OpsDir}

// Claim names the directory of a claim: segments that are being sealed into one file. A take-over renames it to the next
// attempt.
type Claim struct {
	ID      ULID
	Attempt int
}

// Path returns the claim's path in the store.
func (c Claim) Path() string {
	return path.Join(ClaimsDir, c.ID.String()+"."+strconv.Itoa(c.Attempt))
}

// ParseClaim parses the last element of Claim.Path.
func ParseClaim(name string) (Claim, error) {
	id, attempt, ok := strings.Cut(name, ".")
	n, err := strconv.Atoi(attempt)
	if !ok || err != nil || n < 0 || strconv.Itoa(n) != attempt {
		return Claim{}, fmt.Errorf("%q is not the name of a claim", name)
	}
	claim, err := ParseULID(id)
	if err != nil {
		return Claim{}, fmt.Errorf("claim %q: %w", name, err)
	}
	return Claim{claim, n}, nil
}

// LiveFile names the file of one finished run, in a segment or in a segment of a claim.
type LiveFile struct {
	Claim   *Claim // nil while the segment is in LiveDir
	Segment ULID   // of the writing process
	Run     ULID
}

// Path returns the file's path in the store.
func (f LiveFile) Path() string {
	zone := LiveDir
	if f.Claim != nil {
		zone = f.Claim.Path()
	}
	return path.Join(zone, f.Segment.String(), f.Run.String()+parquetSuffix)
}

// ParseLiveFile parses LiveFile.Path.
func ParseLiveFile(name string) (LiveFile, error) {
	parts := strings.Split(name, "/")
	var claim *Claim
	if len(parts) == 4 && parts[0] == ClaimsDir {
		c, err := ParseClaim(parts[1])
		if err != nil {
			return LiveFile{}, fmt.Errorf("live file %q: %w", name, err)
		}
		claim, parts = &c, append([]string{LiveDir}, parts[2:]...)
	}
	if len(parts) != 3 || parts[0] != LiveDir || !strings.HasSuffix(parts[2], parquetSuffix) {
		return LiveFile{}, fmt.Errorf("%q is not the name of a live file", name)
	}
	segment, err := ParseULID(parts[1])
	if err != nil {
		return LiveFile{}, fmt.Errorf("live file %q: %w", name, err)
	}
	run, err := ParseULID(strings.TrimSuffix(parts[2], parquetSuffix))
	if err != nil {
		return LiveFile{}, fmt.Errorf("live file %q: %w", name, err)
	}
	return LiveFile{claim, segment, run}, nil
}

// SealedFile names a file with the rows of many runs: a pack, or a sealed file, which has the same name in RunsDir, SamplesDir and
// OpsDir. The name determines which runs it can contain, so readers open only the files that they need.
type SealedFile struct {
	ID    ULID  // of its claim, or of the pack; its time is not before Last
	First int64 // time of the smallest run id, in Unix milliseconds
	Last  int64 // time of the largest run id, in Unix milliseconds
	Rows  int   // number of runs
}

// Name returns the file's name without its directory: <id>-<first>-<last>-<rows>.parquet.
func (f SealedFile) Name() string { return string(f.appendName(make([]byte, 0, sealedNameRoom))) }

// sealedNameRoom is enough for the name of most sealed files, with its directory.
const sealedNameRoom = 96

// appendName appends the name. It does not print with a format, because a store may have 100,000 files.
func (f SealedFile) appendName(b []byte) []byte {
	b = append(f.ID.appendText(b), '-')
	b = append(appendTimeText(b, f.First), '-')
	b = append(appendTimeText(b, f.Last), '-')
	return append(strconv.AppendInt(b, int64(f.Rows), 10), parquetSuffix...)
}

// monthLayout is the layout of the name of a folder: the UTC month of the ids of its files, such as 2026-11. No run in the folder is
// later.
const monthLayout = "2006-01"

// MonthOf returns the name of the folder for files whose id has the given time.
func MonthOf(t time.Time) string { return t.UTC().Format(monthLayout) }

// Path returns the file's path in the store; zone is RunsDir, SamplesDir, OpsDir or PacksDir.
func (f SealedFile) Path(zone string) string {
	b := append(append(make([]byte, 0, sealedNameRoom), zone...), '/')
	b = f.ID.Time().AppendFormat(b, monthLayout)
	return string(f.appendName(append(b, '/')))
}

// timeLength is the number of characters for the time in the text of a ULID.
const timeLength = 10

// appendTimeText prints milliseconds as the time in the text of a ULID.
func appendTimeText(b []byte, ms int64) []byte {
	var u ULID
	binary.BigEndian.PutUint64(u[:8], uint64(ms)<<16)
	return u.appendText(b)[:len(b)+timeLength]
}

// ParseSealedFile parses SealedFile.Name.
func ParseSealedFile(name string) (SealedFile, error) {
	stem, ok := strings.CutSuffix(name, parquetSuffix)
	const rowsAt = ulidLength + 2*(1+timeLength) + 1
	if !ok || len(stem) <= rowsAt || stem[ulidLength] != '-' || stem[ulidLength+1+timeLength] != '-' || stem[rowsAt-1] != '-' {
		return SealedFile{}, fmt.Errorf("%q is not the name of a sealed file", name)
	}
	id, err := ParseULID(stem[:ulidLength])
	if err != nil {
		return SealedFile{}, fmt.Errorf("sealed file %q: %w", name, err)
	}
	first, errFirst := parseTime(stem[ulidLength+1:][:timeLength])
	last, errLast := parseTime(stem[ulidLength+timeLength+2:][:timeLength])
	rows, errRows := strconv.ParseUint(stem[rowsAt:], 10, 31)
	f := SealedFile{id, first, last, int(rows)}
	// A number has only one spelling: no + and no leading zeros.
	if errFirst != nil || errLast != nil || errRows != nil || first > last || stem[rowsAt] == '0' || stem[rowsAt] == '+' {
		return SealedFile{}, fmt.Errorf("%q is not the name of a sealed file", name)
	}
	return f, nil
}

// parseTime parses a text of appendTimeText.
func parseTime(text string) (int64, error) {
	var ms int64
	for i := range len(text) {
		digit := crockfordDigits[text[i]]
		if digit == noDigit || i == 0 && digit > 7 {
			return 0, fmt.Errorf("%q is not the time of a ULID", text)
		}
		ms = ms<<5 | int64(digit)
	}
	return ms, nil
}

// EventFile returns the path of the file with an event.
func EventFile(id ULID) string { return path.Join(EventsDir, id.String()+eventSuffix) }

// ParseEventFile parses the last element of EventFile.
func ParseEventFile(name string) (ULID, error) { return parseNamed(name, "", eventSuffix, "an event") }

// parseNamed parses a name that consists of a prefix, an id and a suffix. what describes such files for the error.
func parseNamed(name, prefix, suffix, what string) (ULID, error) {
	stem, ok := strings.CutPrefix(name, prefix)
	stem, also := strings.CutSuffix(stem, suffix)
	id, err := ParseULID(stem)
	if !ok || !also || err != nil {
		return ULID{}, fmt.Errorf("%q is not the name of %s", name, what)
	}
	return id, nil
}

// PackedEvents returns the path of a file with copies of many events.
func PackedEvents(id ULID) string { return path.Join(PacksDir, packedPrefix+id.String()+packedSuffix) }

// AnyPackedEvents is a pattern of the last element of PackedEvents.
const AnyPackedEvents = packedPrefix + "*" + packedSuffix

// ParsePackedEvents parses the last element of PackedEvents.
func ParsePackedEvents(name string) (ULID, error) {
	return parseNamed(name, packedPrefix, packedSuffix, "packed events")
}

// RunSetFile returns the path of the run set of an event: see EncodeRunSet.
func RunSetFile(id ULID) string { return path.Join(PacksDir, runSetPrefix+id.String()+runSetSuffix) }

// ParseRunSetFile parses the last element of RunSetFile.
func ParseRunSetFile(name string) (ULID, error) {
	return parseNamed(name, runSetPrefix, runSetSuffix, "a run set")
}

// FolderSizesFile returns the path of a file with the sizes of folders: see EncodeFolderSizes.
func FolderSizesFile(id ULID) string { return path.Join(PacksDir, sizesPrefix+id.String()+sizesSuffix) }

// ParseFolderSizesFile parses the last element of FolderSizesFile.
func ParseFolderSizesFile(name string) (ULID, error) {
	return parseNamed(name, sizesPrefix, sizesSuffix, "sizes of folders")
}

// NewSealedFile names the sealed file of a claim with these runs. runs must not be empty.
func NewSealedFile(claim ULID, runs []ULID) SealedFile {
	f := SealedFile{ID: claim, First: math.MaxInt64, Rows: len(runs)}
	for _, run := range runs {
		ms := run.Time().UnixMilli()
		f.First, f.Last = min(f.First, ms), max(f.Last, ms)
	}
	return f
}

// NewClaim makes an id for a sealed file of these runs. Its time is now, or that of the latest run if that is later, as
// after a clock was set back.
func NewClaim(now time.Time, runs []ULID) ULID {
	for _, run := range runs {
		if t := run.Time(); t.After(now) {
			now = t
		}
	}
	return NewULID(now)
}
