package progress

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// CampaignState says how far the sessions of a campaign are.
type CampaignState struct {
	plan   *runner.Plan
	sweep  *sweep.Sweep
	shards int // 0: the sweep is not shared out
	points []*pointState
}

// pointState says how far a point is, in numbers of runs.
type pointState struct {
	point               *sweep.Point
	shard               int // 0: none
	runs, failed, twice int
	missing             int
	machines            map[string]bool
}

// NewCampaignState counts the runs of a plan by point. only limits it to one shard; its zero value is the whole sweep, shared out as the
// newest session of the campaign did.
func NewCampaignState(p *runner.Plan, s *sweep.Sweep, only sweep.Shard) CampaignState {
	c := CampaignState{plan: p, sweep: s, shards: p.Shards}
	if only.Count > 0 {
		c.shards = only.Count
	}
	var shards map[string]int
	if c.shards > 0 {
		shards = s.Shards(c.shards)
	}
	known := map[*sweep.Point]*pointState{}
	for _, planned := range p.Launches {
		point := planned.Launch.Point
		shard := shards[point.PointID]
		if point.Skip != nil || point.Calibration || only.Count > 0 && shard != only.Index {
			continue
		}
		state := known[point]
		if state == nil {
			state = &pointState{point: point, shard: shard, machines: map[string]bool{}}
			known[point], c.points = state, append(c.points, state)
		}
		state.runs++
		switch run := planned.Done; {
		case run == nil:
			state.missing++
		default:
			state.machines[run.Env.Machine] = true
			if run.Status.Failed() {
				state.failed++
			}
		}
	}
	for _, t := range p.Twice {
		if state := known[t.Launch.Point]; state != nil {
			state.twice++
			for _, run := range t.Runs {
				state.machines[run.Env.Machine] = true
			}
		}
	}
	return c
}

// Incomplete reports whether a run is missing or has failed.
func (c CampaignState) Incomplete() bool {
	return slices.ContainsFunc(c.points, func(p *pointState) bool { return p.missing+p.failed > 0 })
}

// Table has one row a point, in the order of the sweep file.
func (c CampaignState) Table() answer.Table {
	names := describe(c.sweep).names
	t := answer.Table{Columns: []answer.Column{
		{Name: "campaign", Type: answer.TypeText},
		{Name: "point", Type: answer.TypeText},
		{Name: "point_id", Type: answer.TypeText},
		{Name: "shard", Type: answer.TypeInteger},
		{Name: "shards", Type: answer.TypeInteger},
		{Name: "runs", Type: answer.TypeInteger},
		{Name: "done", Type: answer.TypeInteger},
		{Name: "missing", Type: answer.TypeInteger},
		{Name: "failed", Type: answer.TypeInteger},
		{Name: "measured_twice", Type: answer.TypeInteger},
		{Name: "machines", Type: answer.TypeList},
	}}
	for _, p := range c.points {
		t.Rows = append(t.Rows, []any{
			c.plan.Campaign, names[p.point.PointID], p.point.PointID, answer.Positive(p.shard), answer.Positive(c.shards),
			int64(p.runs), int64(p.runs - p.missing - p.failed), int64(p.missing), int64(p.failed), int64(p.twice),
			answer.List(slices.Sorted(maps.Keys(p.machines))),
		})
	}
	return t
}

// Notes say which stored runs do not count, and why.
func (c CampaignState) Notes() []string { return changeLines(c.plan) }

// View shows the points, incomplete ones first, and the command that measures the missing runs or, of a complete campaign, shows all its
// runs. args are the words of the command line, and store is the folder of a store that commands have to name; empty: none.
func (c CampaignState) View(args []string, store string) term.View {
	runs, missing, failed, twice := 0, 0, 0, 0
	for _, p := range c.points {
		runs, missing, failed, twice = runs+p.runs, missing+p.missing, failed+p.failed, twice+p.twice
	}
	done := fmt.Sprintf("campaign %s: %s of %s done", c.plan.Campaign, term.Thousands(runs-missing-failed), term.Count(runs, "run"))
	if missing > 0 {
		done += fmt.Sprintf(", %s missing", term.Thousands(missing))
	}
	if failed > 0 {
		done += fmt.Sprintf(", %s failed", term.Thousands(failed))
	}
	v := term.View{
		Above:   []string{term.OneLine(strings.Join(titleParts(c.sweep.Suite, describe(c.sweep).constants...), " · ")), term.OneLine(done)},
		Columns: []term.Column{{Header: "POINT"}, {Header: "SHARD", Right: true, Drop: 1}, {Header: "DONE", Right: true}, {Header: "MISSING", Right: true}, {Header: "FAILED", Right: true}, {Header: "MACHINES", Drop: 2}},
	}
	names := describe(c.sweep).names
	sorted := slices.Clone(c.points)
	slices.SortStableFunc(sorted, func(a, b *pointState) int { return (b.missing + b.failed) - (a.missing + a.failed) })
	for _, p := range sorted {
		v.Rows = append(v.Rows, []term.Cell{
			{Text: term.OneLine(names[p.point.PointID])},
			{Text: countOr(p.shard)},
			{Text: strconv.Itoa(p.runs - p.missing - p.failed)},
			{Text: countOr(p.missing)},
			{Text: countOr(p.failed), Failed: p.failed > 0},
			{Text: term.OneLine(strings.Join(slices.Sorted(maps.Keys(p.machines)), " "))},
		})
	}
	if c.shards == 0 {
		v.Columns = slices.Delete(v.Columns, 1, 2)
		for i := range v.Rows {
			v.Rows[i] = slices.Delete(v.Rows[i], 1, 2)
		}
	}
	if c.plan.Resumes == "" {
		v.Below = append(v.Below, "only sessions with --shard or --campaign count, and of a campaign without a name only those of this commit")
	}
	if twice > 0 {
		v.Below = append(v.Below, c.twiceLine(twice))
	}
	without := c.shardsWith(func(p *pointState) bool { return p.missing > 0 })
	with := c.shardsWith(func(p *pointState) bool { return p.failed > 0 })
	script := ""
	if len(without) > 0 {
		v.Below = append(v.Below, "missing in "+c.shardsText(without))
		script = WithScript(args, c.shards) + " | sbatch --array=" + ranges(without)
	}
	if len(with) > 0 {
		v.Below = append(v.Below, "failed in "+c.shardsText(with))
		script = cmp.Or(script, WithFailedScript(args, c.shards)+" | sbatch --array="+ranges(with))
	}
	edited := slices.ContainsFunc(c.plan.Changes, func(change runner.Change) bool { return change.Files != "" }) // by mistake, it may be
	if script != "" && !edited && CommandLine(args) != "" {
		v.Next = append(v.Next, script)
	}
	if missing == 0 {
		v.Next = append(v.Next, c.showCommand(store))
	}
	if failed > 0 {
		v.Below = append(v.Below, "failed runs are measured again with --rerun failed")
	}
	return v
}

// showCommand returns the command that compares or lists the runs of all sessions of the campaign.
func (c CampaignState) showCommand(store string) string {
	words := []string{"neurolens", "ls", "env." + schema.FactCampaign + "=" + filter.QuoteWord(c.plan.Campaign)}
	variants := map[string]bool{}
	for i := range c.sweep.Points {
		variants[c.sweep.Points[i].Variant] = true
	}
	if c.sweep.Baseline != "" || len(variants) > 1 {
		words[1] = "compare"
	}
	for _, planned := range c.plan.Launches {
		if planned.Done != nil && planned.Done.Env.GitCommit != "" {
			words = append(words, "git_commit="+planned.Done.Env.GitCommit)
			break
		}
	}
	if store != "" {
		words = append(words, "--store", store)
	}
	return term.ShellLine(words...)
}

// shardsWith lists the shards with such a point.
func (c CampaignState) shardsWith(such func(*pointState) bool) []int {
	var shards []int
	for _, p := range c.points {
		if p.shard > 0 && such(p) {
			shards = append(shards, p.shard)
		}
	}
	slices.Sort(shards)
	return slices.Compact(shards)
}

// shardsText names some of the shards: shards 1-3,7 of 9.
func (c CampaignState) shardsText(shards []int) string {
	return fmt.Sprintf("%s%s of %d", term.Verb(len(shards), "shard ", "shards "), ranges(shards), c.shards)
}

// twiceLine names the sessions that measured the same.
func (c CampaignState) twiceLine(twice int) string {
	var by []string
	for _, run := range c.plan.Twice[0].Runs {
		by = append(by, fmt.Sprintf("session %s on %s", views.ShortRun(run.SessionID), run.Env.Machine))
	}
	return term.OneLine(fmt.Sprintf("%s measured by more than one session, the first by %s", term.Count(twice, "run"), strings.Join(by, " and ")))
}

// countOr returns a count; nothing for 0.
func countOr(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// ranges lists ascending numbers as sbatch --array takes them: 1-3,7.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		part := strconv.Itoa(numbers[i])
		if last > i {
			part += "-" + strconv.Itoa(numbers[last])
		}
		parts, i = append(parts, part), last+1
	}
	return strings.Join(parts, ",")
}
