package formats

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// wordsOf returns the words of a name in lower case: tokensPerSecond and tokens_per_second have the same.
func wordsOf(name string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '%' && r != '°' {
			end()
			lower = false
			continue
		}
		if lower && unicode.IsUpper(r) {
			end()
		}
		word.WriteRune(r)
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	end()
	if i := slices.Index(words, "dev"); i > 0 && words[i-1] == "std" {
		words = slices.Replace(words, i-1, i+1, "stddev")
	}
	return words
}

// unitSpelt are the units in names and headings, in lower case.
var unitSpelt = map[string]string{
	"us": "us", "ns": "ns", "ms": "ms", "s": "s", "tflops": "Tflop/s", "gflops": "Gflop/s", "mflops": "Mflop/s", "tflop/s": "Tflop/s",
	"gflop/s": "Gflop/s",
	"fps":     "frames/s", "qps": "queries/s", "rps": "requests/s", "tps": "1/s", "iops": "1/s", "toks": "tok/s", "hz": "1/s",
	"gb": "GB", "mb": "MB", "kb": "kB", "tb": "TB", "gib": "GiB", "mib": "MiB", "kib": "KiB", "mhz": "MHz", "ghz": "GHz", "mw": "mW",
	"mj": "mJ", "kwh": "kWh", "wh": "Wh",
	"celsius": "C", "degc": "C", "°c": "C", "bytes/s": "B/s", "b/op": "B", "bytes/op": "B", "op/s": "ops/s",
}

var (
	perRepetition = regexp.MustCompile(`^(?i:time )?(ns|us|µs|ms|s|sec|seconds?)(?: ?/ ?| per )(?:op|iter|iteration|call|run|step|token|request|query|image|sample|event)$`)
	perTime       = regexp.MustCompile(`^([A-Za-z]+)(?: ?/ ?| per )(s|sec|secs|second|seconds|ms|us|min|minute|h|hour)$`)
	inBrackets    = regexp.MustCompile(`[(\[<{]([^)\]>}]+)[)\]>}]\s*$`)
)

// unitSpelled returns the unit that a text is a spelling of, as a mapping has it; empty if it is none.
func unitSpelled(text string) string {
	text = strings.TrimSpace(text)
	if _, _, known := schema.StoredUnit(text); known && text != "m" && text != "ratio" {
		return text
	}
	lower := strings.ToLower(text)
	if unit := cmp.Or(unitSpelt[lower], schema.NearestUnit(text)); unit != "" {
		return unit
	}
	if m := perRepetition.FindStringSubmatch(lower); m != nil {
		return unitSpelled(m[1])
	}
	if m := perTime.FindStringSubmatch(text); m != nil {
		period := map[string]string{"sec": "s", "secs": "s", "second": "s", "seconds": "s"}[m[2]]
		if unit := m[1] + "/" + cmp.Or(period, m[2]); slices.Contains([]string{"B/s", "bytes/s"}, unit) || len(m[1]) > 1 {
			if bytes := unitSpelt[strings.ToLower(m[1])]; storedUnitOf(bytes) == "B" && strings.HasSuffix(unit, "/s") { // mb per second
				return bytes + "/s"
			}
			return cmp.Or(unitSpelt[strings.ToLower(unit)], unit)
		}
	}
	return ""
}

// storedUnitOf returns the stored unit of a unit of a mapping: 1/s of a rate of words.
func storedUnitOf(unit string) string {
	if stored, _, known := schema.StoredUnit(unit); known {
		return stored
	}
	if unit != "" && rateOfWords.MatchString(unit) {
		return "1/s"
	}
	return unit
}

// onlyAfter are units of one letter, which count as units only after one of these words.
var onlyAfter = map[string][]string{
	"w": {"power", "draw", "tdp", "avg", "mean", "max"}, "j": {"energy"}, "c": {"temp", "temperature"}, "b": {"memory", "mem"},
	"h": {"time", "duration"},
}

// counted are the words that stand before the period in names such as tokens_s.
var counted = []string{
	"tok", "toks", "token", "tokens", "req", "reqs", "requests", "it", "its", "iter", "img", "imgs", "images", "samples", "items",
	"ops", "queries", "frames", "tflops",
	"b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "inferences", "infer", "steps", "rows", "messages", "msgs", "events",
}

// unitOf returns the unit of a column, and the words of its name without it: of its cells, in brackets in its name, or at the end of it.
func (c *guessedColumn) unitOf() (words []string, unit string) {
	words = c.words
	if m := inBrackets.FindStringSubmatch(c.name); m != nil {
		if unit = unitSpelled(m[1]); unit != "" {
			words = wordsOf(strings.TrimSuffix(strings.TrimSpace(c.name), strings.TrimSpace(m[0])))
		}
	}
	if unit == "" {
		words, unit = unitAtEnd(c)
	}
	if unit == "" && len(c.units) > 0 {
		unit = unitSpelled(c.units[0])
	}
	return words, unit
}

// unitAtEnd returns the unit at the end of the name of a column, and the other words. It may stand before a statistic, as in ttft_ms_p50.
func unitAtEnd(c *guessedColumn) (others []string, unit string) {
	n := len(c.words)
	if n > 1 && statistics[c.words[n-1]] != "" {
		others, unit = unitAtEnd(&guessedColumn{name: strings.Join(c.words[:n-1], "_"), words: c.words[:n-1]})
		return append(slices.Clone(others), c.words[n-1]), unit
	}
	if slash := strings.LastIndexByte(c.name, '/'); slash > 0 { // tokens/s
		if i := strings.LastIndexAny(c.name[:slash], " _"); unitSpelled(c.name[i+1:]) != "" {
			return wordsOf(c.name[:i+1]), unitSpelled(c.name[i+1:])
		}
	}
	if n > 2 && c.words[n-2] == "per" {
		if unit := unitSpelled(c.words[n-3] + " per " + c.words[n-1]); unit != "" {
			return c.words[:n-3], unit
		}
	}
	if n > 1 && slices.Contains([]string{"s", "sec", "ps"}, c.words[n-1]) && slices.Contains(counted, c.words[n-2]) {
		if unit := unitSpelled(c.words[n-2] + "/s"); unit != "" {
			return c.words[:n-2], unit
		}
	}
	if n == 0 {
		return nil, ""
	}
	last := c.words[n-1]
	if len([]rune(last)) == 1 && last != "s" && last != "%" {
		if n > 1 && slices.Contains(onlyAfter[last], c.words[n-2]) {
			return c.words[:n-1], strings.ToUpper(last)
		}
		return c.words, ""
	}
	if slices.Contains([]string{"min", "mins", "m"}, last) || last == "s" && n == 1 { // min is the smallest value
		return c.words, ""
	}
	if unit := unitSpelled(last); unit != "" && last != "ratio" {
		return c.words[:n-1], unit
	}
	return c.words, ""
}

// statistics are the aggregates of mappings by the words for them.
var statistics = map[string]string{
	"mean": "mean", "avg": "mean", "average": "mean", "median": "median", "med": "median", "p50": "median", "50%": "median",
	"std": "stddev", "stdev": "stddev",
	"stddev": "stddev", "sd": "stddev", "min": "min", "minimum": "min", "max": "max", "maximum": "max", "p25": "p25", "25%": "p25",
	"p75": "p75", "75%": "p75", "p90": "p90",
	"p95": "p95", "95%": "p95", "p99": "p99", "99%": "p99", "p90th": "p90", "p95th": "p95", "p99th": "p99", "q1": "p25", "q3": "p75",
}

// statistic returns the words of a name that say which aggregate a column is.
func (c *guessedColumn) statistic() (words []string) {
	for _, word := range c.words {
		if statistics[word] != "" {
			words = append(words, word)
		}
	}
	return words
}

// The words in names of metrics.
var (
	metricWords = []string{
		"latencies", "times", "durations", "latency", "time", "duration", "elapsed", "runtime", "throughput", "bandwidth", "bw", "busbw",
		"algbw", "speed", "speedup", "accuracy", "acc", "loss", "score", "perplexity", "error",
		"errors", "errs", "err", "fails", "failure", "drops", "dropped", "retries", "utilization", "util", "usage", "cycles", "instructions", "misses", "ipc", "allocs", "allocations", "power", "energy",
		"temperature", "temp", "flops", "memory", "mem",
		"rss", "vram", "value", "ttft", "tpot", "itl", "rate", "efficiency", "failures", "failed", "mismatches", "rmse", "mse", "mae",
		"qps", "rps", "tps", "fps", "iops", "rtt", "metric",
	}
	timeWords = []string{
		"latency", "time", "duration", "elapsed", "runtime", "wall", "wallclock", "clock", "real", "exec", "execution", "run",
		"inference", "infer", "forward", "step", "iter",
		"iteration", "op", "call", "latencies", "times", "durations", "took", "taken", "e2e", "response", "request", "compute", "total",
		"query", "kernel", "gpu", "cuda", "per",
	}
	memoryWords = []string{
		"mem", "memory", "rss", "maxrss", "vram", "alloc", "allocs", "allocated", "allocation", "footprint", "heap", "peak", "usage",
		"used", "reserved",
	}
	deviceWords = []string{"gpu", "vram", "cuda", "device", "hbm"}
	higherWords = []string{
		"accuracy", "acc", "speedup", "efficiency", "ipc", "throughput", "hit", "hits", "bandwidth", "mfu", "goodput", "score",
	}
	lowerWords = []string{
		"loss", "error", "errors", "err", "errs", "fails", "failure", "drops", "dropped", "retries", "perplexity", "misses", "miss", "failed", "failures", "mismatches", "rmse", "mse", "mae",
		"cycles", "allocs", "allocations", "overhead", "time", "latency", "duration", "elapsed", "stalls", "rss", "mem", "memory",
		"vram", "footprint", "allocated",
	}
	// generalWords say nothing about a metric if there are other words, or a unit.
	generalWords = []string{
		"value", "val", "score", "amount", "result", "results", "metric", "metrics", "stats", "summary", "data", "perf", "performance",
		"timing", "timings", "measurement", "measurements", "samples", "values",
	}
	// levelWords are of metrics that are no better if they are lower or higher.
	levelWords    = []string{"free", "total", "available", "clock", "frequency", "util", "utilization", "temperature", "temp", "count"}
	accuracyWords = []string{"accuracy", "acc", "top1", "top5", "f1"}
)

// decideMetrics makes a metric of each column. Those whose names have the fewest words come first, so that latency is the latency, and
// kernel_latency another metric.
func (g *guessed) decideMetrics(columns []*guessedColumn) {
	if g.Long != nil {
		return
	}
	columns = slices.DeleteFunc(columns, func(c *guessedColumn) bool {
		isBound := c.hasAny([]string{"error", "err", "ci", "ci95", "margin"}) && slices.ContainsFunc(columns, func(other *guessedColumn) bool {
			return other != c && other.hasAny([]string{"mean", "score", "avg"})
		})
		if isBound {
			g.Ignore = append(g.Ignore, c.name)
			g.doubts[c.name] = "a half of an interval? If it is a metric, move it to metrics"
		}
		return isBound
	})
	slices.SortStableFunc(columns, func(a, b *guessedColumn) int { return len(a.words) - len(b.words) })
	taken := map[string]mappedMetric{}
	aggregated := map[string]bool{}
	for _, c := range columns {
		m := g.meaning(c, taken)
		g.Metrics[c.name] = m
		if m.As != "" {
			aggregated[m.Metric] = true
		}
	}
	for _, c := range columns { // a value beside its percentiles is an aggregate, too
		m := g.Metrics[c.name]
		if _, hasMean := taken[m.Metric+" mean"]; m.As == "" && aggregated[m.Metric] && c.lists == 0 {
			if m.As = "mean"; hasMean {
				m.As = "median"
			}
			g.doubts[c.name] = "a mean? a median?"
			g.Metrics[c.name] = m
		}
	}
}

// meaning returns the metric that a column is. taken has the metrics of other columns, which it adds to: a metric has each aggregate once,
// and one unit.
func (g *guessed) meaning(c *guessedColumn, taken map[string]mappedMetric) mappedMetric {
	words, unit := c.unitOf()
	m := mappedMetric{Unit: unit}
	for _, word := range c.statistic() {
		if m.As == "" && (len(words) > 0 || len(c.words) == 1) {
			m.As = statistics[word]
		}
	}
	base := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return statistics[word] != "" })
	special := slices.DeleteFunc(slices.Clone(base), func(word string) bool { return slices.Contains(generalWords, word) })
	if len(special) > 0 || unit != "" {
		base = special
	}
	if len(base) == 0 && unit == "" && m.As != "" {
		base = []string{"value"}
		g.doubts[c.name] = "no unit found; with one, {metric: latency, unit: s, as: " + m.As + "}"
	}
	m.Metric = g.kindOf(c, base, storedUnitOf(unit))
	key := func() string { return m.Metric + " " + m.As }
	other, known := taken[m.Metric]
	if _, used := taken[key()]; m.Metric == "" || used || known && other.Unit != m.Unit {
		m.Metric = foreign.MetricName(strings.Join(base, "_"))
		other, known = taken[m.Metric]
		if _, used := taken[key()]; m.Metric == "" || used || known && other.Unit != m.Unit || isKind(m.Metric, unit) {
			m.Metric, m.As = foreign.MetricName(cmp.Or(strings.Join(c.words, "_"), c.name)), ""
			if isKind(m.Metric, unit) {
				m.Metric += "_"
			}
		}
	}
	if kind, is := schema.KindOfMetric(m.Metric); !is || kind.Better == "" {
		m.Better = guessedDirection(base, storedUnitOf(unit))
	}
	taken[m.Metric], taken[key()] = m, m
	if unit == "" && m.Better != "" && g.doubts[c.name] == "" {
		if _, is := schema.KindOfMetric(m.Metric); !is && slices.ContainsFunc(base, func(w string) bool { return slices.Contains(timeWords[:5], w) }) {
			g.doubts[c.name] = "no unit found; with one, {metric: latency, unit: ms}"
		}
	}
	if c.read[0].min < 0 && slices.Contains([]string{"ns", "1/s", "B/s", "flop/s"}, storedUnitOf(unit)) {
		g.doubts[c.name] = "below 0: if it stands for no value, list it under missing"
	}
	if slices.Contains([]string{"kB", "MB", "GB"}, unit) && (len(c.units) == 0 || !slices.Contains(c.units, unit)) {
		g.doubts[c.name] = unit + " of 1000, or " + map[string]string{"kB": "KiB", "MB": "MiB", "GB": "GiB"}[unit] + " of 1024?"
	}
	return m
}

// isKind reports whether a name is the name of a metric with another unit.
func isKind(name, unit string) bool {
	kind, is := schema.KindOfMetric(name)
	return is && kind.Unit != "" && kind.Unit != storedUnitOf(unit)
}

// kindOf returns the metric with a fixed meaning that a column is by its words and its unit; empty if it is none.
func (g *guessed) kindOf(c *guessedColumn, base []string, stored string) string {
	has := func(words ...string) bool {
		return slices.ContainsFunc(base, func(word string) bool { return slices.Contains(words, word) })
	}
	if name := strings.Join(base, "_"); name != "" {
		if kind, is := schema.KindOfMetric(name); is && kind.Unit == stored {
			return name
		}
	}
	switch stored {
	case "ns":
		switch {
		case has("ttft"), has("first") && has("token"):
			return "ttft"
		case has("tpot"):
			return "tpot"
		case has("itl"), has("inter") && has("token"):
			return "itl"
		case has("user"):
			return "cpu_user"
		case has("system", "sys"):
			return "cpu_system"
		case !slices.ContainsFunc(base, func(word string) bool { return !slices.Contains(timeWords, word) }):
			return schema.PrimaryMetric
		}
	case "1/s":
		if len(base) == 0 || has("throughput", "qps", "rps", "fps", "tps", "rate", "speed", "iops", "samples", "tokens", "images", "requests", "items", "ops") {
			return "throughput"
		}
	case "B/s":
		return "bandwidth"
	case "flop/s":
		return "compute"
	case "mJ":
		return "energy"
	case "mW":
		return "power"
	case "Cel":
		return "temperature"
	case "MHz":
		if has("sm", "gpu", "core") {
			return "clock_sm"
		}
	case "B":
		switch {
		case has(deviceWords...) && has(memoryWords...):
			return "device_memory_peak"
		case has("rss", "maxrss"), has("peak") && has("memory", "mem"), len(c.statistic()) > 0 && has("memory", "mem"):
			return "peak_memory"
		}
	case "ratio":
		if has(accuracyWords...) {
			return "accuracy"
		}
	case "":
		if has(accuracyWords...) && c.read[0].max <= 1 {
			return "accuracy"
		}
	}
	return ""
}

// guessedDirection returns which values of a metric are better, as far as its name or its unit says so.
func guessedDirection(base []string, stored string) schema.Better {
	has := func(words []string) bool {
		return slices.ContainsFunc(base, func(word string) bool { return slices.Contains(words, word) })
	}
	switch {
	case has(levelWords):
	case has(lowerWords):
		return schema.BetterLower
	case has(higherWords), slices.Contains([]string{"1/s", "B/s", "flop/s"}, stored):
		return schema.BetterHigher
	case slices.Contains([]string{"ns", "B", "mJ", "mW"}, stored), has(timeWords[:5]):
		return schema.BetterLower
	}
	return ""
}
