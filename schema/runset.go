package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"sync"
	"time"
)

// minRunSet is the minimum number of runs of an event with a run set: a second file that has its ids as a sorted set in blocks, so that
// a reader reads only the blocks that it needs.
const minRunSet = 4096

// runSetBlock is the number of ids of a block of a run set. A reader reads whole blocks.
const runSetBlock = 1024

// runSetSum is the number of bytes of the SHA-256 of a block that are kept.
const runSetSum = 16

// maxRunSetHead limits the first line of a run set, in bytes.
const maxRunSetHead = 1 << 20

// HasRunSet reports whether an event has a run set too: it names many runs, and has a kind that is usual for many.
func (e *Event) HasRunSet() bool { return len(e.Runs) >= minRunSet && canHaveRunSet(e.Kind) }

func canHaveRunSet(kind EventKind) bool {
	switch kind {
	case EventRemove, EventRestore, EventTag, EventUntag, EventNote:
		return true
	}
	return false
}

// runSetHead is the first line of a run set: the event without its runs, and an index of the blocks.
type runSetHead struct {
	EventID string    `json:"event_id"`
	Kind    EventKind `json:"kind"`
	At      time.Time `json:"at"`
	Key     string    `json:"key,omitempty"`
	Value   string    `json:"value,omitempty"`
	Count   int       `json:"count"`  // of different runs
	Firsts  []byte    `json:"firsts"` // 16 bytes per block: its first id
	Sums    []byte    `json:"sums"`   // 16 bytes per block: the beginning of its SHA-256
}

// EncodeRunSet prints the run set of an event: a signed line of JSON, then the different ids as 16 bytes each, ascending.
func EncodeRunSet(e Event) ([]byte, error) {
	ids, err := ParseULIDs(e.Runs)
	if err != nil {
		return nil, fmt.Errorf("encoding event %s: %w", e.EventID, err)
	}
	ids = distinctIDs(ids)
	head := runSetHead{EventID: e.EventID, Kind: e.Kind, At: e.At, Key: e.Key, Value: e.Value, Count: len(ids)}
	content := make([]byte, 0, len(ids)*len(ULID{}))
	for block := range slices.Chunk(ids, runSetBlock) {
		at := len(content)
		for _, id := range block {
			content = append(content, id[:]...)
		}
		sum := sha256.Sum256(content[at:])
		head.Firsts, head.Sums = append(head.Firsts, block[0][:]...), append(head.Sums, sum[:runSetSum]...)
	}
	line, err := SignJSON(head)
	if err != nil {
		return nil, fmt.Errorf("encoding event %s: %w", e.EventID, err)
	}
	if len(line) > maxRunSetHead {
		return nil, fmt.Errorf("encoding event %s: its first line has %d bytes, which may have %d", e.EventID, len(line), maxRunSetHead)
	}
	return append(line, content...), nil
}

// distinctIDs sorts ids in place, and drops repetitions.
func distinctIDs(ids []ULID) []ULID {
	if !slices.IsSortedFunc(ids, ULID.Compare) {
		slices.SortFunc(ids, ULID.Compare)
	}
	return slices.Compact(ids)
}

// ReadRunSet reads the first line of the run set of an event. The error wraps fs.ErrNotExist if there is no such file, and ErrDamaged if
// it belongs to another event. The form is derived, so a reader can ignore one that cannot be read.
func ReadRunSet(store fs.FS, id ULID) (Event, *RunSet, error) {
	name := RunSetFile(id)
	file, at, size, err := OpenAt(store, name)
	if err != nil {
		return Event{}, nil, err
	}
	defer file.Close()
	line, err := firstLine(at, size)
	if err != nil {
		return Event{}, nil, fmt.Errorf("%s: %w", name, err)
	}
	var head runSetHead
	if err := ReadSignedJSON(line, &head); err != nil {
		return Event{}, nil, fmt.Errorf("%s: %w", name, err)
	}
	if head.Count <= 0 || int64(head.Count) > (size-int64(len(line)))/int64(len(ULID{})) {
		return Event{}, nil, fmt.Errorf("%w: %s is cut off", ErrDamaged, name)
	}
	set := &RunSet{store: store, event: id, offset: int64(len(line)), count: head.Count, sums: head.Sums}
	for first := range slices.Chunk(head.Firsts, len(ULID{})) {
		var id ULID
		copy(id[:], first)
		set.firsts = append(set.firsts, id)
	}
	blocks := (head.Count + runSetBlock - 1) / runSetBlock
	if head.EventID != id.String() || len(head.Firsts) != blocks*len(ULID{}) || len(head.Sums) != blocks*runSetSum ||
		!slices.IsSortedFunc(set.firsts, ULID.Compare) || size != set.offset+int64(head.Count*len(ULID{})) {
		return Event{}, nil, fmt.Errorf("%w: %s is not event %s", ErrDamaged, name, id)
	}
	set.blocks = make([][]ULID, blocks)
	return Event{EventID: head.EventID, Kind: head.Kind, At: head.At, Key: head.Key, Value: head.Value}, set, nil
}

// ReadWholeRunSet reads an event from its run set alone, with all its runs, ascending. It returns the errors of ReadRunSet.
func ReadWholeRunSet(store fs.FS, id ULID) (Event, error) {
	e, set, err := ReadRunSet(store, id)
	if err != nil {
		return e, err
	}
	if err := set.loadFile(places(0, len(set.blocks))); err != nil {
		return e, err
	}
	for _, block := range set.blocks {
		for _, id := range block {
			e.Runs = append(e.Runs, id.String())
		}
	}
	return e, e.Validate()
}

// firstLine reads the first line of a file, with its line break.
func firstLine(file io.ReaderAt, size int64) ([]byte, error) {
	line := make([]byte, min(size, maxSmall))
	for {
		if err := readAt(file, line, 0); err != nil {
			return nil, err
		}
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			return line[:end+1], nil
		}
		if int64(len(line)) == size || len(line) >= maxRunSetHead {
			return nil, fmt.Errorf("%w: its first line does not end", ErrDamaged)
		}
		line = make([]byte, min(size, maxRunSetHead))
	}
}

// RunSet is a set of the ids of many runs. A RunSet that was read from a file reads its blocks when they are needed. It is
// safe for concurrent use.
type RunSet struct {
	store  fs.FS
	event  ULID
	offset int64 // of the ids in the file of the event
	count  int
	firsts []ULID // of each block
	sums   []byte

	mu     sync.Mutex
	blocks [][]ULID // the blocks that were read
}

// NewRunSet returns a set of ids. It sorts the slice.
func NewRunSet(ids []ULID) *RunSet {
	ids = distinctIDs(ids)
	s := &RunSet{count: len(ids)}
	for block := range slices.Chunk(ids, runSetBlock) {
		s.firsts, s.blocks = append(s.firsts, block[0]), append(s.blocks, block)
	}
	return s
}

// Len returns the number of runs.
func (s *RunSet) Len() int { return s.count }

// Between returns the ids of the set from first to last, both included, ascending.
func (s *RunSet) Between(first, last ULID) ([]ULID, error) {
	from := max(s.blockAfter(first)-1, 0)
	to := s.blockAfter(last)
	if err := s.load(places(from, to)); err != nil {
		return nil, err
	}
	ids := make([]ULID, 0, max(to-from, 0)*runSetBlock)
	for i := from; i < to; i++ {
		block := s.blocks[i]
		if block[0].Compare(first) < 0 {
			block = block[sort.Search(len(block), func(k int) bool { return block[k].Compare(first) >= 0 }):]
		}
		if n := len(block); n > 0 && block[n-1].Compare(last) > 0 {
			block = block[:sort.Search(n, func(k int) bool { return block[k].Compare(last) > 0 })]
		}
		if from+1 == to {
			return slices.Clone(block), nil
		}
		ids = append(ids, block...)
	}
	return ids, nil
}

// All returns all ids, ascending.
func (s *RunSet) All() ([]ULID, error) {
	if err := s.load(places(0, len(s.blocks))); err != nil {
		return nil, err
	}
	ids := make([]ULID, 0, s.count)
	for _, block := range s.blocks {
		ids = append(ids, block...)
	}
	return ids, nil
}

// Among returns the ids that are in the set, in their order.
func (s *RunSet) Among(ids []ULID) ([]ULID, error) {
	places := make([]int, len(ids))
	for i, id := range ids {
		places[i] = s.blockAfter(id) - 1
	}
	if err := s.load(places); err != nil {
		return nil, err
	}
	var found []ULID
	for i, id := range ids {
		if places[i] < 0 {
			continue
		}
		if _, is := slices.BinarySearchFunc(s.blocks[places[i]], id, ULID.Compare); is {
			found = append(found, id)
		}
	}
	return found, nil
}

// CountFrom returns the number of ids that are not before first.
func (s *RunSet) CountFrom(first ULID) (int, error) {
	i := s.blockAfter(first) - 1
	if i < 0 {
		return s.count, nil
	}
	if err := s.load([]int{i}); err != nil {
		return 0, err
	}
	at, _ := slices.BinarySearchFunc(s.blocks[i], first, ULID.Compare)
	return s.count - i*runSetBlock - at, nil
}

// blockAfter returns the index of the first block that begins after an id.
func (s *RunSet) blockAfter(id ULID) int {
	return sort.Search(len(s.firsts), func(i int) bool { return s.firsts[i].Compare(id) > 0 })
}

// places returns the numbers from one to before another.
func places(from, to int) []int {
	all := make([]int, max(to-from, 0))
	for i := range all {
		all[i] = from + i
	}
	return all
}

// load reads some blocks, unless they were read before or are -1. If the file of the run set cannot be read, it reads the event: the
// form may be removed at any time.
func (s *RunSet) load(places []int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	places = slices.DeleteFunc(slices.Clone(places), func(i int) bool { return i < 0 || s.blocks[i] != nil })
	if len(places) == 0 || s.loadFile(places) == nil {
		return nil
	}
	_, set, err := ReadEventRuns(s.store, s.event)
	if err != nil {
		return err
	}
	if set == nil || set.count != s.count || !slices.Equal(set.firsts, s.firsts) {
		return fmt.Errorf("%w: %s is not %s", ErrDamaged, RunSetFile(s.event), EventFile(s.event))
	}
	for i, block := range set.blocks {
		if s.blocks[i] == nil {
			s.blocks[i] = block
		}
	}
	return nil
}

// loadFile reads blocks of the file of the run set. The error wraps ErrDamaged, or is one of the file system.
func (s *RunSet) loadFile(places []int) error {
	name := RunSetFile(s.event)
	file, at, _, err := OpenAt(s.store, name)
	if err != nil {
		return err
	}
	defer file.Close()
	content := make([]byte, runSetBlock*len(ULID{}))
	for _, i := range places {
		if s.blocks[i] != nil { // a block that is named twice
			continue
		}
		part := content[:min(s.count-i*runSetBlock, runSetBlock)*len(ULID{})]
		if err := readAt(at, part, s.offset+int64(i*len(content))); err != nil {
			return err
		}
		ids := make([]ULID, len(part)/len(ULID{}))
		for k := range ids {
			copy(ids[k][:], part[k*len(ULID{}):])
		}
		sum := sha256.Sum256(part)
		if !bytes.Equal(sum[:runSetSum], s.sums[i*runSetSum:][:runSetSum]) || ids[0] != s.firsts[i] {
			return fmt.Errorf("%w: block %d of %s does not match its SHA-256", ErrDamaged, i, name)
		}
		s.blocks[i] = ids
	}
	return nil
}

// ReadEventRuns reads the file of an event, as ReadEvent does. The runs of an event that has a run set are returned as this set instead
// of texts, which takes a fraction of the time and of the memory. The set is nil for other events.
func ReadEventRuns(store fs.FS, id ULID) (Event, *RunSet, error) {
	content, err := ReadNames(store, EventFile(id))
	if err != nil {
		return Event{}, nil, err
	}
	e, set, err := DecodeEventRuns(content)
	if err == nil && e.EventID != id.String() {
		err = fmt.Errorf("%w: its content is event %s", ErrDamaged, e.EventID)
	}
	return e, set, err
}

// DecodeEventRuns is DecodeEvent, with the runs as in ReadEventRuns.
func DecodeEventRuns(line []byte) (Event, *RunSet, error) {
	const shortest = minRunSet * (ulidLength + 3) // of the runs of a run set
	if len(line) > shortest {
		if e, ids, ok := decodeManyRuns(line); ok {
			return e, NewRunSet(ids), nil
		}
	}
	e, err := DecodeEvent(line)
	if err != nil || !e.HasRunSet() {
		return e, nil, err
	}
	ids, err := ParseULIDs(e.Runs)
	e.Runs = nil
	return e, NewRunSet(ids), err
}

// decodeManyRuns decodes an event of many runs without an allocation per run. It knows only the layout that Encode writes: ok is
// false for every other line, valid or not, which json decodes.
func decodeManyRuns(line []byte) (e Event, ids []ULID, ok bool) {
	object, said, ok := signedParts(line)
	if !ok {
		return e, nil, false
	}
	const before, between, after = `"runs":["`, `","`, `"]`
	at := bytes.Index(object, []byte(before))
	if at < 1 || bytes.ContainsAny(object[1:at], "[{") { // within another member
		return e, nil, false
	}
	rest := object[at+len(before):]
	for {
		if len(rest) < ulidLength+len(between) {
			return e, nil, false
		}
		id, err := parseULID(rest[:ulidLength])
		if err != nil {
			return e, nil, false
		}
		ids, rest = append(ids, id), rest[ulidLength:]
		if !bytes.HasPrefix(rest, []byte(between)) {
			break
		}
		rest = rest[len(between):]
	}
	tail, ended := bytes.CutPrefix(rest, []byte(after))
	if !ended || bytes.Contains(bytes.ToLower(tail), []byte(`"runs"`)) || !sumMatches(object, said) {
		return e, nil, false
	}
	short := slices.Concat(object[:at], []byte(`"runs":[]`), tail, []byte("}"))
	if err := json.Unmarshal(short, &e); err != nil || len(e.Runs) > 0 {
		return e, nil, false
	}
	e.Runs = []string{ids[0].String()} // Validate requires one
	ok = len(ids) >= minRunSet && canHaveRunSet(e.Kind) && e.Validate() == nil
	e.Runs = nil
	return e, ids, ok
}
