package prepare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// kindBuild is the kind of error of a run whose build failed.
const kindBuild = "build"

// built is the result of a build command.
type built struct {
	took   int64 // ns
	status schema.Status
	err    error
	absent bool // there is no such program
}

// builds are the builds of a session.
type builds struct {
	points   map[Subject]built // of points with a build
	commands map[string]built  // by side, folder and words
	hashes   []string          // of what builds have made, by side; see FactBuild
	times    [][]span          // when builds of each side ran
	began    time.Time         // before anything of the session was started; zero where there is one side
}

func newBuilds(sides int) builds {
	return builds{points: map[Subject]built{}, commands: map[string]built{}, hashes: make([]string, sides), times: make([][]span, sides)}
}

// Builder runs build commands.
type Builder struct {
	Run     func(context.Context, task.Spec) (task.Outcome, error)
	Observe func(of Subject, command []string) // told each before it runs
}

// Build runs the build commands of all points, each distinct one once per side. It runs before anything is planned, because a resumed
// session compares the files that builds make. A point whose build failed is not launched. The error is of a command that could not be
// run at all.
func (t *Targets) Build(ctx context.Context, b Builder) error {
	if len(t.Sides) > 1 {
		t.builds.began = stamp()
	}
	before := make([][]tree, len(t.Sides))
	for i := range t.Sides {
		before[i] = t.treesBefore(i)
	}
	for _, p := range t.run() {
		for side := range t.Sides {
			if len(p.Build) == 0 {
				continue
			}
			all, err := t.buildPoint(ctx, b, Subject{p, side})
			if err != nil || ctx.Err() != nil {
				return err
			}
			t.builds.points[Subject{p, side}] = all
		}
	}
	for i, trees := range before {
		t.builds.hashes[i] = builtHash(trees, t.Exclude)
	}
	return nil
}

// InheritBuild assumes that the built files are those of an earlier session, if building changed nothing.
func (t *Targets) InheritBuild(hash string) {
	if t.builds.hashes[0] == "" {
		t.builds.hashes[0] = hash
	}
}

// buildPoint runs the commands of one point until one fails.
func (t *Targets) buildPoint(ctx context.Context, b Builder, sub Subject) (built, error) {
	var all built
	for _, command := range sub.Point.Build {
		one, err := t.buildOne(ctx, b, sub, command)
		if err != nil {
			return built{}, err
		}
		all = built{all.took + one.took, one.status, one.err, one.absent}
		if one.err != nil {
			break
		}
	}
	return all, nil
}

// buildOne runs a build command, unless this session has already run it on that side.
func (t *Targets) buildOne(ctx context.Context, b Builder, sub Subject, command []string) (built, error) {
	p, side := sub.Point, t.Sides[sub.Side]
	dir := side.resolve(p.Dir)
	env := t.environ(sub.Side, p.BuildEnv)
	key := jsonList(slices.Concat([]string{side.Name, dir}, env, command))
	if one, ok := t.builds.commands[key]; ok {
		return one, nil
	}
	if none := absentBuilder(command, env); none.absent {
		t.builds.commands[key] = none
		return none, nil
	}
	b.Observe(sub, command)
	ran := span{from: stamp()}
	limit := p.Timeouts.Build
	outcome, err := b.Run(ctx, task.Spec{
		Executor: schema.ExecutorCommand, Command: command, Env: env, Dir: dir, Iterations: 1,
		Deadlines: task.Deadlines{Setup: limit, Warmup: limit, Measure: limit, Validate: limit, Teardown: limit},
	})
	if err != nil {
		return built{}, fmt.Errorf("building %s: %w", p.Benchmark, err)
	}
	ran.to = stamp()
	t.builds.times[sub.Side] = append(t.builds.times[sub.Side], ran)
	one := built{took: outcome.Stages.Launch(), status: outcome.Status}
	if outcome.Status != schema.StatusOK {
		one.err = buildError(command, outcome, limit)
	}
	t.builds.commands[key] = one
	return one, nil
}

// CheckBuilders is for a session that builds nothing: it notes the builds that could not begin, because there is no such program. Later programs of
// a build are not looked for, as an earlier one may make them.
func (t *Targets) CheckBuilders() {
	for _, p := range t.run() {
		for side := range t.Sides {
			if len(p.Build) == 0 {
				continue
			}
			if none := absentBuilder(p.Build[0], t.environ(side, p.BuildEnv)); none.absent {
				t.builds.points[Subject{p, side}] = none
			}
		}
	}
}

// NotBuilt reports whether a point has a build that is still to be run, which may make what the point lacks.
func (t *Targets) NotBuilt(sub Subject) bool {
	_, ran := t.builds.points[sub]
	return len(sub.Point.Build) > 0 && !ran
}

// absentBuilder is the result of a build command whose program is not there; otherwise it is empty.
func absentBuilder(command, env []string) built {
	if _, err := task.LookPath(command[0], slices.Concat(os.Environ(), env)); !errors.Is(err, exec.ErrNotFound) {
		return built{}
	}
	return built{status: schema.StatusError, err: fmt.Errorf("build: %s: no such program on PATH", command[0]), absent: true}
}

// buildError says which command failed and how, with the telling line of its output.
func buildError(command []string, o task.Outcome, limit time.Duration) error {
	text := o.Error
	switch {
	case o.Status == schema.StatusTimeout:
		text = fmt.Sprintf("took more than %s; raise timeouts.build", limit)
	case o.ExitCode != nil && *o.ExitCode != 0:
		text = fmt.Sprintf("exit status %d", *o.ExitCode)
	}
	mask := probe.NewMask(os.Environ())
	if said := task.TellingLine(mask.Text(o.StderrTail)); said != "" {
		text += ": " + said
	}
	return fmt.Errorf("build %s: %s", strings.Join(mask.Arguments(command), " "), text)
}
