package runner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// outOfMemory remembers the points that ran out of memory, for points that are larger to be skipped: they would, and
// the second or third out-of-memory can take the driver down.
type outOfMemory struct {
	points []*sweep.Point
}

// note remembers the point of a run that ran out of memory.
func (o *outOfMemory) note(p *sweep.Point, status schema.Status) {
	if status == schema.StatusOOM && !slices.Contains(o.points, p) {
		o.points = append(o.points, p)
	}
}

// smaller is a point that ran out of memory and that p is larger than, or nil.
func (o *outOfMemory) smaller(p *sweep.Point) *sweep.Point {
	for _, q := range o.points {
		if larger(p, q) {
			return q
		}
	}
	return nil
}

// larger tells that p differs from q in numbers alone, each of which is larger or the same.
func larger(p, q *sweep.Point) bool {
	if p.Benchmark != q.Benchmark || p.Variant != q.Variant || p.Backend != q.Backend || p.Model != q.Model || p.Precision != q.Precision {
		return false
	}
	a, b := sizes(p), sizes(q)
	if len(a) != len(b) {
		return false
	}
	more := false
	for name, text := range b {
		mine, there := a[name]
		switch {
		case !there:
			return false
		case mine == text:
			continue
		}
		x, errX := strconv.ParseFloat(mine, 64)
		y, errY := strconv.ParseFloat(text, 64)
		if errX != nil || errY != nil || x < y {
			return false
		}
		more = true
	}
	return more
}

// sizes are the axes of a point that may be sizes.
func sizes(p *sweep.Point) map[string]string {
	all := map[string]string{}
	for name, text := range p.Params {
		all["param."+name] = text
	}
	for name, n := range map[string]*int64{"batch_size": p.BatchSize, "seq_len": p.SeqLen} {
		if n != nil {
			all[name] = strconv.FormatInt(*n, 10)
		}
	}
	return all
}

// describeSizes names a point by its sizes.
func describeSizes(p *sweep.Point) string {
	text := ""
	all := sizes(p)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text += fmt.Sprintf(" %s=%s", name, all[name])
	}
	return p.Benchmark + text
}
