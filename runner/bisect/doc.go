// Package bisect searches the first commit of a history from which on a point is changed, as git bisect does, but by
// measurements that differ from run to run. Each commit that is tested halves those that are left; one that cannot be tested
// is skipped, and another one near it taken.
//
// A Search first has the two ends measured against each other, and takes the point that differs most surely. Then it has one
// commit after another measured against the good end, until its change is known to be less or more than half of that of the
// bad end. The chance of a wrong commit is shared out over all these steps: see budget.
//
// The package neither launches anything nor asks git, and knows no statistics: it is given functions that measure and that
// decide. What it is told of runs it gathers as differences of blocks: see Series.
package bisect
