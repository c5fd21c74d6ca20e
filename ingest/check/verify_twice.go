package check

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// sweepRuns is how many runs a runSweep keeps before it removes those that no later file can have.
const sweepRuns = 1 << 16

// runSweep finds runs that are in several files. Files are added in ascending order of their first run.
type runSweep struct {
	files   []string   // paths, by foundRun.file
	pending []foundRun // later files may have them too
	kept    int        // of pending, after the last look
	single  int        // different runs so far, less those pending
	twice   []foundRun // runs that are in several files, ascending by id
}

func (s *runSweep) add(path string, runs []foundRun) {
	file := int32(len(s.files))
	s.files = append(s.files, path)
	for _, r := range runs {
		r.file = file
		s.pending = append(s.pending, r)
	}
}

// sweep handles the runs from before a time in Unix milliseconds, which no later file can have. It does nothing until
// enough runs are pending, unless the time is the end of time.
func (s *runSweep) sweep(horizon int64) {
	const end = math.MaxInt64
	if horizon != end && len(s.pending) < max(sweepRuns, 2*s.kept) {
		return
	}
	slices.SortFunc(s.pending, func(a, b foundRun) int { return cmp.Or(a.id.Compare(b.id), cmp.Compare(a.file, b.file)) })
	decided := 0
	for same := range sameRuns(s.pending) {
		if horizon != end && same[0].id.Time().UnixMilli() >= horizon {
			break
		}
		s.single++
		if len(same) > 1 {
			s.twice = append(s.twice, same...)
		}
		decided += len(same)
	}
	s.pending = append(s.pending[:0], s.pending[decided:]...)
	s.kept = len(s.pending)
}

// duplicate means that some runs of a file are also in an earlier one.
type duplicate struct {
	a, b  int32
	equal bool // the digests
}

// reportTwice reports files that have runs in common, with one finding per pair.
func (v *verifier) reportTwice() error {
	counts, example := map[duplicate]int{}, map[duplicate]schema.ULID{}
	var order []duplicate
	for same := range sameRuns(v.runs.twice) {
		for i, r := range same[1:] {
			first := v.earlier(same[:i+1], r)
			p := duplicate{first.file, r.file, first.digest == r.digest}
			if counts[p] == 0 {
				order, example[p] = append(order, p), r.id
			}
			counts[p]++
		}
	}
	for _, p := range order {
		a, b := v.runs.files[p.a], v.runs.files[p.b]
		if v.stillCounts(a) && v.stillCounts(b) {
			v.add(duplicateFinding(a, b, p.equal, fmt.Sprintf("%d of its runs, such as %s, are also in %s", counts[p], example[p], a)))
		}
	}
	v.done.Runs = v.runs.single
	return nil
}

// earlier chooses which of the earlier places of a run to name. It prefers one of the same sort, because the sort decides
// what readers make of it.
func (v *verifier) earlier(before []foundRun, r foundRun) foundRun {
	sort := sortOf(disk.Classify(v.runs.files[r.file]))
	at := slices.IndexFunc(before, func(b foundRun) bool { return sortOf(disk.Classify(v.runs.files[b.file])) == sort })
	return before[max(at, 0)]
}

// sortOf is what matters to readers that find a run twice: whether the file is sealed, in a claim, or in a segment.
func sortOf(s disk.StoreFile) string {
	switch {
	case s.Kind == disk.KindSealed:
		return schema.RunsDir
	case s.Live.Claim != nil:
		return schema.ClaimsDir
	}
	return schema.LiveDir
}

// duplicateFinding is the finding about runs that are in two files, a and b.
func duplicateFinding(a, b string, equal bool, what string) Finding {
	one, other := sortOf(disk.Classify(a)), sortOf(disk.Classify(b))
	switch {
	case !equal:
		return Finding{Severity: SeverityDamage, Path: b, Problem: what + ", with different digests"}
	case one == schema.LiveDir && other == schema.LiveDir:
		return Finding{Severity: SeverityDamage, Path: b, Problem: what + ", another segment, so readers cannot know which copy counts", remedy: remedyAside}
	case one == schema.RunsDir && other == schema.RunsDir:
		return Finding{Severity: SeverityDamage, Path: b, Problem: what + ", with the same digests, so tools that read the whole folder count them twice; " +
			"store compact writes a store without duplicates"}
	}
	return Finding{Severity: SeverityNotice, Path: b, Problem: what + ", with the same digests; they count once"}
}

// stillCounts reports whether a file of runs is still in place: it was neither moved nor sealed since it was read.
func (v *verifier) stillCounts(name string) bool {
	s := disk.Classify(name)
	if s.Kind != disk.KindLive {
		return true
	}
	if !disk.IsThere(v.files, name) {
		return false
	}
	if s.Live.Claim == nil {
		return true
	}
	plan, err := schema.ReadPlan(v.files, *s.Live.Claim)
	if err != nil || plan.File == "" || !plan.Has(s.Live.Run) {
		return true
	}
	f, err := disk.PlannedFile(*s.Live.Claim, plan)
	return err != nil || !disk.IsThere(v.files, f.Path(schema.RunsDir))
}

// sameRuns gives groups of consecutive runs with the same id.
func sameRuns(runs []foundRun) iter.Seq[[]foundRun] {
	return func(yield func([]foundRun) bool) {
		for len(runs) > 0 {
			n := 1
			for n < len(runs) && runs[n].id == runs[0].id {
				n++
			}
			if !yield(runs[:n:n]) {
				return
			}
			runs = runs[n:]
		}
	}
}
