package scan

import (
	"slices"
)

// partFiles is the number of files of a part: DuckDB keeps some kilobytes of memory for each.
const partFiles = 2048

// Parts divides the sources into parts with few files each. Each run is in one part.
func (s *Sources) Parts() []*Sources {
	var all []*Sources
	add := func(live, read []file) {
		part := *s
		part.Live, part.sealed, part.Read = live, nil, read
		all = append(all, &part)
	}
	for live := range slices.Chunk(s.Live, partFiles) {
		add(live, nil)
	}
	for read := range slices.Chunk(s.Read, partFiles) {
		add(nil, read)
	}
	return all
}

// FirstStep is about how many runs a search from the newest run on reads first.
const FirstStep = 25_000

// FromNewest calls do with bounds that begin earlier and earlier within others, until it is done or they begin with the others. The first
// have at least so many runs, estimated from file names, and each about eight times as many as the one before.
func (s *Sources) FromNewest(within Period, runs int, do func(Period) (done bool, err error)) error {
	windows := s.Within(within).windows(runs)
	for back := 2; ; back *= 8 {
		b := within
		if at := len(windows) - back; at > 0 && windows[at].Since > b.Since {
			b.Since = windows[at].Since
		}
		if done, err := do(b); done || err != nil || b == within {
			return err
		}
	}
}
