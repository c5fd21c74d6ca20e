package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/completion"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/layouts"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/ingest/imports"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// benchFlags are the flags of bench, but for those of keys of the sweep file: see defineRuns.
type benchFlags struct {
	config       string
	params, tags []string
	presets, set []string
	quick        bool
	noProfile    bool
	facts        []string
	targets      []string
	against      string
	conclusive   bool
	rerun        string
	out          layouts.Flags
	dryRun       bool
	verbose      bool
	printSweep   bool
	maxTime      time.Duration
	noSkipAfter  bool
	wait, schema bool
	metrics      []string
}

// define defines them on the command.
func (f *benchFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.defineRuns(cmd)
	flags.StringVar(&f.config, "config", "", "same as the argument SWEEP.yaml: the sweep `FILE`")
	flags.BoolVar(&f.printSweep, "print-sweep", false, "print the sweep file that the command line stands for; run nothing")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of sweep files, for editors")
	flags.StringVar(&f.against, "against", "", "compare the working tree with commit `REF`, measured alternately")
	flags.BoolVar(&f.conclusive, "until-conclusive", false, "with --against: repeat each point until it has a verdict")

	metricFlag(cmd, &f.metrics, "show metrics `NAMES` (default: the primary metric)")
	flags.StringVar(&f.rerun, "rerun", "", "measure stored runs again: `failed` or all")
	flags.BoolVar(&f.dryRun, "dry-run", false, "list every run and why it would run; run nothing")
	flags.DurationVar(&f.maxTime, "max-time", 0, "start no more runs after `TIME`")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say which files run, and why discover skipped others")
	flags.BoolVar(&f.noSkipAfter, "no-skip-after-oom", false, "run larger points even after one ran out of memory")
	f.out.DefineSession(cmd)
}

// defineRuns defines those that say which points are run, and how. Some keys of the sweep file are none of them.
func (f *benchFlags) defineRuns(cmd *cobra.Command, without ...string) {
	flags := cmd.Flags()
	for _, k := range sweep.Keys() {
		if k.Option != "" && !slices.Contains(without, k.Name) {
			defineKey(cmd, k)
		}
	}
	flags.StringArrayVarP(&f.params, "param", "P", nil, "replace or add an axis: `AXIS=VALUE`[,VALUE...]")
	flags.StringSliceVar(&f.presets, "preset", nil, "use the settings of the sweep's preset `NAME`; repeatable")
	flags.BoolVar(&f.noProfile, "no-profile", false, "run no profilers, even if the sweep names some")
	flags.BoolVar(&f.quick, "quick", false, "same as --preset quick")
	flags.StringArrayVar(&f.set, "set", nil, "replace any key of the sweep: `KEY=VALUE`, as timeouts.measure=1m; repeatable")
	flags.StringArrayVar(&f.facts, "fact", nil, "in expressions, use `NAME=VALUE` instead of this machine's fact; repeatable")
	completeFacts(cmd)
	flags.StringArrayVar(&f.tags, "tag", nil, "store the tag `KEY=VALUE` with every run; repeatable")
	flags.StringSliceVar(&f.targets, "targets", nil, "run only points that match `GLOB`: SUITE[:BENCHMARK[:VARIANT]] or BENCHMARK")
	flags.BoolVar(&f.wait, "wait", false, "if another session uses the device, wait for it")
}

// defineKey defines the option that goes before a key of the sweep file.
func defineKey(cmd *cobra.Command, k sweep.Key) {
	flags, name := cmd.Flags(), k.OptionName()
	if k.Verbatim {
		flags.String(name, "", k.Option)
		flags.Lookup(name).NoOptDefVal = k.Alone
		return
	}
	switch k.Value.Kind {
	case sweep.Switch:
		flags.Bool(name, false, k.Option)
	case sweep.Integer:
		flags.Int64(name, 0, k.Option)
	case sweep.Number:
		flags.Float64(name, 0, k.Option)
	case sweep.Duration:
		flags.Duration(name, 0, k.Option)
	case sweep.Either: // one or many
		flags.StringSlice(name, nil, k.Option)
	default:
		flags.String(name, "", k.Option)
	}
	if words := k.Value.Choices(); words != nil {
		completion.Words(cmd, name, words)
	}
}

// givenKeys are the options that go before keys of the sweep file, by the key, as far as they were given.
func givenKeys(cmd *cobra.Command) map[string]string {
	given := map[string]string{}
	for _, k := range sweep.Keys() {
		f := cmd.Flags().Lookup(k.OptionName())
		if k.Option == "" || f == nil || !f.Changed {
			continue
		}
		given[k.Name] = f.Value.String()
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			given[k.Name] = strings.Join(list.GetSlice(), ",")
		}
	}
	return given
}

// overrides are the settings of the command line that were given.
func (f *benchFlags) overrides(a *app, cmd *cobra.Command) (sweep.Overrides, error) {
	o := sweep.Overrides{Given: givenKeys(cmd), Formats: imports.Readable(formats.All()), Targets: f.targets, Against: f.against != "", UntilConclusive: f.conclusive, Defaults: a.project.Sweep(cmd.Name())}
	if o.Presets, o.Set = f.presets, f.set; f.quick {
		o.Presets = append([]string{"quick"}, o.Presets...)
	}
	if f.noProfile {
		o.Given["profile"] = ""
	}
	changed := cmd.Flags().Changed
	if f.conclusive {
		switch {
		case f.against == "":
			return o, usageErrorf("--until-conclusive: want --against REF too, as it compares two sides")
		case changed("repeats"):
			return o, usageErrorf("--until-conclusive and --repeats both set the number of runs: want one of them")
		case changed("rel-error"):
			return o, usageErrorf("--until-conclusive and --rel-error both decide when to stop: want one of them")
		}
	}
	var err error
	if o.Params, err = assignments("-P", f.params); err != nil {
		return o, err
	}
	if o.Tags, err = assignments("--tag", f.tags); err != nil {
		return o, err
	}
	given, err := assignments("--fact", f.facts)
	if err != nil {
		return o, err
	}
	ctx := cmd.Context()
	if o.Facts, err = a.machineFacts(ctx, given, func() schema.Env { return a.thisMachine(ctx) }); err != nil {
		return o, usageErrorf("--fact: %v", err)
	}
	return o, nil
}

// rerunWord reads what is to run again.
func (f *benchFlags) rerunWord() (runner.Rerun, error) {
	switch word := runner.Rerun(f.rerun); word {
	case runner.RerunNothing, runner.RerunFailed, runner.RerunAll:
		return word, nil
	}
	return "", usageErrorf("--rerun %q: want failed or all", f.rerun)
}

// assignments reads KEY=VALUE flags, each key once.
func assignments(flag string, words []string) (map[string]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	m := map[string]string{}
	for _, word := range words {
		key, value, found := strings.Cut(word, "=")
		if _, twice := m[key]; !found || key == "" || twice {
			return nil, usageErrorf("%s %q: want KEY=VALUE, each key once: %s n=8", flag, word, flag)
		}
		m[key] = value
	}
	return m, nil
}
