package main

import (
	_ "embed" // the scripts
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/progress"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// campaignFlags are the options of a session that is one of several, which share out a sweep.
type campaignFlags struct {
	shard, name     string
	anyMachine      bool
	status          bool
	sbatch, indexed int

	changed func(option string) bool // it is on the command line
}

// define defines them on the command.
func (f *campaignFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.changed = flags.Changed
	flags.StringVar(&f.shard, "shard", "", "measure only part I of N of the points: `I/N`, auto/N or auto in an array of tasks")
	flags.StringVar(&f.name, "campaign", "", "continue all sessions of the campaign `NAME` (default: named by points and commit)")
	flags.BoolVar(&f.anyMachine, "any-machine", false, "in a campaign, runs on machines with other hardware count too")
	flags.BoolVar(&f.status, "status", false, "say what of a campaign is done, missing and failed; run nothing")
	flags.IntVar(&f.sbatch, "print-sbatch", 0, "print a Slurm script that shares out the points over `N` tasks; run nothing")
	flags.IntVar(&f.indexed, "print-k8s", 0, "print a Kubernetes Job that shares out the points over `N` pods; run nothing")
}

// given returns the option by which a session belongs to a campaign; empty: it belongs to none.
func (f *campaignFlags) given() string {
	for _, option := range []string{"shard", "campaign", "status", "print-sbatch", "print-k8s"} {
		if f.changed(option) {
			return "--" + option
		}
	}
	return ""
}

// prints reports whether a script is printed, and for how many tasks.
func (f *campaignFlags) prints() (tasks int, ok bool) {
	switch {
	case f.changed("print-sbatch"):
		return f.sbatch, true
	case f.changed("print-k8s"):
		return f.indexed, true
	}
	return 0, false
}

// readCampaign reads the campaign of a session, and leaves of the sweep what the session shall measure.
func (b *bench) readCampaign() error {
	f := &b.flags.campaign
	option := f.given()
	tasks, prints := f.prints()
	switch {
	case option == "" && f.anyMachine:
		return usageErrorf("--any-machine: want --shard or --campaign too: other sessions continue those of their own machine")
	case option == "":
		return nil
	case b.source.Texts != nil:
		return usageErrorf("%s: want a sweep file; --print-sweep prints one of the programs on the command line", option)
	case f.status && b.flags.against != "":
		return usageErrorf("--status: sessions with --against start from the beginning, so there is nothing to continue; " +
			"neurolens ls --by env.runner.campaign,env.runner.shard says what they stored")
	case prints && tasks < 1:
		return usageErrorf("--print-sbatch, --print-k8s: want a number of tasks from 1, got %d", tasks)
	case f.changed("campaign") && f.name == "":
		return usageErrorf("--campaign: want a name")
	}
	b.campaign = &runner.Campaign{Name: f.name, AnyMachine: f.anyMachine, Done: b.campaignRuns}
	if !f.changed("shard") {
		return nil
	}
	shard, err := sweep.ParseShard(f.shard, b.getenv)
	if err != nil {
		return usageErrorf("--shard: %v", err)
	}
	b.campaign.Shard, b.app.args = shard, progress.InShard(b.args, shard.String())
	return nil
}

// campaignRuns returns the runs that the store has of a campaign.
func (b *bench) campaignRuns(name string) ([]schema.Run, error) {
	db, err := openForReading(b.cmd.Context(), []string{b.dir})
	if errors.Is(err, schema.ErrNoStore) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	runs, err := db.Campaign(b.cmd.Context(), b.sweep.Suites(), name)
	return runs, errors.Join(err, db.Close())
}

// campaignState prints how far a campaign is. The error is errRunsFailed if a run is missing or has failed.
func (b *bench) campaignState() error {
	plan, err := runner.State(b.cmd.Context(), b.sweep, b.options(nil))
	if err != nil {
		return explained(err)
	}
	stores := ""
	if len(b.stores) > 0 {
		stores = b.dir
	}
	state := progress.NewCampaignState(&plan, b.sweep, b.campaign.Shard)
	for _, note := range state.Notes() {
		progress.Note(b.stderr, note)
	}
	if err := b.print(b.format, state.Table(), func() term.View { return state.View(b.args, stores) }); err != nil {
		return err
	}
	if state.Incomplete() {
		return errRunsFailed
	}
	return nil
}

//go:embed sbatch.tmpl
var sbatchText string

//go:embed k8s.tmpl
var k8sText string

// launcher is what the templates of scripts are filled with.
type launcher struct {
	Mark    string // by which sessions know the script
	Name    string // of the job: letters, digits and -
	Tasks   int
	Command string // with its shard, for a shell
	Status  string // the command that lists the missing runs; empty: tasks do not continue
}

// printLauncher prints the script that shares out a sweep.
func (b *bench) printLauncher() error {
	text := sbatchText
	if !b.flags.campaign.changed("print-sbatch") {
		text = k8sText
	}
	tasks, _ := b.flags.campaign.prints()
	l := launcher{Mark: worktree.LauncherMark, Name: jobName(b.sweep.Suite, b.source.Path), Tasks: tasks, Command: progress.WithShard(b.args, fmt.Sprintf("auto/%d", tasks))}
	if l.Command == "" {
		return usageErrorf("bench: the sweep is on standard input, which the tasks do not have: want a file")
	}
	if b.flags.against == "" {
		l.Status = progress.WithStatus(b.args)
	}
	return template.Must(template.New("").Parse(text)).Execute(b.stdout, l)
}

var noJobName = regexp.MustCompile(`[^a-z0-9]+`)

// jobName returns a name that Slurm and Kubernetes accept.
func jobName(suite, path string) string {
	name := suite
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	name = strings.Trim(noJobName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if name == "" {
		return "neurolens"
	}
	return name[:min(len(name), 40)]
}
