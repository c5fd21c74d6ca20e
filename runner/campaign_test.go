package runner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// sharedSweep has 12 points in blocks of two, which are compared.
const sharedSweep = `
command: [sh, -c, ': {n} {variant}']
variant: [a, b]
grid: {n: [1, 2, 3, 4, 5, 6]}
repeats: 3
iterations: 1
warmup: 0
`

// campaign returns the campaign of a shelf: runs count if they have the name of the campaign, whatever session and machine they are of.
func (k *shelf) campaign(shard sweep.Shard) *Campaign {
	return &Campaign{Shard: shard, Done: func(name string) ([]schema.Run, error) {
		return slices.DeleteFunc(slices.Clone(k.runs), func(r schema.Run) bool { return r.Env.Facts[schema.FactCampaign] != name }), nil
	}}
}

// share measures a shard until it was interrupted after so many runs, on a machine.
func (k *shelf) share(t *testing.T, shard sweep.Shard, after int, machine string, edit func(*Campaign)) Result {
	return k.bench(t, parse(t, sharedSweep).Shard(shard), after, func(o *Options) {
		o.Machine, o.Done, o.Campaign = machine, nil, k.campaign(shard)
		if edit != nil {
			edit(o.Campaign)
		}
	})
}

// state returns the plan of all of the campaign.
func (k *shelf) state(t *testing.T) Plan {
	return valuetest.Must(State(t.Context(), parse(t, sharedSweep), Options{Campaign: k.campaign(sweep.Shard{})}))
}

// TestCampaign: sessions that are interrupted anywhere and go on with other numbers of shards, on other machines with the same hardware,
// measure each launch once, in the blocks, positions and with the seed of a session that is not shared out.
func TestCampaign(t *testing.T) {
	k, random := &shelf{}, rand.New(rand.NewPCG(3, 1))
	for task := range 12 {
		n := 1 + random.IntN(4)
		k.share(t, sweep.Shard{Index: 1 + random.IntN(n), Count: n}, 1+random.IntN(6), fmt.Sprintf("node%d", task%2), nil)
	}
	if left := k.state(t); left.Done == 0 || left.Done == len(left.Launches) || left.Campaign == "" {
		t.Fatalf("after interruptions %d of %d launches are done, campaign %q", left.Done, len(left.Launches), left.Campaign)
	}
	for i := range 5 {
		k.share(t, sweep.Shard{Index: i + 1, Count: 5}, 0, "node1", nil)
	}
	state := k.state(t)
	valuetest.DeepEqual(t, []int{state.Done, len(state.Launches), len(k.runs), len(state.Twice), state.Shards}, []int{36, 36, 36, 0, 5}, "done, launches, runs, measured twice, shards")

	places := map[string]string{}
	for _, l := range parse(t, sharedSweep).Launches(sweep.LaunchOptions{Seed: seedOf(state.Campaign)}) {
		places[fmt.Sprint(l.Point.PointID, l.Repeat)] = fmt.Sprint(l.Block, l.Position)
	}
	for _, r := range k.runs {
		if want, got := places[fmt.Sprint(r.PointID, *r.RepeatIndex)], fmt.Sprint(*r.BlockIndex, *r.PositionIndex); got != want {
			t.Errorf("run of repeat %d has block and position %s, want %s", *r.RepeatIndex, got, want)
		}
		valuetest.DeepEqual(t, r.Env.Facts[factOrderSeed], fmt.Sprint(seedOf(state.Campaign)), "seed")
	}
	if again := k.share(t, sweep.Shard{Index: 1, Count: 1}, 0, "node0", nil); again.Runs() != 0 || again.Plan.Done != 36 {
		t.Errorf("a complete campaign is measured again: %d runs, %d done", again.Runs(), again.Plan.Done)
	}
}

// TestCampaignMachines: runs on other hardware count only with AnyMachine. What two sessions measured all the same is told.
func TestCampaignMachines(t *testing.T) {
	k := &shelf{}
	whole := sweep.Shard{Index: 1, Count: 1}
	k.share(t, whole, 0, "node0", nil)
	for i := range k.runs {
		k.runs[i].Env.Facts["cpu.model"] = "Another Processor"
	}
	if r := k.share(t, whole, 2, "node1", func(c *Campaign) { c.AnyMachine = true }); r.Runs() != 0 {
		t.Errorf("%d runs again, although runs of any machine count", r.Runs())
	}
	k.share(t, whole, 2, "node1", nil)
	state := k.state(t)
	if len(state.Twice) != 2 || len(state.Twice[0].Runs) != 2 || state.Twice[0].Runs[0].Env.Machine != "node1" {
		t.Errorf("measured twice: %v", state.Twice)
	}
}

// TestCampaignCode: a run of another commit is of another campaign; of a campaign with a name, it does not count.
func TestCampaignCode(t *testing.T) {
	k := &shelf{}
	named := func(c *Campaign) { c.Name = "nightly" }
	whole := sweep.Shard{Index: 1, Count: 1}
	k.share(t, whole, 4, "node0", named)
	k.runs[0].Env.GitCommit = strings.Repeat("a", 40)
	if r := k.share(t, whole, 1, "node0", named); r.Plan.Done != 3 {
		t.Errorf("%d launches are done, want 3: the fourth is of another commit", r.Plan.Done)
	}
	state := func() Plan {
		c := k.campaign(sweep.Shard{})
		named(c)
		return valuetest.Must(State(t.Context(), parse(t, sharedSweep), Options{Campaign: c}))
	}
	if p := state(); len(p.Twice) != 0 || p.Done != 4 {
		t.Errorf("%d launches are done and %d measured twice, although the two runs are of two commits", p.Done, len(p.Twice))
	}
	same := k.runs[1]
	for i := range k.runs {
		k.runs[i].Env.GitCommit = "b"
	}
	same.RunID = "" // older than that of the other commit
	k.runs = append(k.runs, same)
	p := state()
	valuetest.DeepEqual(t, []int{p.Done, len(p.Changes)}, []int{1, 1}, "done: a run of this commit, although a newer one is of another; changes")
	c := Campaign{}
	s := parse(t, sharedSweep)
	one, two := []side{{}}, []side{{}}
	two[0].code.Commit = "a"
	if c.nameOf(s, one) == c.nameOf(s, two) || c.nameOf(s, one) != c.nameOf(s.Shard(sweep.Shard{Index: 2, Count: 3}), one) {
		t.Error("the name of a campaign does not depend on the commit, or depends on the shard")
	}
}

func TestPrintedName(t *testing.T) {
	for _, c := range []struct{ a, b string }{{"logs/slurm-12_3.out", "logs/slurm-12_14.out"}, {"run-2026.log", "run-2027.log"}} {
		valuetest.DeepEqual(t, printedName(c.a), printedName(c.b), "name")
	}
	for _, c := range []struct{ a, b string }{{"a1/x.out", "a2/x.out"}, {"bench1.py", "bench2.py"}, {"sweep1.yaml", "sweep2.yaml"}} {
		if printedName(c.a) == printedName(c.b) {
			t.Errorf("%s and %s are one file", c.a, c.b)
		}
	}
}
