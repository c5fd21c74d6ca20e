package compare

import "slices"

// ForgetTimes sets InOrder and, unless keep is set, drops when and where the runs ran to save memory.
func (g *sideGroup) ForgetTimes(keep bool) {
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
func (g *sideGroup) KnownStarts() []int64 {
	first, _ := slices.BinarySearch(g.Started, 1)
	return g.Started[first:]
}

// Starts are the starts of the runs of each session, in Unix microseconds, ascending. Runs without a start are left out.
func (g *sideGroup) Starts() map[string][]int64 {
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
func (g *sideGroup) SharesSession(other *sideGroup) bool {
	return slices.ContainsFunc(g.Sessions, func(id string) bool {
		_, both := slices.BinarySearch(other.Sessions, id)
		return both
	})
}

// SessionOf is the session of the run with location i; empty: unknown.
func (g *sideGroup) SessionOf(i int) string {
	if len(g.Sessions) == 1 {
		return g.Sessions[0]
	}
	return g.Places[i].session
}

// PlaceOf is the session and block of the run with location i.
func (g *sideGroup) PlaceOf(i int) runPlace { return runPlace{g.SessionOf(i), g.Places[i].Block} }

// CountRepeats is the number of repeats up to the last ok run.
func (g *sideGroup) CountRepeats() int {
	last := int64(-1)
	for _, n := range g.Noted().Repeats {
		last = max(last, n)
	}
	return int(last) + 1
}

// UpTo is the group as it was after a number of repeats.
func (g *sideGroup) UpTo(repeats int) *sideGroup {
	of := g.Noted().Repeats
	if len(of) != len(g.Locations) {
		return g
	}
	return g.only(func(i int) bool { return of[i] < int64(repeats) })
}

// Of is the group with only the runs of some sessions, which are given in ascending order. The start of each run must be known to it.
func (g *sideGroup) Of(sessions []string) *sideGroup {
	some := g.only(func(i int) bool {
		_, there := slices.BinarySearch(sessions, g.SessionOf(i))
		return there
	})
	some.Sessions = sessions
	return some
}

// only is the group with only some of its locations.
func (g *sideGroup) only(kept func(i int) bool) *sideGroup {
	some, repeats := g.clone(), g.Noted().Repeats
	some.Locations, some.Started, some.Places = nil, nil, nil
	if repeats != nil {
		some.notes.Repeats = nil
	}
	for i, location := range g.Locations {
		if !kept(i) {
			continue
		}
		some.Locations, some.Started = append(some.Locations, location), append(some.Started, g.Started[i])
		if g.Places != nil {
			some.Places = append(some.Places, g.Places[i])
		}
		if repeats != nil {
			some.notes.Repeats = append(some.notes.Repeats, repeats[i])
		}
	}
	return some
}

// Differing is the first of metric, unit, clock and level in which two kinds differ; empty: none.
func (k metricKind) Differing(other metricKind) string {
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
