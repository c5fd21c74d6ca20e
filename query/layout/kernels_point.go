package layout

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// kernelPoint holds the runs of a point and their combined results.
type kernelPoint struct {
	id     string
	run    *schema.Run // the first one
	names  []string    // of its file, see kernelNames
	runs   []*schema.Run
	ok     []*schema.Run // without those of a point with a wrong result
	status schema.Status // the worst of its runs
	why    string        // of that status
	time   *schema.Metric
}

// kernelPoints returns the points of runs in an order that two sessions share: by the names of their files.
func kernelPoints(runs []*schema.Run) []*kernelPoint {
	var all []*kernelPoint
	at, wrong := map[string]*kernelPoint{}, wrongPoints(runs)
	for _, r := range runs {
		p := at[r.PointID]
		if p == nil {
			p = &kernelPoint{id: r.PointID, run: r, names: kernelNames(r)}
			all, at[r.PointID] = append(all, p), p
		}
		p.runs = append(p.runs, r)
		if r.Status == schema.StatusOK && !wrong[r.PointID+r.Side] {
			p.ok = append(p.ok, r)
		}
	}
	for _, p := range all {
		p.combine()
	}
	slices.SortStableFunc(all, func(a, b *kernelPoint) int { return slices.Compare(a.names, b.names) })
	return all
}

// tried reports whether a run of the point was not skipped, and is supported.
func (p *kernelPoint) tried() bool {
	return slices.ContainsFunc(p.runs, func(r *schema.Run) bool { return rankOf(r.Status) != 1 })
}

// combine sets the status and the time of a point. It pools the samples of its runs, so the statistics of the time describe the listed
// samples.
func (p *kernelPoint) combine() {
	as := 0
	for i, r := range p.runs {
		status, why := outcome(r)
		switch {
		case i == 0 || rankOf(status) > rankOf(p.status):
			p.status, p.why, as = status, why, 1
		case status == p.status:
			as++
		}
	}
	if p.status != schema.StatusOK && as < len(p.runs) {
		p.why = fmt.Sprintf("%d of %d runs: %s", as, len(p.runs), p.why)
	}
	var times []*schema.Metric
	for _, r := range p.ok {
		if m := timeOf(r); m != nil && (len(times) == 0 || m.Name == times[0].Name) {
			times = append(times, m)
		}
	}
	p.time = together(times)
}

// together returns a metric with the samples of all metrics, or nil without metrics. If a metric has no samples, together returns the medians
// of their statistics.
func together(all []*schema.Metric) *schema.Metric {
	if len(all) < 2 {
		if len(all) == 0 {
			return nil
		}
		return all[0]
	}
	whole := schema.Metric{Name: all[0].Name, Unit: all[0].Unit}
	for _, m := range all {
		values := m.Values()
		if len(values) == 0 {
			return middleOf(all)
		}
		whole.Reals = append(whole.Reals, values...)
	}
	run := schema.Run{Metrics: []schema.Metric{whole}}
	stat.Complete(&run)
	return &run.Metrics[0]
}

// middleOf returns a metric without samples. Each of its statistics is the median over the metrics; a statistic that a metric lacks is left out.
func middleOf(all []*schema.Metric) *schema.Metric {
	over := func(of func(*schema.Summary) *float64) *float64 {
		var values []float64
		for _, m := range all {
			v := of(&m.Summary)
			if v == nil {
				return nil // the statistics of a row are all of the same runs
			}
			values = append(values, *v)
		}
		return median(values)
	}
	n := int64(0)
	for _, m := range all {
		if m.Summary.N == nil {
			n = -1
			break
		}
		n += *m.Summary.N
	}
	m := &schema.Metric{Name: all[0].Name, Unit: all[0].Unit, Summary: schema.Summary{
		Mean: over(func(s *schema.Summary) *float64 { return s.Mean }), StdDev: over(func(s *schema.Summary) *float64 { return s.StdDev }),
		P50: over(func(s *schema.Summary) *float64 { return s.P50 }), P90: over(func(s *schema.Summary) *float64 { return s.P90 }),
		P99: over(func(s *schema.Summary) *float64 { return s.P99 }),
	}}
	if n >= 0 {
		m.Summary.N = &n
	}
	return m
}

// all returns the values of a metric in a unit, of the runs that count.
func (p *kernelPoint) all(name, unit string, of func(*schema.Metric) *float64) (values []float64) {
	for _, r := range p.ok {
		if v := of(metricOf(r, name, unit)); v != nil {
			values = append(values, *v)
		}
	}
	return values
}

// metric returns the metric of one of the runs that count.
func (p *kernelPoint) metric(runID, name string) *schema.Metric {
	for _, r := range p.ok {
		if r.RunID == runID {
			return r.Metric(name)
		}
	}
	return nil
}

// kernelFolder is the directory of the files of points.
const kernelFolder = "kernels"

// kernelFiles are the files of points that earlier calls have written.
type kernelFiles struct {
	covered []string            // names of files of the points that are written now
	others  map[string][]string // possible names of the other points, by id
	taken   map[string]bool     // names of the files of the other points, in lower case
	tried   map[string]bool     // kernels of which another point was not skipped
}

// earlierKernels looks at the files in a directory that this package has written.
func earlierKernels(dir string, covered map[string]bool) kernelFiles {
	found := kernelFiles{others: map[string][]string{}, taken: map[string]bool{}, tried: map[string]bool{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return found // the first call
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		content, err := files.Read(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		switch own := ownIn(content, kernelMember); {
		case own.PointID == "":
		case covered[own.PointID]:
			found.covered = append(found.covered, e.Name())
		default:
			names := kernelNames(own.run())
			if own.tried() {
				found.tried[own.Point.Benchmark] = true
			} else {
				names = names[1:]
			}
			found.others[own.PointID] = names
			found.taken[strings.ToLower(strings.TrimSuffix(e.Name(), ".json"))] = true
		}
	}
	return found
}

// kernelMember is a member of each result.
const kernelMember = "kernel_name"

// run returns the run with what is known of it.
func (o *ownID) run() *schema.Run {
	r := schema.Run{RunID: o.RunID, PointID: o.PointID}
	o.Point.Set(&r)
	return &r
}
