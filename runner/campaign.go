package runner

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// Campaign is a sweep that several sessions share out, on one machine or on many. A session of a campaign continues all earlier ones, and
// measures nothing that one of them has measured.
type Campaign struct {
	Name       string      // empty: a hash of the points and of the commits that are measured
	Shard      sweep.Shard // the part that the sweep of the session is; stored with every run; zero: the whole
	AnyMachine bool        // runs on machines with other hardware count too

	// Done returns the runs of all sessions of a campaign, with the fields that Options.Done sets.
	Done func(name string) ([]schema.Run, error)
}

// factShard is the fact with the shard of a session, as I/N.
const factShard = "runner.shard"

// nameOf returns the name of the campaign of a sweep: the one that the user gave it, or a hash.
func (c *Campaign) nameOf(s *sweep.Sweep, sides []side) string {
	if c.Name != "" {
		return c.Name
	}
	text := s.PointsSHA256()
	for _, side := range sides {
		text += "\n" + side.code.Commit
	}
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:6])
}

// seedOf returns the seed of the order of launches, which all sessions of a campaign share, so that blocks stay whole when another session
// continues them.
func seedOf(campaign string) uint64 {
	digest := sha256.Sum256([]byte(campaign))
	return binary.BigEndian.Uint64(digest[:])
}

// identify returns the values in which two runs of one launch must agree, as identityOf does, but machines with the same hardware are one.
func (c *Campaign) identify(run *schema.Run) map[string]string {
	identity := identityOf(run)
	if c.AnyMachine {
		delete(identity, "machine")
		delete(identity, "driver_version")
	} else if hardware := probe.Hardware(&run.Env); hardware != "" {
		identity["machine"] = hardware
	}
	return identity
}

// campaignPast returns what a session of a campaign continues: all earlier sessions.
func campaignPast(done []schema.Run, r rules) *past {
	var runs []*schema.Run
	for i := range done {
		runs = append(runs, &done[i])
	}
	slices.SortFunc(runs, func(a, b *schema.Run) int { return strings.Compare(b.RunID, a.RunID) })
	p := &past{rules: r, index: r.indexDone(runs), printed: printedBy(runs)}
	if len(runs) > 0 {
		p.session = runs[0].SessionID
	}
	return p
}

// counting returns the runs that may count on a machine. The points of calibrate run in each shard, so only the runs of the same one count.
func (c *Campaign) counting(done []schema.Run, s *sweep.Sweep, env *schema.Env) []schema.Run {
	calibration := map[string]bool{}
	for i := range s.Points {
		if s.Points[i].Calibration {
			calibration[s.Points[i].PointID] = true
		}
	}
	hardware, shard := probe.Hardware(env), ""
	if c.Shard.Count > 0 {
		shard = c.Shard.String()
	}
	return slices.DeleteFunc(slices.Clone(done), func(r schema.Run) bool {
		other := !c.AnyMachine && hardware != "" && probe.Hardware(&r.Env) != hardware
		return other || calibration[r.PointID] && r.Env.Facts[factShard] != shard
	})
}

// State returns the plan of a campaign: which launches of the sweep its sessions have done, whatever the machine. Runs count if they are of
// the same code as the working directory. Nothing is launched, and nothing on this machine besides the code is looked at, so a machine
// that cannot run the sweep can list the missing runs. Repeats that depend on results are not planned yet, so they are not missing.
func State(ctx context.Context, s *sweep.Sweep, o Options) (Plan, error) {
	code := workingTree(ctx, o.Exclude, o.settingsFiles())
	name := o.Campaign.nameOf(s, []side{code})
	done, err := o.Campaign.Done(name)
	if err != nil {
		return Plan{}, err
	}
	here := schema.Env{Facts: map[string]string{}, Missing: map[string]string{}}
	code.describe(&here)
	sameCode := func(run *schema.Run) map[string]string {
		identity := map[string]string{identityCommit: run.Env.GitCommit}
		for _, fact := range append([]string{prepare.FactTree}, treeDetails...) {
			identity[fact] = run.Env.Facts[fact]
		}
		return identity
	}
	wanted := sameCode(&schema.Run{Env: here})
	past := campaignPast(done, rules{identity: func(sweep.Launch) map[string]string { return wanted }, identify: sameCode, whole: true})
	plan := past.plan(s.Launches(sweep.LaunchOptions{Seed: seedOf(name)}))
	plan.Campaign, plan.Resumes = name, past.session
	plan.Shards, plan.Twice = shardsOf(done), past.twice(plan.Launches)
	return plan, nil
}

// shardsOf returns into how many shards the newest session with shards divided the sweep; 0 if none did.
func shardsOf(done []schema.Run) int {
	newest, count := "", 0
	for i := range done {
		if n := shardCount(&done[i]); n > 0 && done[i].RunID > newest {
			newest, count = done[i].RunID, n
		}
	}
	return count
}

// shardCount returns how many shards the session of a run knew; 0: it had none.
func shardCount(run *schema.Run) int {
	_, count, _ := strings.Cut(run.Env.Facts[factShard], "/")
	n, err := strconv.Atoi(count)
	if err != nil {
		return 0
	}
	return n
}

// twice lists the launches that more than one session has completed, with the same code.
func (p *past) twice(launches []Planned) []Twice {
	var all []Twice
	for _, planned := range launches {
		l := planned.Launch
		runs := slices.DeleteFunc(p.counting(l), func(r *schema.Run) bool { return r.Status != schema.StatusOK })
		if len(runs) > 1 {
			all = append(all, Twice{l, runs})
		}
	}
	return all
}
