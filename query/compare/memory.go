package compare

// memory limits the memory of a comparison of very many points. In addition, interner stores equal texts and parameters once, and
// DuckDB groups runs within groupMemory.
type memory struct{ many int } // see manyCompared

// manyCompared is the number of runs from which on only what the answer needs is read: not the order of the runs of a point, nor the
// identity of points that do not become rows.
const manyCompared = 200_000

const (
	groupMemory = 256 << 20 // bytes that DuckDB may use to group runs
	namedAtOnce = 16_384    // points whose identity is read by one query
	rowsAtOnce  = 1000      // rows that are handed out at a time
)

// few reports whether there are few enough runs to read everything about them.
func (m *memory) few(base, head *selectedSide) bool { return base.Runs+head.Runs < m.many }

// forgetTimes drops when and where the runs of points ran, which is no longer needed once relate was called. With planned looks
// they are kept, because points are judged as they were earlier.
func (*memory) forgetTimes(points []*pairing, planned bool) {
	for _, p := range points {
		p.base.ForgetTimes(planned)
		p.head.ForgetTimes(planned)
	}
}

// letGo releases points that have become rows.
func (*memory) letGo(points []*pairing) {
	for _, p := range points {
		*p = pairing{}
	}
}
