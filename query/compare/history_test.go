package compare

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// everything is a step that no store has more runs than.
const everything = 1 << 40

// ask asks the runs of a store with a step.
func ask(t testing.TB, store string, step int, do func(ctx context.Context, q *historyQuery) error) error {
	t.Helper()
	return querytest.Open(t, store).Stores().Query(t.Context(), func(r *scan.Reader) error {
		q := newHistoryQuery(r, scan.IsMeasurement)
		q.step = step
		return do(t.Context(), q)
	})
}

// manySessions returns sessions of two points on two machines, some of which overlap or last for long. Each has runs of one or both points.
// The ids of this share of them are later than most of their runs, which are of days: as where a file has the newest run first, or a clock
// was set back.
func manySessions(random *rand.Rand, sessions int, late float64) []schema.Run {
	var runs []schema.Run
	n := 0
	for i := range sessions {
		began := querytest.Start.Add(time.Duration(i) * time.Hour)
		machine := []string{"lab1", "lab2"}[random.IntN(2)]
		var starts []time.Time
		for range 1 + random.IntN(4) {
			starts = append(starts, began.Add(time.Duration(random.Int64N([]int64{3e9, 3600e9, 36000e9}[random.IntN(3)]))))
		}
		slices.SortFunc(starts, time.Time.Compare)
		id := schema.NewULID(began).String()
		if random.Float64() < late {
			last := began.Add(time.Duration(random.Int64N(48)) * time.Hour)
			id, starts = schema.NewULID(last.Add(time.Duration(random.Int64N(2))*time.Hour)).String(), append(starts, last)
		}
		for _, at := range starts {
			n++
			runs = append(runs, querytest.NewRun(n, 1000+random.Int64N(100), func(r *schema.Run) {
				r.SessionID, r.StartedAt, r.Env.Machine = id, at, machine
				r.BatchSize, r.Params = new(int64(random.IntN(2))), nil
			}))
		}
	}
	return runs
}

// sealSome seals runs by the time of their ids, a few in a file; some files overlap.
func sealSome(t testing.TB, random *rand.Rand, dir string, runs []schema.Run) []schema.SealedFile {
	t.Helper()
	runs = slices.Clone(runs)
	slices.SortFunc(runs, func(a, b schema.Run) int { return a.StartedAt.Compare(b.StartedAt) })
	for i := range runs {
		if j := i + random.IntN(4); j < len(runs) {
			runs[i], runs[j] = runs[j], runs[i]
		}
	}
	var files []schema.SealedFile
	for len(runs) > 0 {
		n := min(1+random.IntN(12), len(runs))
		files = append(files, querytest.Seal(t, dir, runs[:n]...))
		runs = runs[n:]
	}
	return files
}

// TestSteps: reading from the newest runs on finds the same sessions as reading all runs, wherever a step begins.
func TestSteps(t *testing.T) {
	t.Parallel()
	seeds, stride := uint64(3), 7
	if querytest.Long() {
		seeds, stride = 6, 1
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 3))
		runs := manySessions(random, 330, []float64{.3, 0, .15}[seed%3])
		some := seed%3 == 0 // else all runs are of one point and machine, so that sessions at the beginning of a step are needed
		for i := range runs {
			if !some {
				runs[i].Env.Machine, runs[i].BatchSize = "lab1", new(int64(1))
				runs[i].PointID = schema.PointID(&runs[i])
			}
		}
		dir := querytest.NewStore(t)
		sealSome(t, random, dir, runs)
		querytest.Annotate(t, dir, ingest.Annotation{Kind: schema.EventRemove, Runs: querytest.IDsWhere(runs, func(*schema.Run) bool { return random.IntN(20) == 0 })})
		gaps := map[pointKey]int64{}
		for _, r := range runs[:20] {
			gaps[pointKey{Point: r.PointID, Machine: r.Env.Machine}] = random.Int64N(3600e6)
		}
		before, without := runs[len(runs)-random.IntN(20)-1].StartedAt.UnixMicro(), []string{runs[random.IntN(len(runs))].SessionID}
		read := func(step int) (found map[pointKey][]earlierSession, known int) {
			valuetest.OK(t, ask(t, dir, step, func(ctx context.Context, q *historyQuery) error {
				q.machines, q.before, q.without = []string{"lab1", "lab2"}, before, without
				var err error
				if found, err = q.sessions(ctx, "", gaps); err != nil {
					return err
				}
				known, err = q.countSessions(ctx, 7)
				return err
			}))
			return found, known
		}
		want, known := read(everything)
		for step := 9; step < 24; step += stride {
			got, of := read(step)
			valuetest.DeepEqual(t, got, want, "seed", seed, "step", step, "gaps", gaps, "of all runs")
			valuetest.Equal(t, min(of, 7), min(known, 7), "seed", seed, "step", step, of, "sessions are known, of all runs", known)
		}
	}
}

// TestNewestSuffice: where there are enough sessions, nothing but the footers of older files is read: here they have no rows that can be
// read.
func TestNewestSuffice(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 3))
	runs := manySessions(random, 600, 0)
	for i := range runs {
		runs[i].Env.Machine, runs[i].BatchSize = "lab1", new(int64(1))
		runs[i].PointID = schema.PointID(&runs[i])
	}
	dir := querytest.NewStore(t)
	files := sealSome(t, random, dir, runs)
	key := pointKey{Point: runs[0].PointID, Machine: "lab1"}
	read := func(step int) (sessions []earlierSession, err error) {
		return sessions, ask(t, dir, step, func(ctx context.Context, q *historyQuery) error {
			q.machines, q.before = []string{"lab1"}, runs[len(runs)-1].StartedAt.UnixMicro()
			found, err := q.sessions(ctx, "", map[pointKey]int64{key: 0})
			sessions = found[key]
			return err
		})
	}
	want := valuetest.Must(read(everything))
	valuetest.Equal(t, len(want), MaxHistory)
	for _, f := range files[:len(files)/4] {
		name := filepath.Join(dir, f.Path(schema.RunsDir))
		content := valuetest.Must(os.ReadFile(name))
		footer := len(content) - 8 - int(binary.LittleEndian.Uint32(content[len(content)-8:]))
		querytest.WriteFile(t, name, slices.Concat(content[:4], make([]byte, footer-4), content[footer:]))
	}
	valuetest.Fails(t, valuetest.Error(read(everything)), "", "files of zeros are read without an error")
	valuetest.DeepEqual(t, valuetest.Must(read(50)), want)
}

// TestSpaced: the newest sessions that are far enough apart, oldest first, and no more than MaxHistory.
func TestSpaced(t *testing.T) {
	t.Parallel()
	var all []earlierSession
	for i := range int64(2*MaxHistory + 5) {
		all = append(all, earlierSession{Began: 10 * i})
	}
	for _, c := range []struct {
		gap         int64
		first, last int64
		n           int
	}{
		{0, 10 * (MaxHistory + 5), 10 * (2*MaxHistory + 4), MaxHistory},
		{10, 10 * (MaxHistory + 5), 10 * (2*MaxHistory + 4), MaxHistory},
		{11, 60, 10 * (2*MaxHistory + 4), MaxHistory},
		{1000, 40, 10 * (2*MaxHistory + 4), 3},
		{1 << 40, 10 * (2*MaxHistory + 4), 10 * (2*MaxHistory + 4), 1},
	} {
		got := spaced(all, c.gap)
		if len(got) != c.n || got[0].Began != c.first || got[len(got)-1].Began != c.last {
			t.Errorf("gap %d: %d sessions, %v", c.gap, len(got), got)
		}
	}
	if got := spaced(nil, 1); got != nil {
		t.Error(got)
	}
}
