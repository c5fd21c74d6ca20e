package sides

import "slices"

// Settle forgets when and where the runs ran: how they relate is known, and there are very many. Where points are judged as
// they were at earlier looks, it is kept.
func (g *Group) Settle(keep bool) {
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

// Told are the starts of the runs that tell theirs, ascending.
func (g *Group) Told() []int64 {
	first, _ := slices.BinarySearch(g.Started, 1)
	return g.Started[first:]
}

// Starts are when the runs of each session began, ascending in Unix microseconds; without those that do not tell.
func (g *Group) Starts() map[string][]int64 {
	all, told := map[string][]int64{}, g.Told()
	if len(g.Sessions) == 1 {
		all[g.Sessions[0]] = told
		return all
	}
	for i := len(g.Started) - len(told); i < len(g.Started); i++ {
		session := g.SessionOf(i)
		all[session] = append(all[session], g.Started[i])
	}
	return all
}

// SessionOf is the session of the run with location i; empty where it says none.
func (g *Group) SessionOf(i int) string {
	if len(g.Sessions) == 1 {
		return g.Sessions[0]
	}
	return g.Places[i].session
}

// CountRepeats is how many repeats there were until the last ok run.
func (g *Group) CountRepeats() int {
	last := int64(-1)
	for _, n := range g.Noted().Repeats {
		last = max(last, n)
	}
	return int(last) + 1
}

// UpTo is the group of the runs of the first repeats.
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

// Differing names the first of metric, unit, clock and level in which two differ; empty: none.
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
