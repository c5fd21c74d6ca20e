package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// Extract applies the rules of a job to the outputs in a file. If it fails, began is the number of the rule that failed.
type Extract func(ctx context.Context, job output.ExtractJob, kept *os.File) (found []output.Extracted, began int, err error)

// extractHere applies rules in this process, limited only in time.
func extractHere(ctx context.Context, job output.ExtractJob, kept *os.File) (found []output.Extracted, began int, err error) {
	found = output.Extract(ctx, job, kept, func(rule int) { began = rule })
	return found, began, ctx.Err()
}

// leftovers are what a run has left, apart from its metrics.
type leftovers struct {
	outputs []checked    // what it computed, held against what it has to compute
	results []schema.Run // of the tool that it ran
}

// reader returns a function that reads the outputs of a run: its metrics, and the fields of to; nil if nothing is to be read.
// want is the correct output, if there is one.
func (r *launcher) reader(ctx context.Context, t *prepare.Target, want *computed, to *leftovers) func(task.Kept) task.Reading {
	rules := slices.DeleteFunc(slices.Clone(t.Point.Metrics), func(r output.ExtractRule) bool { return r.Read != "" })
	if len(t.Point.Metrics) == 0 && !t.Point.Compared {
		return nil
	}
	limit := t.Spec.Deadlines.Validate
	return func(kept task.Kept) task.Reading {
		if t.Point.Compared {
			to.outputs = checkOutputs(ctx, kept, t.Point, want)
		}
		if ctx.Err() != nil {
			return task.Reading{Cancelled: true}
		}
		if len(t.Point.Metrics) == 0 {
			return task.Reading{}
		}
		found, wrong := r.extractAll(ctx, rules, kept, limit)
		switch {
		case ctx.Err() != nil:
			return task.Reading{Cancelled: true}
		case wrong != "":
			return task.Reading{Error: wrong}
		}
		reading := readingOf(rules, found)
		limited, stop := context.WithTimeout(ctx, limit)
		defer stop()
		to.results = r.resultsOf(limited, t.Point, kept, &reading)
		return reading
	}
}

// extractAll applies rules. An optional rule that takes too long, or too much memory, is left out with the reason, and the others
// are applied again. If a required rule fails, wrong is the reason.
func (r *launcher) extractAll(ctx context.Context, rules []output.ExtractRule, kept task.Kept, limit time.Duration) (all []output.Extracted, wrong string) {
	all = make([]output.Extracted, len(rules))
	left := make([]int, len(rules)) // rules that are still to be applied
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		some := make([]output.ExtractRule, len(left))
		for k, i := range left {
			some[k] = rules[i]
		}
		found, began, err := r.extractSome(ctx, some, kept, limit)
		if err == nil {
			for k, i := range left {
				all[i] = found[k]
			}
			return all, ""
		}
		at := left[began]
		if ctx.Err() != nil || !rules[at].Optional {
			return nil, fmt.Sprintf("metric %s: %v", rules[at].Name, err)
		}
		all[at].Error = err.Error()
		left = slices.Delete(left, began, began+1)
	}
	return all, ""
}

// extractSome applies rules once. If it fails, began is the number of the rule that failed.
func (r *launcher) extractSome(ctx context.Context, rules []output.ExtractRule, kept task.Kept, limit time.Duration) (found []output.Extracted, began int, err error) {
	limited, stop := context.WithTimeout(ctx, limit)
	defer stop()
	found, began, err = r.extract(limited, jobOf(rules, kept), kept.File)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("reading it took more than %s; raise timeouts.validate", limit)
	}
	return found, began, err
}

// jobOf is the job that reads the metrics of a run.
func jobOf(rules []output.ExtractRule, kept task.Kept) output.ExtractJob {
	job := output.ExtractJob{Rules: rules, Processes: kept.Processes}
	for _, o := range kept.Outputs {
		job.Sections = append(job.Sections, output.Section{
			Process: o.Process, From: o.Name, Offset: o.Offset, Size: o.Size, Missing: o.Missing,
		})
	}
	return job
}

// readingOf converts the results into those of a run. The first required metric that cannot be read makes the run an error.
func readingOf(rules []output.ExtractRule, found []output.Extracted) task.Reading {
	reading := task.Reading{Missing: map[string]string{}}
	for i := range rules {
		r, f := &rules[i], &found[i]
		switch {
		case f.Error == "":
			reading.Metrics = append(reading.Metrics, f.Metric(r))
		case r.Optional && f.Absent:
			reading.Missing[r.Name] = output.Absent
		case r.Optional:
			reading.Missing[r.Name] = f.Error
		case reading.Error == "":
			reading.Error = fmt.Sprintf("metric %s: %s", r.Name, f.Error)
		}
	}
	return reading
}
