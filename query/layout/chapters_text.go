package layout

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// chapterSummary counts pairs: total = successful + failed + skipped. Speedups cover all optimizations that have a time, including
// slower ones; without any they are null.
type chapterSummary struct {
	Total              int    `json:"total_benchmarks"`
	Successful         int    `json:"successful"`
	Failed             int    `json:"failed"`
	FailedError        int    `json:"failed_error"`
	FailedRegression   int    `json:"failed_regression"`
	SkippedHardware    int    `json:"skipped_hardware"`
	SkippedDistributed int    `json:"skipped_distributed"`
	Skipped            int    `json:"total_skipped"`
	Speedups           int    `json:"total_speedups"`
	Average            number `json:"average_speedup"`
	Max                number `json:"max_speedup"`
	Min                number `json:"min_speedup"`
	Informational      int    `json:"informational"`
	Geometric          number `json:"geometric_mean_speedup"`
	Slower             int    `json:"slower"` // optimizations with a speedup below 1

	all []speedup
}

// speedup is the speedup of an optimization and where it occurs.
type speedup struct {
	value float64
	where string
}

func (c *chapter) summarize() *chapterSummary {
	s := &chapterSummary{Total: len(c.Benchmarks)}
	for _, p := range c.Benchmarks {
		switch p.Status {
		case "succeeded":
			s.Successful++
		case "failed_regression":
			s.FailedRegression++
		case "skipped":
			s.Skipped++
		default:
			s.FailedError++
		}
		for _, o := range p.Optimizations {
			if o.speedup != nil {
				s.all = append(s.all, speedup{*o.speedup, c.Name + ": " + p.Example + " " + o.Technique})
			}
		}
	}
	s.Failed, s.SkippedHardware = s.FailedError+s.FailedRegression, s.Skipped
	s.speedups()
	return s
}

func (s *chapterSummary) speedups() {
	values := make([]float64, len(s.all))
	for i, one := range s.all {
		if values[i] = one.value; one.value < 1 {
			s.Slower++
		}
	}
	if s.Speedups = len(values); s.Speedups == 0 {
		return
	}
	s.Average, s.Geometric = real(*mean(values)), real(*geometric(values))
	s.Max, s.Min = real(slices.Max(values)), real(slices.Min(values))
}

// add adds the numbers of a chapter.
func (s *chapterSummary) add(o *chapterSummary) {
	s.Total, s.Successful, s.Failed = s.Total+o.Total, s.Successful+o.Successful, s.Failed+o.Failed
	s.FailedError, s.FailedRegression, s.Skipped = s.FailedError+o.FailedError, s.FailedRegression+o.FailedRegression, s.Skipped+o.Skipped
	s.all = append(s.all, o.all...)
}

// times formats a speedup: 1.54x; small ones with more digits, so that they are not 0.00x.
func (n number) times() string {
	switch v := n.float(); {
	case n == "":
		return "-"
	case v < .1:
		return fmt.Sprintf("%.2gx", v)
	default:
		return fmt.Sprintf("%.2fx", v)
	}
}

// ms formats a time: 12.50; with three significant digits where that would be 0.00.
func (n number) ms() string {
	if v := n.float(); v < .1 {
		return fmt.Sprintf("%.3g", v)
	}
	return twoDigits(n)
}

// markdown returns benchmark_test_results.md.
func (s *suite) markdown(runs []*schema.Run) []byte {
	var p page
	p.line("# Benchmark Test Results Summary\n")
	generated := unknown
	if s.Timestamp != nil {
		if at, err := time.Parse(time.RFC3339, *s.Timestamp); err == nil {
			generated = at.Format("2006-01-02 15:04:05") + " UTC"
		}
	}
	p.line("**Generated:** %s\n", generated)
	p.line("Times are means, as in BenchmarkHarness, and a speedup is a ratio of means. `neurolens compare` judges by medians, which one slow run does not move.\n")
	s.overall(&p)
	p.line("## Per-Chapter Summary\n")
	p.header("Chapter", "Status", "Benchmarks", "Successful", "Failed", "Avg Speedup", "Max Speedup", "Min Speedup", "Skipped")
	for _, c := range s.Results {
		p.row(c.Name, c.word(), fmt.Sprint(c.Summary.Total), fmt.Sprint(c.Summary.Successful), fmt.Sprint(c.Summary.Failed),
			c.Summary.Average.times(), c.Summary.Max.times(), c.Summary.Min.times(), fmt.Sprint(c.Summary.Skipped))
	}
	p.line("\n## Detailed Results")
	for _, c := range s.Results {
		p.line("\n### %s", strings.ToUpper(oneLine(c.Name)))
		for _, b := range c.Benchmarks {
			b.markdown(&p)
		}
	}
	p.notOK(runs, label)
	return []byte(p.String())
}

func (s *suite) overall(p *page) {
	var total chapterSummary
	tested := 0
	for _, c := range s.Results {
		total.add(c.Summary)
		if c.word() != "SKIP" {
			tested++
		}
	}
	total.speedups()
	p.line("## Overall Summary\n")
	p.line("- **Chapters tested:** %d/%d", tested, len(s.Results))
	p.line("- **Chapters skipped:** %d", len(s.Results)-tested)
	p.line("- **Total benchmarks:** %d\n- **Successful:** %d\n- **Failed:** %d", total.Total, total.Successful, total.Failed)
	p.line("- **Errors:** %d\n- **Regressions:** %d", total.FailedError, total.FailedRegression)
	if total.Skipped > 0 {
		p.line("- **WARNING: Skipped:** %d", total.Skipped)
	}
	p.line("- **Average speedup:** %s", total.Average.times())
	best, worst := "", ""
	if len(total.all) > 0 {
		byValue := func(a, b speedup) int { return cmp.Compare(a.value, b.value) }
		best, worst = " ("+oneLine(slices.MaxFunc(total.all, byValue).where)+")", " ("+oneLine(slices.MinFunc(total.all, byValue).where)+")"
	}
	p.line("- **Best speedup:** %s%s\n- **Worst speedup:** %s%s", total.Max.times(), best, total.Min.times(), worst)
	p.line("- **Geometric mean speedup:** %s", total.Geometric.times())
	p.line("- **Slower than their baseline:** %d of %d\n", total.Slower, total.Speedups)
}

// word returns the status of a chapter: PASS if all of it succeeded.
func (c *chapter) word() string {
	switch {
	case c.Summary.Failed > 0:
		return "WARN"
	case c.Summary.Successful == 0:
		return "SKIP"
	}
	return "PASS"
}

func (p *pair) markdown(to *page) {
	mark := ""
	if p.Type == "cuda" {
		mark = " *(CUDA)*"
	}
	to.line("\n**%s**%s", oneLine(p.Example), mark)
	links := traceLinks(p.Nsys, p.Ncu, p.Torch)
	switch {
	case len(p.side.runs) == 0:
		to.line("- Baseline: none was run")
	case p.Time != "":
		to.line("- Baseline: `%s` (%s ms)%s", textOr(p.BaselineFile, "baseline"), p.Time.ms(), links)
	default:
		to.line("- Baseline: `%s` (%s: %s)%s", textOr(p.BaselineFile, "baseline"), p.side.word(), oneLine(p.side.why), links)
	}
	for _, o := range p.Optimizations {
		name, links := textOr(o.File, oneLine(o.Technique)), traceLinks(o.Nsys, o.Ncu, o.Torch)
		switch {
		case o.Time == "":
			to.line("- `%s`: %s: %s%s", name, o.Status, oneLine(o.side.why), links)
		case o.Speedup == "":
			to.line("- `%s`: %s ms%s", name, o.Time.ms(), links)
		default:
			to.line("- `%s`: %s ms (%s speedup)%s", name, o.Time.ms(), o.Speedup.times(), links)
		}
	}
	if p.BestSpeedup.float() > 1 {
		to.line("- Best speedup: %s", p.BestSpeedup.times())
	}
}

// traceLinks returns links to the files of profilers.
func traceLinks(nsys, ncu, torch string) string {
	text := ""
	for _, l := range []struct{ name, to string }{{"nsys", nsys}, {"ncu", ncu}, {"torch", torch}} {
		if l.to != "" {
			text += fmt.Sprintf(" | [%s](./%s)", l.name, path.Clean(strings.ReplaceAll(l.to, " ", "%20")))
		}
	}
	return text
}
