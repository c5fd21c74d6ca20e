package layout

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// ranked is a point of a kernel with its times in ms.
type ranked struct {
	*kernelPoint
	p50, p90 *float64
	perS     *float64
}

// leaderboard returns the points that have a time, fastest first, without those that have a wrong result.
func leaderboard(results []*kernelResult) (all []ranked) {
	for _, k := range results {
		if p := k.point; middle(p.time) != nil {
			all = append(all, ranked{p, scaled(middle(p.time), "ms"), scaled(p.time.Summary.P90, "ms"), perSecond(meanOf(p.time))})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(*a.p50, *b.p50) })
	return all
}

// markdown returns summary.md.
func (s *kernelSummary) markdown(runs []*schema.Run) []byte {
	var p page
	p.line("# QuASIM Benchmark Report\n")
	s.environmentText(&p)
	p.line("## Summary\n")
	p.line("- **Total Kernels**: %d\n- **Successful**: %d\n- **Failed**: %d", s.Total, s.Successful, s.Failed)
	p.line("- **Skipped**: %d\n- **Unsupported**: %d\n", s.Skipped, s.Unsupported)
	board := leaderboard(s.Results)
	p.line("## Performance Leaderboard\n")
	p.header("Kernel", "Backend", "Precision", "p50 (ms)", "p90 (ms)", "Throughput (ops/s)", "Problem Size")
	for _, k := range board[:min(10, len(board))] {
		p.row(k.run.Benchmark, orUnknown(k.run.Backend), cmp.Or(k.run.Precision, "-"), figure(k.p50, 3), figure(k.p90, 3), figure(k.perS, 2),
			described(axes(k.run, "precision")))
	}
	if len(board) > 10 {
		p.line("\n%d more results are in summary.json.", len(board)-10)
	}
	p.line("\n## Resource Usage\n")
	resources(&p, s.Results)
	p.line("\n## Key Findings\n")
	s.findings(&p, board)
	p.line("\n## Recommendations\n")
	recommendations(&p, board)
	p.notOK(runs, label)
	return []byte(p.String())
}

// label returns a short name of what a run measured.
func label(r *schema.Run) string {
	return strings.TrimSpace(r.Benchmark + " " + r.Backend + " " + described(axes(r)))
}

func (s *kernelSummary) environmentText(p *page) {
	e := &s.Environment
	p.line("## Environment\n")
	if e.Git != nil {
		commit := *e.Git.Commit
		p.line("- **Commit**: `%s`", commit[:min(8, len(commit))])
		p.line("- **Branch**: `%s`", textOr(e.Git.Branch, unknown))
		if e.Git.Dirty != nil {
			p.line("- **Dirty**: %s", map[bool]string{true: "True", false: "False"}[*e.Git.Dirty])
		}
		p.line("")
	}
	p.line("- **OS**: %s\n- **Python**: %s", textOr(e.OS, unknown), textOr(e.Python, unknown))
	if e.CUDA != nil {
		p.line("- **CUDA**: %s\n- **GPU**: %s", textOr(e.CUDA.Version, unknown), textOr(e.CUDA.Device, unknown))
	}
	if len(e.Machines) > 1 || len(e.Commits) > 1 {
		p.line("- **Note**: these results are from %d machines and %d commits; the environment above is that of the newest", len(e.Machines), len(e.Commits))
	}
	p.line("\n")
}

func textOr(text *string, otherwise string) string {
	if text == nil {
		return otherwise
	}
	return oneLine(*text)
}

func resources(p *page, results []*kernelResult) {
	none := true
	for _, k := range results {
		if k.Memory == nil && k.Energy == nil {
			continue
		}
		if none {
			p.header("Kernel", "Peak Memory (MB)", "Energy (J)", "Power (W)", "Backend", "Precision", "Memory Of")
		}
		none = false
		cells := []string{k.Kernel, "N/A", "N/A", "N/A", k.Backend, textOr(k.Precision, "-"), ""}
		if k.Memory != nil && k.Memory.Peak != "" {
			cells[1], cells[6] = twoDigits(k.Memory.Peak), "device"
			if k.ofProcess() {
				cells[6] = "process"
			}
		}
		if k.Energy != nil {
			cells[2], cells[3] = orNA(k.Energy.Energy), orNA(k.Energy.Power)
		}
		p.row(cells...)
	}
	if none {
		p.line("No memory data available.")
	}
}

func (s *kernelSummary) findings(p *page, board []ranked) {
	if len(board) > 0 {
		p.line("- **Fastest Kernel**: `%s` (%s ms p50)", oneLine(board[0].run.Benchmark), figure(board[0].p50, 3))
		if fastest := slices.MaxFunc(board, func(a, b ranked) int { return cmp.Compare(value(a.perS), value(b.perS)) }); fastest.perS != nil {
			p.line("- **Highest Throughput**: `%s` (%s ops/s)", oneLine(fastest.run.Benchmark), figure(fastest.perS, 2))
		}
	}
	var least *kernelResult
	for _, k := range s.Results {
		if k.Memory != nil && k.Memory.Peak != "" && (least == nil || k.Memory.Peak.float() < least.Memory.Peak.float()) {
			least = k
		}
	}
	if least != nil {
		p.line("- **Most Memory Efficient**: `%s` (%s MB)", oneLine(least.Kernel), twoDigits(least.Memory.Peak))
	}
	var backends, failed []string
	for _, k := range s.Results {
		switch rankOf(k.point.status) {
		case 0:
			backends = with(backends, k.Backend)
		case 1:
		default:
			failed = with(failed, k.Kernel)
		}
	}
	slices.Sort(backends)
	if len(backends) > 0 {
		p.line("- **Backends Tested**: %s", oneLine(strings.Join(backends, ", ")))
	}
	if len(failed) > 0 {
		p.line("- **Failed Benchmarks**: %s", oneLine(strings.Join(failed, ", ")))
	}
}

func value(v *float64) float64 {
	if v == nil {
		return math.Inf(-1)
	}
	return *v
}

// recommendations follow the rules of the original tool: a standard deviation above 10 % of the mean, more than 1000 MB, a single precision.
func recommendations(p *page, board []ranked) {
	var noisy, large, precisions []string
	for _, k := range board {
		s := k.time.Summary
		if s.StdDev != nil && s.Mean != nil && *s.StdDev > .1**s.Mean {
			noisy = with(noisy, k.run.Benchmark)
		}
		if m := median(k.all("device_memory_peak", "B", middle)); m != nil && *m > 1000<<20 {
			large = with(large, k.run.Benchmark)
		}
		precisions = with(precisions, k.run.Precision)
	}
	if len(noisy) > 0 {
		p.line("- **High Variance**: %s: the standard deviation is more than 10 %% of the mean; measure more runs (bench --repeats).", oneLine(strings.Join(noisy, ", ")))
	}
	if len(large) > 0 {
		p.line("- **High Memory**: %s: more than 1000 MB of device memory.", oneLine(strings.Join(large, ", ")))
	}
	if len(precisions) == 1 {
		p.line("- **Precision Testing**: only %s was measured; bench -P precision=fp32,fp16 measures others.", precisions[0])
	}
	if len(noisy) == 0 && len(large) == 0 && len(precisions) != 1 {
		p.line("None.")
	}
}

func twoDigits(n number) string { return fmt.Sprintf("%.2f", n.float()) }

func orNA(n number) string {
	if n == "" {
		return "N/A"
	}
	return fmt.Sprintf("%.4f", n.float())
}
