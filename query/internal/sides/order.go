package sides

import "slices"

// ForgetTimes sets InOrder and, unless keep is set, drops when and where the runs ran to save memory.
func (g *Group) ForgetTimes(keep bool) {
	if g == nil || g.Started == nil {
		return
	}
	started := g.Started
	if keep {
		started = slices.Clone(started)
	} else {
		g.Started, g.Places = nil, nil
	}
	g.InOrder = len(slices.Compact(started)) == len(g.Locations)
}

// KnownStarts are the starts of the runs that have one, ascending.
func (g *Group) KnownStarts() []int64 {
	first, _ := slices.BinarySearch(g.Started, 1)
	return g.Started[first:]
}

// Starts are the starts of the runs of each session, in Unix microseconds, ascending. Runs without a start are left out.
func (g *Group) Starts() map[string][]int64 {
	all, known := map[string][]int64{}, g.KnownStarts()
	if len(g.Sessions) == 1 {
		all[g.Sessions[0]] = known
		return all
	}
	for i := len(g.Started) - len(known); i < len(g.Started); i++ {
		session := g.SessionOf(i)
		all[session] = append(all[session], g.Started[i])
	}
	return all
}

// SharesSession reports whether some session, known or not, has ok runs of both groups.
func (g *Group) SharesSession(other *Group) bool {
	return slices.ContainsFunc(g.Sessions, func(id string) bool {
		_, both := slices.BinarySearch(other.Sessions, id)
		return both
	})
}

// SessionOf is the session of the run with location i; empty: unknown.
func (g *Group) SessionOf(i int) string {
	if len(g.Sessions) == 1 {
		return g.Sessions[0]
	}
	return g.Places[i].session
}

// CountRepeats is the number of repeats up to the last ok run.
func (g *Group) CountRepeats() int {
	last := int64(-1)
	for _, n := range g.Noted().Repeats {
		last = max(last, n)
	}
	return int(last) + 1
}

// UpTo is the group as it was after a number of repeats.
func (g *Group) UpTo(repeats int) *Group {
	of := g.Noted().Repeats
	if len(of) != len(g.Locations) {
		return g
	}
	early, notes := *g, *g.notes
	early.Locations, early.Started, early.Places, notes.Repeats = nil, nil, nil, nil
	for i, n := range of {
		if n >= int64(repeats) {
			continue
		}
		early.Locations, early.Started = append(early.Locations, g.Locations[i]), append(early.Started, g.Started[i])
		early.Places, notes.Repeats = append(early.Places, g.Places[i]), append(notes.Repeats, n)
	}
	early.notes = &notes
	return &early
}

// Differing is the first of metric, unit, clock and level in which two kinds differ; empty: none.
func (k Kind) Differing(other Kind) string {
	switch {
	case k.Name != other.Name:
		return "metric"
	case k.Unit != other.Unit:
		return "unit"
	case k.Clock != other.Clock:
		return "clock"
	case k.Level != other.Level:
		return "level"
	}
	return ""
}
