package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/schema"
)

// page writes a document as Markdown.
type page struct {
	w       io.Writer
	d       *Document
	names   namer
	against []against
}

// markdown writes the document for people: a part each, and none of what there is nothing to say about.
func (d *Document) markdown(to io.Writer) error {
	w := &failing{w: to}
	p := page{w, d, namerOf(d.Points), columnsOf(d)}
	p.head()
	p.environment()
	p.counts()
	p.results()
	p.comparisons()
	p.leaders()
	p.resources()
	p.failures()
	p.findings()
	p.recommendations()
	return w.err
}

// failing keeps the first error of a writer, and writes nothing after it.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.err == nil {
		_, f.err = f.w.Write(b)
	}
	return len(b), nil
}

// line writes a paragraph of a line.
func (p page) line(format string, args ...any) {
	fmt.Fprintf(p.w, "%s\n\n", term.MarkdownText(fmt.Sprintf(format, args...)))
}

// title writes a heading.
func (p page) title(level int, text string) {
	fmt.Fprintf(p.w, "%s %s\n\n", strings.Repeat("#", level), term.MarkdownText(text))
}

// code is a text that is shown as it is, within a line of Markdown.
func code(text string) string {
	text = term.OneLine(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return "`` " + text + " ``"
}

// head says what the report is about, and the most important of it.
func (p page) head() {
	d := p.d
	p.title(1, "Benchmark report")
	filter := "all runs"
	switch s := d.Selection; {
	case s.Base != "":
		filter = code(string(s.Head)) + " against " + code(string(s.Base))
	case s.Filter != "":
		filter = code(s.Filter)
	}
	fmt.Fprintf(p.w, "%s · %s · made %s by %s\n\n", filter, term.MarkdownText(d.sessions()), d.MadeAt.Format("2006-01-02 15:04 UTC"), term.MarkdownText(d.MadeBy))
	for _, line := range d.headlines() {
		fmt.Fprintf(p.w, "- %s\n", term.MarkdownText(line))
	}
	fmt.Fprintln(p.w)
}

// headlines are the most important of a report, a line each.
func (d *Document) headlines() []string {
	c := &d.Counts
	lines := []string{fmt.Sprintf("%s of %s: %s", term.Count(c.Runs, "run"), term.Count(c.Points, "point"), statusText(c.ByStatus))}
	for i := range d.Comparisons {
		lines = append(lines, d.headline(&d.Comparisons[i]))
	}
	if note := d.worth(); note != "" {
		lines = append(lines, note)
	}
	return lines
}

// selected says which runs the report is about.
func (d *Document) selected() string {
	if s := d.Selection; s.Base != "" {
		return "head: " + string(s.Head) + " · base: " + string(s.Base)
	}
	return cmp.Or(d.Selection.Filter, "all runs")
}

// sessions says how many sessions the runs are of, and when they ran.
func (d *Document) sessions() string {
	s := &d.Selection
	text := term.Count(s.Sessions, "session")
	if s.Since == nil || s.Until == nil {
		return text
	}
	since, until := s.Since.Format(time.DateOnly), s.Until.Format(time.DateOnly)
	if since == until {
		return text + " of " + since
	}
	return text + " from " + since + " to " + until
}

// worth says what the numbers are worth where that is less than one thinks.
func (d *Document) worth() string {
	c := &d.Counts
	switch ok := c.ByStatus[string(schema.StatusOK)]; {
	case ok == 0:
		return "no run is ok: there are no numbers"
	case c.MeanOnly == ok:
		return "the files have only means, no samples and no medians: all numbers are estimates, without a verdict"
	case c.MeanOnly > 0:
		return fmt.Sprintf("the files have only means of %s: these numbers are estimates, without a verdict", term.Count(c.MeanOnly, "ok run"))
	case d.few():
		return "no point has 3 ok runs: all numbers are estimates, without a verdict"
	}
	return ""
}

// few tells whether no point has the 3 ok runs that a verdict takes.
func (d *Document) few() bool {
	for i := range d.Points {
		if d.Points[i].OKRuns > 2 {
			return false
		}
	}
	return true
}

// statusText counts runs by status: 54 ok, 1 timeout.
func statusText(counts map[string]int) string {
	var parts []string
	for _, status := range schema.Statuses {
		if n := counts[string(status)]; n > 0 {
			parts = append(parts, term.Thousands(n)+" "+string(status))
		}
	}
	return strings.Join(parts, ", ")
}

// environmentNames are the facts in words.
var environmentNames = map[string]string{
	"machine": "machine", "os": "operating system", "os_kernel": "kernel", "cpu_model": "CPU", "cpu_count": "CPUs", "memory_bytes": "memory",
	"gpu_name": "GPU", "gpu_count": "GPUs", "driver_version": "driver", "cuda_version": "CUDA", "python_version": "Python", "git_commit": "commit",
	"git_branch": "branch", "git_dirty": "uncommitted changes", "source": "measured by",
}

// environment says where the runs were measured; of facts in which they differ, how many runs have which value.
func (p page) environment() {
	t := table{columns: []column{{header: "fact"}, {header: "value"}, {header: "runs", right: true}}}
	for _, fact := range p.d.Environment {
		if len(fact.Values) == 0 {
			continue
		}
		name, values := environmentNames[fact.Name], fact.Values
		differ := len(values) > 1 || fact.Unknown > 0
		const most = 8
		for i, v := range values[:min(len(values), most)] {
			if i > 0 {
				name = ""
			}
			runs := ""
			if differ {
				runs = term.Thousands(v.Runs)
			}
			t.rows = append(t.rows, []string{name, environmentText(fact.Name, v.Value), runs})
		}
		if more := len(values) - most; more > 0 {
			t.rows = append(t.rows, []string{"", "and " + term.Count(more, "other value"), ""})
		}
		if fact.Unknown > 0 {
			t.rows = append(t.rows, []string{"", "unknown", term.Thousands(fact.Unknown)})
		}
	}
	p.title(2, "Environment")
	if len(t.rows) == 0 {
		p.line("The environment of the runs is unknown.")
		return
	}
	t.write(p.w)
}

// environmentText is a value of a fact for people.
func environmentText(name, value string) string {
	switch name {
	case "git_commit":
		return views.HashText(value)
	case "git_dirty":
		return map[string]string{"true": "yes", "false": "no"}[value]
	case "memory_bytes":
		if q, err := schema.ParseQuantity(value); err == nil {
			return term.Quantity(q.Value, "B")
		}
	}
	return value
}

// counts says how runs ended. The numbers add up.
func (p page) counts() {
	c := &p.d.Counts
	p.title(2, "Runs")
	t := table{columns: []column{{header: "status"}, {header: "runs", right: true}}}
	for _, status := range schema.Statuses {
		if n := c.ByStatus[string(status)]; n > 0 {
			t.rows = append(t.rows, []string{string(status), term.Thousands(n)})
		}
	}
	t.rows = append(t.rows, []string{"all", term.Thousands(c.Runs)})
	t.write(p.w)
	rows := term.Count(c.Points, "point")
	if c.Rows != c.Points { // of several machines, sides or groups
		rows = fmt.Sprintf("%s in %s (one for each machine, side and group)", rows, term.Count(c.Rows, "row"))
	}
	p.line("%s: %s with only ok runs, %s with a failed run, %s with neither (unsupported or skipped).", rows, term.Thousands(c.OKPoints), term.Thousands(c.BadPoints), term.Thousands(c.OffPoints))
	if c.Profiled > 0 {
		p.line("%s of a profiler; their times are in no table.", passes(c.Profiled))
	}
}

func passes(n int) string {
	if n == 1 {
		return "1 run is a pass"
	}
	return term.Thousands(n) + " runs are passes"
}
