package views

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// detailLines collects the sections of show, each under its title.
type detailLines struct{ lines []string }

func (p *detailLines) section(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.lines = append(p.lines, "", title)
	for _, line := range lines {
		p.lines = append(p.lines, term.Gap+line)
	}
}

// Detail shows one run completely.
type Detail struct {
	Reader   Display
	Facts    query.FactWriter // what is known of facts
	Settings []string         // of a run, which are facts, in their order
	Files    []query.Artifact
	// Reproduce is the command that measures the point once more; empty if that is unknown.
	Reproduce string
}

// View has a section for each part of a run that is there.
func (s Detail) View(d query.Detail, related query.Related) term.View {
	run := &d.Run
	p := &detailLines{lines: headline(run)}
	for _, table := range slices.Sorted(maps.Keys(d.Lost)) {
		p.lines = append(p.lines, fmt.Sprintf("some or all %s are lost: %s; store merge from a good copy restores them", table, d.Lost[table]))
	}
	if len(d.Metrics) > 0 {
		primary, unit := &d.Metrics[0], func(m *schema.Metric) string { return query.UnitIn(run, m) }
		p.section("samples of "+primary.Name, sampleLines(primary, unit(primary), s.Reader.Width))
		readings, others := readingsOf(d.Metrics[1:])
		p.section("other metrics", metricLines(others, unit))
		p.section("telemetry", append(metricLines(readings, unit), throttled(run.Env.Facts)...))
	}
	p.section("configuration", s.configurationLines(run))
	p.section("environment", s.environmentLines(run, related))
	p.section("stages", stageLines(&run.Stages))
	p.section("stack", factLines(run, "runner.stack"))
	p.section("standard error, its end", factLines(run, "runner.stderr_tail"))
	p.section("files", fileLines(s.Files))
	p.section("notes", s.noteLines(d))
	v := term.View{Below: p.lines}
	if s.Reproduce != "" {
		v.Below = append(v.Below, "", "reproduce")
		if file := movedSweep(run); file != "" {
			v.Below = append(v.Below, term.Gap+file+" is not here; with its path in the place of this name:")
		}
		v.Commands = strings.Split(term.Gap+s.Reproduce, "\n") // a word may end with a newline, see shellwords.Quote
	}
	return v
}

// readingsOf takes the readings of telemetry from metrics, without the masks of throttle, whose medians say nothing.
func readingsOf(metrics []schema.Metric) (readings, others []schema.Metric) {
	for _, m := range metrics {
		switch {
		case m.Level != schema.LevelInterval || m.AtNS == nil:
			others = append(others, m)
		case probe.BaseMetric(m.Name) != "throttle":
			readings = append(readings, m)
		}
	}
	return readings, others
}

// throttled says in which share of the readings each reason lowered a clock; nothing where none did.
func throttled(facts map[string]string) []string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		reason, is := strings.CutPrefix(name, "throttle.")
		if share, err := strconv.ParseFloat(facts[name], 64); is && err == nil && share > 0 {
			parts = append(parts, reason+" "+Share(share/100))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"throttled in this share of the readings: " + strings.Join(parts, ", ")}
}

// noteLines lists the baselines and the notes of a run.
func (s Detail) noteLines(d query.Detail) []string {
	var lines []string
	for _, name := range d.Baselines {
		lines = append(lines, "one of the baseline "+name)
	}
	for _, note := range d.Notes {
		when, text := s.Reader.When(note.At), strings.Split(note.Text, "\n")
		lines = append(lines, when+term.Gap+text[0])
		for _, more := range text[1:] {
			lines = append(lines, strings.Repeat(" ", len(when))+term.Gap+more)
		}
	}
	return lines
}

// headline describes the run and how it ended.
func headline(run *schema.Run) []string {
	constants, _ := Axes([]Subject{subjectOf(query.ListedRunOf(run))}, RunColumns)
	lines := append([]string{run.RunID}, term.Heading(constants)...)
	status := string(run.Status)
	if run.Stage != "" {
		status += " in " + string(run.Stage)
	}
	if run.Error != "" {
		status += ": " + term.FirstLine(run.Error)
	}
	started := term.Unknown
	if !run.StartedAt.IsZero() {
		started = run.StartedAt.Local().Format("2006-01-02 15:04:05 -07:00")
	}
	line := status + " · " + started
	if m := run.Metric(run.Primary); m != nil && run.Status == schema.StatusOK {
		if value := cmp.Or(m.Summary.P50, m.Summary.Mean); value != nil {
			line += " · " + m.Name + " " + QuantityOf(*value, query.UnitIn(run, m), m.Name)
		}
	}
	lines = append(lines, line)
	if hint := IgnoreExit(run.ErrorKind, run.Error); hint != "" {
		lines = append(lines, hint)
	}
	for _, note := range runner.PassNotes(run) {
		lines = append(lines, term.OneLine(note))
	}
	for _, w := range run.Warnings {
		lines = append(lines, WarningOf(run, w))
	}
	return lines
}

func stageLines(s *schema.Stages) []string {
	var rows [][2]string
	for i, ns := range []*int64{s.Build, s.Setup, s.Warmup, s.Measure, s.Validate, s.Teardown, s.Profile} {
		if ns != nil {
			rows = append(rows, [2]string{string(schema.StageNames[i]), term.Quantity(*ns, "ns")})
		}
	}
	return term.Pairs(rows)
}

// factLines returns a fact of several lines.
func factLines(run *schema.Run, name string) []string {
	text := strings.TrimSpace(run.Env.Facts[name])
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// configurationLines returns the settings asked for with where each comes from, and what was applied where the worker read it
// back.
func (s Detail) configurationLines(run *schema.Run) []string {
	rows := [][2]string{{"executor", OrUnknown(string(run.Executor)) + " (how it was launched)"}}
	asked := askedOf(run)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		rows = append(rows, [2]string{name, asked[name]})
	}
	origins := originsOf(run)
	for _, name := range slices.Sorted(maps.Keys(run.Applied)) {
		if applied := AxisText(run.Applied[name]); asked[name] != applied {
			by := " (as applied)"
			if run.Source == schema.SourceNeuroLens && (name == "iterations" || name == "warmup") {
				by = " (get_config)"
			}
			if run.Env.Facts["runner."+name] == run.Applied[name] {
				by = cmp.Or(origins(name), by)
			}
			rows = append(rows, [2]string{name, applied + by})
		}
	}
	for _, name := range s.Settings {
		said := slices.ContainsFunc(rows, func(row [2]string) bool { return row[0] == name })
		if v, ok := run.Env.Facts["runner."+name]; ok && !said {
			rows = append(rows, [2]string{name, v + origins(name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(run.Tags)) {
		rows = append(rows, [2]string{"tag." + name, run.Tags[name]})
	}
	return append(term.Pairs(rows), "point "+run.PointID)
}

// originsOf gives the origin of each setting of a run in parentheses: sweep, benchmark, variant, a preset, flag or default.
// Runs of programs that did not store it have none.
func originsOf(run *schema.Run) func(name string) string {
	var layers map[string]string
	if json.Unmarshal([]byte(run.Env.Facts[schema.FactOrigins]), &layers) != nil {
		return func(string) string { return "" }
	}
	return func(name string) string {
		if name == "control" || name == "profile" { // of a point, and of a pass
			return ""
		}
		return " (" + cmp.Or(layers[name], "default") + ")"
	}
}

// askedOf returns what makes the point of a run, and its side, by name.
func askedOf(run *schema.Run) map[string]string {
	is, asked := subjectOf(query.ListedRunOf(run)), map[string]string{}
	for _, name := range slices.Concat(IdentityColumns[1:], []string{"side"}) {
		if v := is.Text(name); v != "" {
			asked[name] = v
		}
	}
	for name, v := range run.Params {
		asked["param."+name] = AxisText(v)
	}
	return asked
}

// environmentLines returns first what differs from the point's previous run on this machine, then what people look for.
func (s Detail) environmentLines(run *schema.Run, related query.Related) []string {
	e := &run.Env
	var lines []string
	if related.Before != "" {
		if lines = s.changedLines(related.Changes); len(lines) == 0 {
			lines = append(lines, "the same as in the point's previous run on this machine")
		}
	}
	memory := ""
	if e.MemoryBytes != nil {
		memory = term.Quantity(*e.MemoryBytes, "B")
	}
	rows := [][2]string{
		{"hostname", e.Hostname},
		{"os", e.OS},
		{"os_kernel", e.OSKernel},
		{"cpu_model", e.CPUModel},
		{"cpu_count", term.ValueString(answer.Value(e.CPUCount))},
		{"memory_bytes", memory},
		{"gpu_name", e.GPUName},
		{"driver_version", e.DriverVersion},
		{"git_commit", e.GitCommit},
		{"git_branch", e.GitBranch},
		{"git_dirty", term.ValueString(answer.Value(e.GitDirty))},
		{"cpu.governor", e.Facts["cpu.governor"]},
		{"load.1m", e.Facts["load.1m"]},
	}
	rows = slices.DeleteFunc(rows, func(row [2]string) bool { return row[1] == "" })
	lines = append(lines, term.Pairs(rows)...)
	return append(lines, fmt.Sprintf("%s, %d unknown (--json shows all)", term.Count(len(e.Facts), "fact"), len(e.Missing)))
}

// changedLines say in what facts a run differs from one before.
func (s Detail) changedLines(changes []query.FactDifference) []string {
	var lines []string
	for _, d := range withoutHashes(changes) {
		switch fact, isFact := strings.CutPrefix(d.Name, "env."); {
		case fact == changedFilesFact:
			lines = append(lines, term.OneLine(changedFiles(d.Base, d.Head)))
		case !isFact || !s.Facts.OfRun(fact):
			lines = append(lines, term.OneLine(ChangeText(fact, changedValue(d.Name, d.Base), changedValue(d.Name, d.Head))))
		}
	}
	return lines
}

// changedFiles names the files that differ between two working trees: those whose lines, a state and a path, only one of them has.
func changedFiles(base, head []string) string {
	split := func(values []string) []string {
		return strings.FieldsFunc(strings.Join(values, "\n"), func(r rune) bool { return r == '\n' })
	}
	before, after := split(base), split(head)
	var files []string
	for _, line := range slices.Concat(before, after) {
		if _, file, _ := strings.Cut(line, " "); slices.Contains(before, line) != slices.Contains(after, line) && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	text := "files that differ from the commit changed: "
	if most := 5; len(files) > most {
		return text + strings.Join(files[:most], ", ") + fmt.Sprintf(", and %d more", len(files)-most)
	}
	return text + strings.Join(files, ", ")
}

// changedValue returns the value of a fact, cut where it is a hash.
func changedValue(name string, values []string) string {
	text := strings.Join(values, ", ")
	if c, ok := schema.Runs.Column(name); ok && c.Kind == schema.KindInt {
		return OrUnknown(text)
	}
	return HashText(text)
}

// sampleLines returns a histogram in eight lines and the summary of the primary metric. unit is the unit in which it is
// shown, columns how many a line has.
func sampleLines(m *schema.Metric, unit string, columns int) []string {
	values := slices.DeleteFunc(slices.Clone(m.Values()), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	lines := histogram(values, m.Unit, columns-len(term.Gap))
	lines = append(lines, "n "+samplesText(m.Summary.N)+term.Gap+strings.Join(statistics(m, unit), term.Gap))
	lines = append(lines, levelText(m.Level)+term.Gap+"clock "+OrUnknown(m.Clock)+term.Gap+"spread "+spread(m.Summary.Shown().MAD, m.Summary.P50))
	if n := m.IterationsPerSample; len(n) == 1 && n[0] > 1 {
		lines = append(lines, fmt.Sprintf("%s samples of %s iterations each: percentiles are those of means", samplesText(m.Summary.N), term.Thousands(int(n[0]))))
	}
	return lines
}

// levelText says what a sample measures.
func levelText(level schema.Level) string {
	switch level {
	case "":
		return "unknown what a sample is"
	case schema.LevelMean:
		return "a sample is a mean of several iterations"
	}
	return "a sample is one " + string(level)
}

// statistics returns what samples are summed up to. Other tools' files may have a mean alone, which is no median.
func statistics(m *schema.Metric, unit string) []string {
	s := m.Summary.Shown()
	values := []struct {
		name  string
		value *float64
	}{{"min", s.Min}, {"median", s.P50}, {"p90", s.P90}, {"p99", s.P99}, {"max", s.Max}}
	mean := s.P50 == nil && s.Mean != nil
	if mean {
		values[1].name, values[1].value = "mean", s.Mean
	}
	var words []string
	for _, v := range values {
		if v.value != nil || !mean {
			words = append(words, v.name+" "+QuantityOf(answer.Value(v.value), unit, m.Name))
		}
	}
	return words
}

// samplesText returns how many samples a metric has, or was summed up from.
func samplesText(n *int64) string {
	if n == nil {
		return term.Unknown
	}
	return term.Thousands(int(*n))
}

// bin is a line of a histogram.
type bin struct {
	label string
	n     int
}

// histogram draws eight bars: of equal width in value, from the smallest sample to the largest. Where a few samples are far
// from all others, the first or the last bar counts them.
func histogram(values []float64, unit string, columns int) []string {
	if len(values) < 2 || slices.Min(values) == slices.Max(values) {
		return nil
	}
	bars := binned(values, unit)
	largest, margin := 0, 9
	for _, b := range bars {
		largest, margin = max(largest, b.n), max(margin, term.Width(b.label))
	}
	const longest = 40
	width := min(max(columns-margin-len("   ")-len(strconv.Itoa(largest)), 1), longest)
	lines := make([]string, len(bars))
	for i, b := range bars {
		blocks := (b.n*width + largest - 1) / largest // a bin with a sample has a bar
		lines[i] = fmt.Sprintf("%s  %s %d", term.Pad(b.label, margin, true), strings.Repeat("█", blocks), b.n)
	}
	return lines
}

// binned counts samples.
func binned(values []float64, unit string) []bin {
	low, high := bulk(values)
	below, above := 0, 0
	for _, v := range values {
		switch {
		case v < low:
			below++
		case v > high:
			above++
		}
	}
	bins := 8
	for _, outside := range []int{below, above} {
		if outside > 0 {
			bins--
		}
	}
	starts := make([]float64, bins, bins+1)
	for i := range starts {
		starts[i] = low + (high-low)*float64(i)/float64(bins)
	}
	labels := distinctLabels(append(starts, high), unit)
	bars := make([]bin, bins)
	for i := range bars {
		bars[i].label = labels[i]
	}
	for _, v := range values {
		if v >= low && v <= high {
			bars[min(int(float64(bins)*((v-low)/(high-low))), bins-1)].n++
		}
	}
	if below > 0 {
		bars = slices.Insert(bars, 0, bin{"< " + labels[0], below})
	}
	if above > 0 {
		bars = append(bars, bin{"> " + labels[bins], above})
	}
	return bars
}

// bulk is from where to where most samples are: all of them, but for a few that are further from the quartiles than three
// times their distance.
func bulk(values []float64) (low, high float64) {
	const few, far = 0.15, 3
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	low, high = sorted[0], sorted[n-1]
	first, third := sorted[n/4], sorted[3*n/4]
	reach := far * (third - first)
	inside := slices.Clone(sorted)
	inside = slices.DeleteFunc(inside, func(v float64) bool { return v < first-reach || v > third+reach })
	if float64(n-len(inside)) > max(1, few*float64(n)) || len(inside) < 2 || inside[0] == inside[len(inside)-1] {
		return low, high
	}
	return inside[0], inside[len(inside)-1]
}

// distinctLabels returns ascending values for people. Where three digits do not tell neighbours apart, all are in the unit of
// the largest, with as many digits as do.
func distinctLabels(values []float64, unit string) []string {
	labels := term.Texts(values, func(v float64) string { return schema.ForPeople(v, unit) })
	if !neighboursAlike(labels) {
		return labels
	}
	_, name, _ := strings.Cut(schema.ForPeople(max(-values[0], values[len(values)-1]), unit), " ")
	stored, factor, _ := schema.StoredUnit(name)
	if stored != unit {
		factor = 1
	}
	const most = 17 // decimals: a number has hardly more
	for decimals := range most + 1 {
		longer := term.Texts(values, func(v float64) string {
			return strings.TrimSpace(strconv.FormatFloat(v/factor, 'f', decimals, 64) + " " + name)
		})
		if !neighboursAlike(longer) {
			return longer
		}
	}
	return labels
}

// neighboursAlike tells whether a label says the same as the one before it.
func neighboursAlike(labels []string) bool {
	return len(slices.Compact(slices.Clone(labels))) < len(labels)
}

// toDeviation makes a standard deviation of the median absolute deviation of normal values.
const toDeviation = 1.4826

func spread(mad, median *float64) string {
	if mad == nil || median == nil || *median == 0 {
		return term.Unknown
	}
	return Percent(spreadRatio(*mad, *median))
}

// spreadRatio returns the robust spread of a run, in relation to its median, of which the sign does not count.
func spreadRatio(mad, median float64) float64 { return toDeviation * mad / math.Abs(median) }

// metricLines returns a line a metric. unit returns the unit in which it is shown.
func metricLines(metrics []schema.Metric, unit func(*schema.Metric) string) []string {
	var rows [][2]string
	for i := range metrics {
		m := &metrics[i]
		words := statistics(m, unit(m))
		if m.Summary.P50 != nil {
			text := func(v *float64) string { return QuantityOf(answer.Value(v), unit(m), m.Name) }
			words = []string{text(m.Summary.P50), "min " + text(m.Summary.Min), "max " + text(m.Summary.Max)}
		}
		rows = append(rows, [2]string{m.Name, strings.Join(append(words, "n "+samplesText(m.Summary.N)), term.Gap)})
	}
	return term.Pairs(rows)
}

// Files returns the files that a run left: a line each.
func Files(all []query.Artifact) term.View {
	if len(all) == 0 {
		return term.View{Below: []string{"the run has no stored files"}}
	}
	return term.View{Below: fileLines(all)}
}

// fileLines name each file, with its size and what became of it.
func fileLines(all []query.Artifact) []string {
	rows := make([][2]string, len(all))
	for i, a := range all {
		size := term.Unknown
		if a.Bytes != nil {
			size = term.Quantity(*a.Bytes, "B")
		}
		rows[i] = [2]string{term.OneLine(a.Path), size + became(&a)}
	}
	return term.Pairs(rows)
}

// became returns what became of a file, after a comma; nothing where it is stored.
func became(a *query.Artifact) string {
	switch {
	case a.State == query.ArtifactPruned:
		return fmt.Sprintf(", pruned %s", a.Pruned.Local().Format("2006-01-02"))
	case a.State == query.ArtifactMissing:
		return ", missing from the store"
	case a.State == query.ArtifactNotKept && a.Reason != "":
		return ", not stored: " + term.OneLine(a.Reason)
	case a.State == query.ArtifactNotKept:
		return ", not stored"
	}
	return ""
}

// ReproduceCommand returns the command that measures the point of a run once more; empty if that is unknown. against is the commit that
// its session compared with.
func ReproduceCommand(run *schema.Run, against string, stores []string) string {
	return term.ShellLine(reproduceWords(run, against, stores, []string{"--repeats", "1"})...)
}

// reproduceWords returns the words of the command that ReproduceCommand returns, with other options that say how often; nil if it is unknown.
func reproduceWords(run *schema.Run, against string, stores, times []string) []string {
	line, program := sweep.Repeat(run, against)
	if line == nil {
		return nil
	}
	words := slices.Concat([]string{"neurolens"}, line)
	if len(stores) == 1 {
		words = append(words, "--store", stores[0])
	}
	words = append(words, times...)
	if program != nil {
		words = append(append(words, "--"), program...)
	}
	return words
}

// WrongResult stands in the place of the status of a run whose result is wrong.
const (
	WrongResult  = "wrong result"
	WrongMeaning = "the result is wrong, which never counts as a win"
)

// Ended says how a run ended.
func Ended(status schema.Status, wrong bool) string {
	if wrong {
		return WrongResult
	}
	return string(status)
}

// IgnoreExit says how an exit status is taken as no failure, of a run that ended by one of a program that is measured; empty for
// any other.
func IgnoreExit(kind, reason string) string {
	if kind != "exit" || !strings.HasPrefix(reason, "process ") { // as of a hook
		return ""
	}
	return "if this exit status is no failure, bench takes it with --ignore-exit"
}
