package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shard is a share of the points of a sweep: number Index, from 1, of Count. The zero value is the whole sweep.
type Shard struct{ Index, Count int }

// String returns the shard as ParseShard reads it: 2/8.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// maxShards limits the number of shards.
const maxShards = 1_000_000

// ParseShard reads a shard: I/N; auto/N, whose index is the number of this task in a Slurm array that begins at 1, a Kubernetes Job with
// indexed completion, or GNU parallel; or auto for a Slurm array without gaps, whose length is the number of shards.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	first, count, counted := strings.Cut(text, "/")
	if first != "auto" && !counted {
		return Shard{}, fmt.Errorf("want I/N, auto/N or auto, got %q", text)
	}
	var s Shard
	var err error
	if counted {
		if s.Count, err = strconv.Atoi(count); err != nil || s.Count < 1 || s.Count > maxShards {
			return Shard{}, fmt.Errorf("want a number of shards from 1 to %d, got %q", maxShards, count)
		}
	}
	switch {
	case first != "auto":
		if s.Index, err = strconv.Atoi(first); err != nil {
			return Shard{}, fmt.Errorf("want I/N, auto/N or auto, got %q", text)
		}
	default:
		if s, err = taskOf(s.Count, getenv); err != nil {
			return Shard{}, err
		}
	}
	if s.Index < 1 || s.Index > s.Count {
		return Shard{}, fmt.Errorf("want a shard from 1 to %d, got %d", s.Count, s.Index)
	}
	return s, nil
}

// taskOf returns the shard of this process by the variables that a launcher sets; count is 0 if the array tells how many there are.
func taskOf(count int, getenv func(string) string) (Shard, error) {
	number := func(name string) (int, error) {
		n, err := strconv.Atoi(getenv(name))
		if err != nil {
			return 0, fmt.Errorf("reading the number of this task: %s is %q", name, getenv(name))
		}
		return n, nil
	}
	for _, launcher := range []struct {
		variable string
		first    int
	}{{"SLURM_ARRAY_TASK_ID", 1}, {"JOB_COMPLETION_INDEX", 0}, {"PARALLEL_SEQ", 1}} {
		if getenv(launcher.variable) == "" {
			continue
		}
		task, err := number(launcher.variable)
		if err != nil || count > 0 {
			return Shard{task - launcher.first + 1, count}, err
		}
		if launcher.variable != "SLURM_ARRAY_TASK_ID" {
			return Shard{}, fmt.Errorf("%s is set, and no variable has the number of tasks: want auto/N", launcher.variable)
		}
		var array [3]int
		for i, name := range []string{"SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"} {
			if array[i], err = number(name); err != nil {
				return Shard{}, err
			}
		}
		low, high, tasks := array[0], array[1], array[2]
		if high-low+1 != tasks { // another array with other gaps would share out the points differently
			return Shard{}, fmt.Errorf("the Slurm array from %d to %d has %d tasks: want auto/N for an array with gaps", low, high, tasks)
		}
		return Shard{task - low + 1, tasks}, nil
	}
	return Shard{}, fmt.Errorf("none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and PARALLEL_SEQ is set: want I/N")
}

// Shards returns the shard of each point, from 1 to count, by the id of the point. Points that are compared with each other, which are a
// block, have the same shard. The blocks are dealt out in the order of their smallest point ids, so their shards do not depend on the order
// of the file, and the sizes of two shards differ by one block at most. The points of calibrate are in all shards, and have no entry. A shard
// deals out its own points.
func (s *Sweep) Shards(count int) map[string]int {
	type group struct {
		first string
		ids   []string
	}
	var groups []group
	add := func(ids []string) { groups = append(groups, group{slices.Min(ids), ids}) }
	for _, block := range s.blocks {
		var ids []string
		for _, i := range block {
			if s.places == nil || s.places[i] < len(s.Points) {
				ids = append(ids, s.at(i).PointID)
			}
		}
		if len(ids) > 0 {
			add(ids)
		}
	}
	for i := range s.Skipped {
		add([]string{s.Skipped[i].PointID})
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.first, b.first) })
	shards := map[string]int{}
	for i, g := range groups {
		for _, id := range g.ids {
			shards[id] = i%count + 1
		}
	}
	return shards
}

// Shard returns the part of the sweep that a shard runs. Its launches are those of the whole sweep without the points of other shards: they
// have the same numbers of blocks and the same order.
func (s *Sweep) Shard(of Shard) *Sweep {
	shards, part := s.Shards(of.Count), *s
	part.Points, part.Skipped = nil, nil
	mine := func(p *Point) bool { return p.Calibration || shards[p.PointID] == of.Index }
	for i := range s.Skipped {
		if mine(&s.Skipped[i]) {
			part.Skipped = append(part.Skipped, s.Skipped[i])
		}
	}
	for i := range s.Points {
		to := &part.others
		if mine(&s.Points[i]) {
			to = &part.Points
		}
		*to = append(*to, s.Points[i])
	}
	mineAt, otherAt := 0, len(part.Points)
	part.places = make([]int, len(s.Points))
	for i := range s.Points {
		at := &otherAt
		if mine(&s.Points[i]) {
			at = &mineAt
		}
		part.places[i], *at = *at, *at+1
	}
	return &part
}

// Idle reports whether a shard has nothing to run but calibrate, because there are more shards than groups of points that stay together.
func (s *Sweep) Idle() bool {
	return len(s.Skipped) == 0 && !slices.ContainsFunc(s.Points, func(p Point) bool { return !p.Calibration })
}

// at returns a point of the whole sweep by its index in expansion order.
func (s *Sweep) at(i int) *Point {
	if s.places != nil {
		i = s.places[i]
	}
	if i < len(s.Points) {
		return &s.Points[i]
	}
	return &s.others[i-len(s.Points)]
}

// own returns the launches without the points of other shards.
func (s *Sweep) own(launches []Launch) []Launch {
	if len(s.others) == 0 {
		return launches
	}
	others := make(map[*Point]bool, len(s.others))
	for i := range s.others {
		others[&s.others[i]] = true
	}
	return slices.DeleteFunc(launches, func(l Launch) bool { return others[l.Point] })
}

// PointsSHA256 returns a hash of the points of the whole sweep, in whatever order they are. The points of calibrate are left out: with them
// or without, it is the same sweep.
func (s *Sweep) PointsSHA256() string {
	var ids []string
	for i := range len(s.Points) + len(s.others) {
		if p := s.at(i); !p.Calibration {
			ids = append(ids, p.PointID)
		}
	}
	slices.Sort(ids)
	digest := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return hex.EncodeToString(digest[:])
}
