package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sharedOut has blocks of two points each, points that are skipped, a profiler and points of calibrate.
const sharedOut = tiny + `
variant: [A, B]
grid: {k: [1, 2, 3, 4, 5, 6, 7], d: [1, 2]}
skip_if: [{when: "k == 7", reason: seven}]
repeats: 3
calibrate: true
`

// TestShards: for any number of shards, each launch of the sweep is in one of them, with its block, position and order. A block is in one
// shard, whatever its number. Each shard has the points of calibrate.
func TestShards(t *testing.T) {
	for _, order := range []string{"", "order: random\n", "order: sequential\n"} {
		s := parse(t, sharedOut+order, Overrides{})
		o := LaunchOptions{Sides: 2, Seed: 9}
		all := launchTexts(s.Launches(o))
		for _, n := range []int{1, 2, 3, 5, 40} {
			var got []string
			blocks := map[string]string{} // the shard of a block of points, by d and k
			for i := range n {
				part := s.Shard(Shard{Index: i + 1, Count: n})
				equal(t, part.PointsSHA256(), s.PointsSHA256())
				equal(t, part.Suites(), s.Suites())
				equal(t, part.Idle(), i >= 16) // 12 blocks of points that run, and 4 points that are skipped
				launches := launchTexts(part.Launches(o))
				if !inOrder(launches, all) {
					t.Errorf("%sshard %d of %d: another order than that of the sweep: %q", order, i+1, n, launches)
				}
				for _, l := range part.Launches(o) {
					if l.Point.Calibration {
						continue
					}
					if key := l.Point.Params["d"] + " " + l.Point.Params["k"]; l.Point.Skip == nil {
						if was := blocks[key]; was != "" && was != fmt.Sprint(i) {
							t.Errorf("%s%d shards: the variants of %s are in two shards", order, n, key)
						}
						blocks[key] = fmt.Sprint(i)
					}
				}
				for _, text := range launches {
					if !strings.Contains(text, "calibrat") || i == 0 {
						got = append(got, text)
					}
				}
				wanted := func(*Point) bool { return true }
				if later := launchTexts(part.Round(3, o, wanted)); !inOrder(later, launchTexts(s.Round(3, o, wanted))) {
					t.Errorf("%sshard %d of %d: another order of a later round", order, i+1, n)
				}
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(all))
			if !slices.Equal(got, want) {
				t.Errorf("%s%d shards have %d launches, want the %d of the sweep", order, n, len(got), len(want))
			}
		}
	}
}

// launchTexts writes launches but for blocks of skipped ones, which do not run.
func launchTexts(launches []Launch) []string {
	var all []string
	for _, l := range launches {
		text := fmt.Sprint(l.Point.PointID, " ", l.Point.Benchmark, l.Side, l.Profile, l.Repeat)
		if l.Point.Calibration {
			text += " calibration"
		}
		if l.Point.Skip == nil {
			text += fmt.Sprint(" ", l.Block, l.Position)
		}
		all = append(all, text)
	}
	return all
}

// inOrder reports whether part is a subsequence of all.
func inOrder(part, all []string) bool {
	for _, text := range part {
		i := slices.Index(all, text)
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}

// TestShardSizes: the sizes of two shards differ by one block at most, and a point keeps its shard when the file has another order.
func TestShardSizes(t *testing.T) {
	s := parse(t, tiny+"grid: {k: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}", Overrides{})
	turned := parse(t, tiny+"grid: {k: [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]}", Overrides{})
	for _, n := range []int{1, 3, 4, 10, 11} {
		equal(t, s.Shards(n), turned.Shards(n))
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = len(s.Shard(Shard{i + 1, n}).Points)
		}
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Errorf("%d shards have %v points", n, sizes)
		}
	}
}

func TestParseShard(t *testing.T) {
	array := "SLURM_ARRAY_TASK_ID=%d SLURM_ARRAY_TASK_MIN=%d SLURM_ARRAY_TASK_MAX=%d SLURM_ARRAY_TASK_COUNT=%d"
	for _, c := range []struct{ text, env, want string }{
		{"2/8", "", "2/8"},
		{"8/8", "", "8/8"},
		{"1/1", "", "1/1"},
		{"auto/8", "SLURM_ARRAY_TASK_ID=3", "3/8"},
		{"auto/8", "JOB_COMPLETION_INDEX=0", "1/8"},
		{"auto/8", "PARALLEL_SEQ=8", "8/8"},
		{"auto", fmt.Sprintf(array, 0, 0, 3, 4), "1/4"},
		{"auto", fmt.Sprintf(array, 7, 4, 7, 4), "4/4"},
		{"auto", fmt.Sprintf(array, 3, 3, 7, 2), "the Slurm array from 3 to 7 has 2 tasks: want auto/N for an array with gaps"},
		{"auto", "JOB_COMPLETION_INDEX=0", "JOB_COMPLETION_INDEX is set, and no variable has the number of tasks: want auto/N"},
		{"auto", "SLURM_ARRAY_TASK_ID=x", `reading the number of this task: SLURM_ARRAY_TASK_ID is "x"`},
		{"auto", "SLURM_ARRAY_TASK_ID=1", `reading the number of this task: SLURM_ARRAY_TASK_MIN is ""`},
		{"auto/4", "", "none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and PARALLEL_SEQ is set: want I/N"},
		{"auto/4", "SLURM_ARRAY_TASK_ID=5", "want a shard from 1 to 4, got 5"},
		{"0/4", "", "want a shard from 1 to 4, got 0"},
		{"5/4", "", "want a shard from 1 to 4, got 5"},
		{"2", "", `want I/N, auto/N or auto, got "2"`},
		{"a/4", "", `want I/N, auto/N or auto, got "a/4"`},
		{"1/0", "", `want a number of shards from 1 to 1000000, got "0"`},
		{"1/x", "", `want a number of shards from 1 to 1000000, got "x"`},
	} {
		env := map[string]string{}
		for _, word := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(word, "=")
			env[name] = value
		}
		s, err := ParseShard(c.text, func(name string) string { return env[name] })
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		equal(t, got, c.want)
	}
}
