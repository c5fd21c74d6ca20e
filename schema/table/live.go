package table

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Live is the content of a live file as rows of the tables.
type Live struct {
	RunID   string
	Digest  string
	Run     []any   // row of runs
	Samples [][]any // rows of samples, by metric
	Ops     [][]any // rows of ops, by op
}

// ReadLive reads a live file, which must match its hash and its digest. The error wraps schema.ErrDamaged or ErrNewer.
func ReadLive(content []byte) (live *Live, err error) {
	defer recovered(&err)
	if err := schema.CheckFileHash(content); err != nil {
		return nil, err
	}
	file, err := OpenLive(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	if err := file.Newer(); err != nil {
		return nil, err
	}
	if file.Rows() != 1 {
		return nil, fmt.Errorf("%w: it has %d rows, and a live file has 1", schema.ErrDamaged, file.Rows())
	}
	row, err := file.Reader().Read()
	if err != nil {
		return nil, err
	}
	live = newLive(row)
	if digest := schema.DigestOfRows(live.Run, live.Samples, live.Ops); digest != live.Digest {
		return nil, fmt.Errorf("%w: run %s has the digest %s, but %q is stored", schema.ErrDamaged, live.RunID, digest, live.Digest)
	}
	return live, nil
}

// LiveOf returns what ReadLive returns for the file of a run. The result shares no mutable memory with the run.
func LiveOf(r *schema.Run, digest string) *Live {
	row, _ := copied(liveRow(r, digest)).([]any)
	return newLive(row)
}

// copied returns a deep copy of a value of a row.
func copied(value any) any {
	switch v := value.(type) {
	case []any:
		return copiedList(v, copied)
	case [][]any:
		return copiedList(v, func(row []any) []any { return copiedList(row, copied) })
	case []int64:
		return slices.Clone(v)
	case []float64:
		return slices.Clone(v)
	case []string:
		return slices.Clone(v)
	case map[string]string:
		return maps.Clone(v)
	case map[string]float64:
		return maps.Clone(v)
	case time.Time:
		return time.UnixMicro(v.UnixMicro()).UTC() // as a file has it
	}
	return value
}

func copiedList[T any](list []T, copied func(T) T) []T {
	if list == nil {
		return nil
	}
	copies := make([]T, len(list))
	for i, item := range list {
		copies[i] = copied(item)
	}
	return copies
}

// newLive splits a row of the columns of live files.
func newLive(row []any) *Live {
	live := &Live{Run: row[:len(schema.Runs.Columns):len(schema.Runs.Columns)]}
	live.RunID, _ = row[0].(string)
	digest := schema.Runs.Place(digestColumn)
	live.Digest, _ = row[digest].(string)
	live.Samples = keyed(live.RunID, row[len(row)-2])
	slices.SortFunc(live.Samples, func(a, b []any) int { return strings.Compare(a[1].(string), b[1].(string)) })
	live.Ops = keyed(live.RunID, row[len(row)-1])
	slices.SortFunc(live.Ops, func(a, b []any) int { return cmp.Compare(a[1].(int64), b[1].(int64)) })
	return live
}

// keyed puts the run's id before each of the nested rows.
func keyed(run string, nested any) [][]any {
	rows, _ := nested.([][]any)
	for i, row := range rows {
		rows[i] = append([]any{run}, row...)
	}
	return rows
}
