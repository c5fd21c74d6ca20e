package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"sort"
	"time"
)

// FolderTimes show whether a folder has changed. The file system changes the times with each name that is added, removed or replaced.
type FolderTimes struct {
	Inode    uint64 `json:"inode,string"`
	Changed  int64  `json:"changed"`  // when its status changed, in Unix nanoseconds
	Modified int64  `json:"modified"` // when its content changed
}

// FolderState shows whether the folder of a month in RunsDir has changed.
type FolderState struct {
	Month string `json:"month"`
	FolderTimes
}

// stableAfter is how long a folder must not have changed before its names are kept. It is much longer than the steps in which a
// file system counts time, so that a later change gives another time.
const stableAfter = time.Minute

// The names in folders.
const (
	nameBytes = 32        // of an id, two times and a number of rows
	namesSum  = 16        // bytes of the SHA-256 of the names of a folder that are kept
	maxMillis = 1<<48 - 1 // the latest time in an id
	maxFolder = 1 << 48   // files and bytes of a folder: their sums do not overflow
)

// namedFolder is a folder whose names are in a file of folder names.
type namedFolder struct {
	FolderState
	Count int    `json:"count"` // of names
	Sum   []byte `json:"sum"`   // the beginning of the SHA-256 of the names
	folderTotal
}

// folderTotal sums up the names of a folder. Earlier writers left it out.
type folderTotal struct {
	Rows  int   `json:"rows,omitempty"`
	First int64 `json:"first,omitempty"` // the smallest, in Unix milliseconds
	Last  int64 `json:"last,omitempty"`  // the largest
}

func totalOf(files []SealedFile) folderTotal {
	var t folderTotal
	for i, f := range files {
		if i == 0 || f.First < t.First {
			t.First = f.First
		}
		t.Rows, t.Last = t.Rows+f.Rows, max(t.Last, f.Last)
	}
	return t
}

// namesHead is the first line of the names in folders.
type namesHead struct {
	Folders []namedFolder `json:"folders"`
	Sizes   []FolderSize  `json:"sizes,omitempty"` // earlier writers left them out
}

// states gives the states of the folders of a store.
type states struct {
	store  fs.FS
	device uint64 // of RunsDir
}

// statesOf gives false if the times of folders do not show on this file system whether a folder has changed.
func statesOf(store fs.FS) (states, bool) {
	dir, ok := store.(interface {
		DirPath(name string) (string, error)
	})
	if !ok {
		return states{}, false
	}
	where, err := dir.DirPath(RunsDir)
	if err != nil || !timesShowChanges(where) {
		return states{}, false
	}
	info, err := fs.Stat(store, RunsDir)
	if err != nil {
		return states{}, false
	}
	_, device, ok := stateOf(info)
	return states{store, device}, ok
}

// of gives the state of the folder of a month.
func (s states) of(month string) (FolderState, bool) {
	times, ok := s.times(path.Join(RunsDir, month))
	return FolderState{month, times}, ok
}

// times gives the times of a folder, if it is on the file system of RunsDir.
func (s states) times(folder string) (FolderTimes, bool) {
	info, err := fs.Stat(s.store, folder)
	if err != nil || !info.IsDir() {
		return FolderTimes{}, false
	}
	times, device, ok := stateOf(info)
	return times, ok && device == s.device
}

// stable reports whether a folder of a month that is over has not changed for a while.
func (t FolderTimes) stable(month string, now time.Time) bool {
	return month < MonthOf(now) && now.Sub(time.Unix(0, max(t.Changed, t.Modified))) >= stableAfter
}

// StableFolders gives the states of those folders of RunsDir, latest first, whose month is over and that have not changed for
// a while. It gives none on file systems where the times do not show changes.
func StableFolders(store fs.FS, now time.Time) ([]FolderState, error) {
	of, ok := statesOf(store)
	if !ok {
		return nil, nil
	}
	folders, err := monthFolders(store, RunsDir)
	if err != nil {
		return nil, err
	}
	var all []FolderState
	for _, month := range folders {
		if state, ok := of.of(month); ok && state.stable(month, now) {
			all = append(all, state)
		}
	}
	return all, nil
}

// EncodeFolderNames prints the names of the sealed files of some folders: a signed line of JSON with the sizes of folders too, then the names.
// The files are those of ListZone. The states must be the same before and after they were listed.
func EncodeFolderNames(folders []FolderState, sizes []FolderSize, sealed []SealedFile) ([]byte, error) {
	head := namesHead{Sizes: sizes}
	var content []byte
	for _, state := range folders {
		files := ofMonth(sealed, state.Month)
		at := len(content)
		for _, f := range files {
			if f.Rows > math.MaxUint32 {
				return nil, fmt.Errorf("encoding the names in folders: %s has more rows than fit", f.Name())
			}
			content = appendBinaryName(content, f)
		}
		sum := sha256.Sum256(content[at:])
		head.Folders = append(head.Folders, namedFolder{state, len(files), sum[:namesSum], totalOf(files)})
	}
	line, err := SignJSON(head)
	if err != nil {
		return nil, fmt.Errorf("encoding the names in folders: %w", err)
	}
	return append(line, content...), nil
}

// ofMonth gives the files in the folder of a month. The files are in the order of their ids, newest first.
func ofMonth(sealed []SealedFile, month string) []SealedFile {
	at, err := time.Parse(monthLayout, month)
	if err != nil {
		return nil
	}
	before := func(t time.Time) int {
		return sort.Search(len(sealed), func(i int) bool { return sealed[i].ID.millis() < t.UnixMilli() })
	}
	return sealed[before(at.AddDate(0, 1, 0)):before(at)]
}

// UnknownNames counts the names in folders that the latest FolderNames do not have, or of which they lack the total, as earlier writers left it
// out. The files are those of ListZone.
func UnknownNames(store fs.FS, folders []FolderState, sealed []SealedFile) int {
	known := openNames(store, RunsDir, nil)
	defer known.close()
	n := 0
	for _, state := range folders {
		if known == nil || known.folders[state.Month].FolderState != state || known.folders[state.Month].Rows == 0 {
			n += len(ofMonth(sealed, state.Month))
		}
	}
	return n
}

// CheckFolderNames reads the names in folders, and compares those that a reader may use with the folders. The error wraps
// ErrDamaged if they differ, or is one of the file system.
func CheckFolderNames(store fs.FS, id ULID) error {
	name := FolderNames(id)
	known, err := readNames(store, id)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer known.close()
	known.states, _ = statesOf(store)
	for month, f := range known.folders {
		names, err := known.read(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		there, err := folder(store, path.Join(RunsDir, month))
		if err != nil {
			return err
		}
		if _, valid := known.in(month); valid && (!slices.Equal(names, there) || f.Rows > 0 && f.folderTotal != totalOf(there)) {
			return fmt.Errorf("%w: %s differs from the folder %s", ErrDamaged, name, path.Join(RunsDir, month))
		}
	}
	return nil
}

// knownNames is an open file of folder names. Nil has none.
type knownNames struct {
	states  states
	file    fs.File
	at      io.ReaderAt
	folders map[string]knownFolder // by month
	sizes   map[string]FolderSize  // by folder
}

// knownFolder is a folder with the place of its names in the file.
type knownFolder struct {
	namedFolder
	offset int64
}

// openNames opens the latest names in folders. They are derived, so if anything is wrong, the folders are listed.
func openNames(store fs.FS, zone string, folders []string) *knownNames {
	if zone != RunsDir || len(folders) == 1 { // the newest folder changes
		return nil
	}
	entries, err := unordered(store, PacksDir)
	if err != nil {
		return nil
	}
	var latest ULID
	for _, e := range entries {
		if id, err := ParseFolderNames(e.Name()); err == nil && id.Compare(latest) > 0 {
			latest = id
		}
	}
	if latest == (ULID{}) {
		return nil
	}
	known, err := readNames(store, latest)
	if err != nil {
		return nil
	}
	var ok bool
	if known.states, ok = statesOf(store); !ok {
		known.close()
		return nil
	}
	return known
}

// readNames opens names in folders and reads their first line.
func readNames(store fs.FS, id ULID) (*knownNames, error) {
	file, err := store.Open(FolderNames(id))
	if err != nil {
		return nil, err
	}
	known := &knownNames{file: file, folders: map[string]knownFolder{}}
	if err := known.head(); err != nil {
		known.close()
		return nil, err
	}
	return known, nil
}

func (k *knownNames) head() error {
	at, ok := k.file.(io.ReaderAt)
	if !ok {
		return errors.ErrUnsupported
	}
	info, err := k.file.Stat()
	if err != nil {
		return err
	}
	line, err := firstLine(at, info.Size())
	if err != nil {
		return err
	}
	var head namesHead
	if err := ReadSignedJSON(line, &head); err != nil {
		return err
	}
	offset := int64(len(line))
	for _, f := range head.Folders {
		if f.Count < 0 || int64(f.Count) > (info.Size()-offset)/nameBytes {
			return fmt.Errorf("%w: it is cut off", ErrDamaged)
		}
		if f.Rows < 0 || f.Rows/math.MaxUint32 > f.Count || f.First < 0 || f.First > f.Last || f.Last > maxMillis {
			return fmt.Errorf("%w: the total of %s is %d rows from %d to %d", ErrDamaged, f.Month, f.Rows, f.First, f.Last)
		}
		k.folders[f.Month] = knownFolder{f, offset}
		offset += int64(f.Count) * nameBytes
	}
	if offset != info.Size() || len(k.folders) != len(head.Folders) {
		return fmt.Errorf("%w: its size is not that of its names", ErrDamaged)
	}
	k.sizes = make(map[string]FolderSize, len(head.Sizes))
	for _, s := range head.Sizes {
		if s.Files < 0 || s.Bytes < 0 || s.Files > maxFolder || s.Bytes > maxFolder {
			return fmt.Errorf("%w: the size of %s is %d bytes in %d files", ErrDamaged, s.Folder, s.Bytes, s.Files)
		}
		k.sizes[s.Folder] = s
	}
	k.at = at
	return nil
}

func (k *knownNames) close() {
	if k != nil {
		_ = k.file.Close() // it was only read
	}
}

// in gives the sealed files of a folder, newest id first, if they are known and the folder has not changed.
func (k *knownNames) in(month string) ([]SealedFile, bool) {
	f, ok := k.unchanged(month)
	if !ok {
		return nil, false
	}
	files, err := k.read(f)
	return files, err == nil
}

// total is in, with one file without an id for all where their total is known.
func (k *knownNames) total(month string) ([]SealedFile, bool) {
	f, ok := k.unchanged(month)
	if !ok || f.Rows == 0 {
		return k.in(month)
	}
	return []SealedFile{{First: f.First, Last: f.Last, Rows: f.Rows}}, true
}

// unchanged gives a known folder that has not changed.
func (k *knownNames) unchanged(month string) (knownFolder, bool) {
	if k == nil || k.states.store == nil {
		return knownFolder{}, false
	}
	f, ok := k.folders[month]
	if !ok {
		return knownFolder{}, false
	}
	state, ok := k.states.of(month)
	return f, ok && state == f.FolderState
}

// read reads the names of a folder.
func (k *knownNames) read(f knownFolder) ([]SealedFile, error) {
	content := make([]byte, f.Count*nameBytes)
	if err := readAt(k.at, content, f.offset); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(content); !bytes.Equal(sum[:namesSum], f.Sum) {
		return nil, fmt.Errorf("%w: the names of %s do not match their SHA-256", ErrDamaged, f.Month)
	}
	files := make([]SealedFile, f.Count)
	for i := range files {
		files[i] = binaryName(content[i*nameBytes:])
	}
	return files, nil
}

// appendBinaryName appends a name in 32 bytes.
func appendBinaryName(b []byte, f SealedFile) []byte {
	b = append(b, f.ID[:]...)
	b = append48(append48(b, f.First), f.Last)
	return binary.BigEndian.AppendUint32(b, uint32(f.Rows))
}

// binaryName gives the name in 32 bytes.
func binaryName(b []byte) SealedFile {
	f := SealedFile{First: read48(b[16:]), Last: read48(b[22:]), Rows: int(binary.BigEndian.Uint32(b[28:]))}
	copy(f.ID[:], b)
	return f
}

// append48 appends the time of an id, which has 48 bits.
func append48(b []byte, ms int64) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, uint16(ms>>32)), uint32(ms))
}

func read48(b []byte) int64 {
	return int64(binary.BigEndian.Uint16(b))<<32 | int64(binary.BigEndian.Uint32(b[2:]))
}
