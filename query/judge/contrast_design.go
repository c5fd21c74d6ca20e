package judge

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/schema/stat"
)

// cell is the unit of a permutation: a run, or all runs of one side of a session.
type cell struct {
	head     bool
	session  string
	runs     []int
	location float64 // minus the median of its group
}

// design says how cells are permuted. Cells of a unit are moved together, and the units of a stratum are exchanged with each other.
type design struct {
	sessions bool // cells are sessions
	cells    []cell
	strata   [][][]int
	order    []int                // in this permutation, cell i has the location of cell order[i]
	scores   map[Within][]float64 // rank of each cell's location within a side, or within both
}

// newDesign makes a design whose cells are runs, or sessions.
func newDesign(runs []ContrastRun, sessions bool) *design {
	d := &design{sessions: sessions}
	if sessions {
		d.addSessions(runs)
	} else {
		for i, r := range runs {
			d.cells = append(d.cells, cell{r.Head, r.Session, []int{i}, r.Location})
		}
	}
	d.align()
	d.stratify(runs)
	d.score()
	d.order = make([]int, len(d.cells))
	for i := range d.order {
		d.order[i] = i
	}
	return d
}

// addSessions makes one cell for each side of each session.
func (d *design) addSessions(runs []ContrastRun) {
	at := map[groupKey]int{}
	for i, r := range runs {
		key := groupKey{r.Session, r.Head}
		k, ok := at[key]
		if !ok {
			k = len(d.cells)
			at[key] = k
			d.cells = append(d.cells, cell{head: r.Head, session: r.Session})
		}
		d.cells[k].runs = append(d.cells[k].runs, i)
	}
	for k := range d.cells {
		var all []float64
		for _, i := range d.cells[k].runs {
			all = append(all, runs[i].Location)
		}
		d.cells[k].location = center(all)
	}
}

// groupKey is a side of a session.
type groupKey struct {
	session string
	head    bool
}

// group is the group within which a cell is compared: runs within their session and side, sessions within their side.
func (d *design) group(i int) groupKey {
	if d.sessions {
		return groupKey{head: d.cells[i].head}
	}
	return groupKey{d.cells[i].session, d.cells[i].head}
}

// align subtracts the median of its group from each location.
func (d *design) align() {
	groups := map[groupKey][]float64{}
	for i, c := range d.cells {
		groups[d.group(i)] = append(groups[d.group(i)], c.location)
	}
	levels := map[groupKey]float64{}
	for key, all := range groups {
		levels[key] = center(all)
	}
	for i := range d.cells {
		d.cells[i].location -= levels[d.group(i)]
	}
}

// stratify finds the units: whole sessions, or blocks if they have runs of both sides, or single runs. Units of the same session,
// or whole sessions, form a stratum if they have the same sides.
func (d *design) stratify(runs []ContrastRun) {
	type unitKey struct {
		session string
		place   string
	}
	sides := map[string][2]bool{}
	for _, c := range d.cells {
		both := sides[c.session]
		both[sideIndex(c.head)] = true
		sides[c.session] = both
	}
	units := map[unitKey][]int{}
	var keys []unitKey
	for i, c := range d.cells {
		key := unitKey{session: c.session}
		if r := runs[c.runs[0]]; !d.sessions {
			key.place = "run " + strconv.Itoa(i)
			if sides[c.session] == [2]bool{true, true} && r.Block >= 0 && c.session != "" {
				key.place = "block " + strconv.FormatInt(r.Block, 10)
			}
		}
		if units[key] == nil {
			keys = append(keys, key)
		}
		units[key] = append(units[key], i)
	}
	at := map[string]int{}
	for _, key := range keys {
		unit := units[key]
		slices.SortStableFunc(unit, func(a, b int) int { return cmp.Compare(sideIndex(d.cells[a].head), sideIndex(d.cells[b].head)) })
		stratum := ""
		if !d.sessions {
			stratum = key.session + " "
		}
		for _, i := range unit {
			stratum += strconv.Itoa(sideIndex(d.cells[i].head))
		}
		k, ok := at[stratum]
		if !ok {
			k = len(d.strata)
			at[stratum] = k
			d.strata = append(d.strata, nil)
		}
		d.strata[k] = append(d.strata[k], unit)
	}
}

func sideIndex(head bool) int {
	if head {
		return 1
	}
	return 0
}

// score computes the ranks of the locations within each side, and within both.
func (d *design) score() {
	d.scores = map[Within][]float64{}
	for _, w := range []Within{WithinBase, WithinHead, WithinSides} {
		var values []float64
		for _, i := range d.within(w) {
			values = append(values, d.cells[i].location)
		}
		ranks := stat.Ranks(values)
		d.scores[w] = make([]float64, len(d.cells))
		for k, i := range d.within(w) {
			d.scores[w][i] = ranks[k]
		}
	}
}

// within are the cells of a side, or of both.
func (d *design) within(w Within) []int {
	var cells []int
	for i, c := range d.cells {
		if w == WithinSides || (w == WithinHead) == c.head {
			cells = append(cells, i)
		}
	}
	return cells
}

// shuffle draws the next permutation.
func (d *design) shuffle(random *rand.Rand) {
	for _, units := range d.strata {
		for i, from := range random.Perm(len(units)) {
			for k, at := range units[i] {
				d.order[at] = units[from][k]
			}
		}
	}
}

// center is the median.
func center(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return stat.Quantile(sorted, .5)
}
