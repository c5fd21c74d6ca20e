package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/fstest"
)

// hugeNames are first lines of names in folders with counts that do not fit, for a folder in this state.
func hugeNames(state FolderState) (lines [][]byte) {
	sum := sha256.Sum256(nil)
	folder := func(month string, count any, total string) string {
		return fmt.Sprintf(`{"month":%q,"inode":"%d","changed":%d,"modified":%d,"count":%v,"sum":%q%s}`,
			month, state.Inode, state.Changed, state.Modified, count, base64.StdEncoding.EncodeToString(sum[:namesSum]), total)
	}
	for _, folders := range []string{
		folder(state.Month, uint64(1<<59), ""),
		folder(state.Month, uint64(1<<58), "") + "," + folder("2026-07", uint64(1<<58), ""),
		folder(state.Month, uint64(1<<59+3), ""),
		folder(state.Month, math.MaxInt64, ""),
		folder(state.Month, -1, "") + "," + folder("2026-07", 1, ""),
		folder(state.Month, 0, fmt.Sprintf(`,"rows":%d,"last":1`, math.MaxInt64)),
		folder(state.Month, 0, `,"rows":1,"first":-1`),
		folder(state.Month, 0, `,"rows":1,"last":281474976710656`),
		folder("../../2026-08", 0, ""),
	} {
		lines = append(lines, must(SignJSON(json.RawMessage(`{"folders":[`+folders+`]}`))))
	}
	for _, size := range []string{`"files":1,"bytes":9223372036854775807`, `"files":9223372036854775807,"bytes":1`} {
		lines = append(lines, must(SignJSON(json.RawMessage(`{"folders":[],"sizes":[{"folder":"runs/2026-08","inode":"1","changed":1,"modified":1,`+size+`}]}`))))
	}
	return lines
}

// TestHugeFolderNames: counts that do not fit are damage, and the folders are listed.
func TestHugeFolderNames(t *testing.T) {
	s := newNamedStore(t)
	want := len(listed(t, Dir(s.dir)))
	for _, line := range hugeNames(s.states[0]) {
		s.write(s.names, line)
		id := must(ParseFolderNames(s.names[len(PacksDir)+1:]))
		if err := CheckFolderNames(Dir(s.dir), id); err == nil || !errors.Is(err, ErrDamaged) && !bytes.Contains(line, []byte("../")) {
			t.Errorf("%s: %v", line, err)
		}
		if got := listed(t, Dir(s.dir)); len(got) != want {
			t.Errorf("%s: %d of %d files are listed", line, len(got), want)
		}
	}
}

// FuzzFolderNames: whatever the names in folders are, reading them is refused or gives names of the size of the file.
func FuzzFolderNames(f *testing.F) {
	for _, line := range hugeNames(FolderState{Month: "2026-08"}) {
		f.Add(line)
	}
	sealed := []SealedFile{{ID: NewULID(day(1)), First: 1, Last: day(1).UnixMilli(), Rows: 7}}
	state := FolderState{Month: MonthOf(day(1)), FolderTimes: FolderTimes{Inode: 1, Changed: 2, Modified: 3}}
	f.Add(must(EncodeFolderNames([]FolderState{state}, []FolderSize{{Folder: "runs/2026-08", Files: 1, Bytes: 9}}, sealed)))
	id := NewULID(day(2))
	f.Fuzz(func(t *testing.T, content []byte) {
		if line, names, _ := bytes.Cut(content, []byte("\n")); json.Valid(line) {
			if signed, err := SignJSON(json.RawMessage(line)); err == nil { // so mutations get behind the hash
				content = append(signed, names...)
			}
		}
		store := fstest.MapFS{FolderNames(id): {Data: content}}
		_ = CheckFolderNames(store, id)
		known, err := readNames(store, id)
		if err != nil {
			return
		}
		defer known.close()
		total := 0
		for _, folder := range known.folders {
			files, err := known.read(folder)
			if err == nil && len(files) != folder.Count || folder.Rows < 0 {
				t.Errorf("%d names, and %d are counted in %+v", len(files), folder.Count, folder)
			}
			total += folder.Count
		}
		if total*nameBytes > len(content) {
			t.Errorf("%d names in %d bytes", total, len(content))
		}
		if slices.ContainsFunc([]FolderSize{known.sizes["runs/2026-08"]}, func(s FolderSize) bool { return s.Bytes < 0 || s.Files < 0 }) {
			t.Errorf("%+v", known.sizes)
		}
	})
}
