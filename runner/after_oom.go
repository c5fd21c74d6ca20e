package runner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// outOfMemory remembers which points ran out of memory, so that larger ones are skipped. They would run out of memory too, and
// repeated out-of-memory errors can crash the driver.
type outOfMemory struct {
	failed []subject
	ran    map[subject]bool
}

// note records how a run ended.
func (o *outOfMemory) note(sub subject, status schema.Status) {
	switch {
	case status == schema.StatusOOM && !slices.Contains(o.failed, sub):
		o.failed = append(o.failed, sub)
	case status == schema.StatusOK:
		if o.ran == nil {
			o.ran = map[subject]bool{}
		}
		o.ran[sub] = true
	}
}

// smaller returns a point on the same side that ran out of memory and is smaller than sub, or nil.
func (o *outOfMemory) smaller(sub subject) *sweep.Point {
	for _, q := range o.failed {
		if q.Side == sub.Side && o.larger(sub, q) {
			return q.Point
		}
	}
	return nil
}

// larger reports whether p differs from q, which ran out of memory, only in sizes, and all differing sizes are larger.
func (o *outOfMemory) larger(p, q subject) bool {
	grown, ok := increased(q.Point, p.Point)
	return ok && len(grown) > 0 && !slices.ContainsFunc(grown, func(axis string) bool { return !o.isSize(axis, q) })
}

// isSize reports whether a larger value of an axis takes more memory. For a parameter this is known if a smaller value, with all
// else equal, did not run out of memory: more shards or more ranks may take less memory.
func (o *outOfMemory) isSize(axis string, q subject) bool {
	if axis == "batch_size" || axis == "seq_len" {
		return true
	}
	for r := range o.ran {
		if grown, ok := increased(r.Point, q.Point); r.Side == q.Side && ok && slices.Equal(grown, []string{axis}) {
			return true
		}
	}
	return false
}

// increased lists the axes that are larger in to than in from; ok is false if they differ in anything else.
func increased(from, to *sweep.Point) (axes []string, ok bool) {
	if from.Benchmark != to.Benchmark || from.Variant != to.Variant || from.Backend != to.Backend || from.Model != to.Model || from.Precision != to.Precision {
		return nil, false
	}
	a, b := numbered(from), numbered(to)
	if len(a) != len(b) {
		return nil, false
	}
	for name, text := range a {
		more, there := b[name]
		switch {
		case !there:
			return nil, false
		case more == text:
			continue
		}
		x, errX := strconv.ParseFloat(text, 64)
		y, errY := strconv.ParseFloat(more, 64)
		if errX != nil || errY != nil || !(x < y) {
			return nil, false
		}
		axes = append(axes, name)
	}
	return axes, true
}

// numbered lists the axes of a point that may be numbers, by name.
func numbered(p *sweep.Point) map[string]string {
	all := map[string]string{}
	maps.Copy(all, p.Params)
	for name, n := range map[string]*int64{"batch_size": p.BatchSize, "seq_len": p.SeqLen} {
		if n != nil {
			all[name] = strconv.FormatInt(*n, 10)
		}
	}
	return all
}

// describeSizes names a point by its axes.
func describeSizes(p *sweep.Point) string {
	text := ""
	all := numbered(p)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text += fmt.Sprintf(" %s=%s", name, all[name])
	}
	return p.Benchmark + text
}
