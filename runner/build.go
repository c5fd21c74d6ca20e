package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// kindBuild is the kind of error of a run whose build failed.
const kindBuild = "build"

// built is how a command of build: ended.
type built struct {
	took   int64 // ns
	status schema.Status
	err    error
}

// build runs the commands of build: for every point, each distinct one once a side, before anything is planned: what
// they make is part of what a resumed session compares. A point whose build failed is not launched.
func (s *session) build(ctx context.Context) error {
	for i := range s.sweep.Points {
		p := &s.sweep.Points[i]
		for side := range s.sides {
			if len(p.Build) == 0 {
				continue
			}
			all, err := s.buildPoint(ctx, subject{p, side})
			if err != nil || ctx.Err() != nil {
				return err
			}
			s.built[subject{p, side}] = all
		}
	}
	return nil
}

// buildPoint runs the commands of one point until one fails.
func (s *session) buildPoint(ctx context.Context, sub subject) (built, error) {
	var all built
	for _, command := range sub.point.Build {
		b, err := s.buildOne(ctx, sub, command)
		if err != nil {
			return built{}, err
		}
		all = built{all.took + b.took, b.status, b.err}
		if b.err != nil {
			break
		}
	}
	return all, nil
}

// buildOne runs a command of build:, unless this session has run it already on that side.
func (s *session) buildOne(ctx context.Context, sub subject, command []string) (built, error) {
	p, side := sub.point, s.sides[sub.side]
	dir := side.resolve(p.Dir)
	key := jsonList(slices.Concat([]string{side.name, dir}, command))
	if b, ok := s.commands[key]; ok {
		return b, nil
	}
	s.options.Observe(s.event(Event{Launch: sweep.Launch{Point: p, Side: sub.side}, Build: command}))
	limit := p.Timeouts.Build
	outcome, err := s.pool.Run(ctx, task.Spec{
		Executor: schema.ExecutorCommand, Command: command, Env: environOf(s.sweep.BuildEnv), Dir: dir, Iterations: 1,
		Deadlines: task.Deadlines{Setup: limit, Warmup: limit, Measure: limit, Validate: limit, Teardown: limit},
	}, nil)
	if err != nil {
		return built{}, fmt.Errorf("building %s: %w", p.Benchmark, err)
	}
	b := built{took: int64(duration(&schema.Run{Stages: outcome.Stages})), status: outcome.Status}
	if outcome.Status != schema.StatusOK {
		b.err = buildError(command, outcome, limit)
	}
	s.commands[key] = b
	return b, nil
}

// buildError says which command failed and how, with the last line of what it said.
func buildError(command []string, o task.Outcome, limit time.Duration) error {
	text := o.Error
	switch {
	case o.Status == schema.StatusTimeout:
		text = fmt.Sprintf("took more than %s; raise timeouts.build", limit)
	case o.ExitCode != nil && *o.ExitCode != 0:
		text = fmt.Sprintf("exit status %d", *o.ExitCode)
	}
	mask := probe.NewMask(os.Environ())
	if said := strings.TrimSpace(mask.Text(o.StderrTail)); said != "" {
		text += ": " + said[strings.LastIndexByte(said, '\n')+1:]
	}
	return fmt.Errorf("build %s: %s", strings.Join(mask.Arguments(command), " "), text)
}
