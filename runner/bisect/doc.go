// Package bisect finds the first commit of a history that changed a point. It works as git bisect does, but with measurements
// that differ from run to run. Each tested commit halves the remaining ones. If a commit cannot be tested, it is skipped and a
// nearby one is tested instead.
//
// A Search first measures the two ends against each other and selects the point that changed most clearly. Then it measures one
// commit after another against the good end, until it is known whether the change is less or more than half of the change at the
// bad end. The probability of naming a wrong commit is divided among all these steps: see budget.
//
// The package starts no process, does not call git and contains no statistics: its caller provides functions that measure and
// decide. It collects runs as differences between blocks: see Series.
package bisect
