package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/runner/profiler"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// maxCount bounds iterations and repeats: every iteration has its place in memory before the run begins.
const maxCount = 10_000_000

// Counts and the budget if the file does not set them. A process needs a shorter warm-up than an iteration, and processes of one run
// share the minute in which they ran: many short runs, which are spread over time, are more informative than a long one. A command that
// discover has found is one of a suite, in which a kind of file takes no more time than the others.
const (
	defaultWarmup         = 10
	defaultWarmupCommand  = 1
	defaultBudget         = 10 * time.Second
	defaultBudgetCommand  = 300 * time.Millisecond
	defaultRepeats        = 1
	defaultRepeatsCommand = 10

	// defaultRepeatsAgainst is the number of repeats that distinguishes two commits.
	defaultRepeatsAgainst = 6
)

// settings are the values of the keys about launching.
type settings struct {
	sweep       Sweep    // without points
	point       Point    // how each is launched, whatever its executor
	calibration Timeouts // of the points of calibrate
	room        room     // of the budget
}

func readSettings(d *document) settings {
	var s settings
	s.sweep.Order = OrderInterleaved
	for _, read := range []func(*document){
		s.readSuite, s.readTags, s.readSwitches, s.readSeed, s.readTiming, chosen("iterations_per_sample", s.readIterationsPerSample),
		s.readProfile, s.readCounters, s.readFixed, s.readCounts, chosen("order", s.plain("order")), s.readPrecision, s.readMaxRepeats,
		s.readBudget, s.readTimeouts, given("thresholds", s.readThresholds), given("allow_failed", s.readAllowFailed),
		given("skip_exit", s.plain("skip_exit")), chosen("ignore_exit", s.readIgnoredExits), given("primary", s.readPrimary),
		given("telemetry", s.readTelemetry),
	} {
		read(d)
	}
	for _, k := range keys {
		if k.Stored {
			note(&s.point.Origins, k.Name, d.layerOf(k.Name))
		}
	}
	return s
}

// given calls read with the value that the file has for a key. A key that only some executors use is requested.
func given(key string, read func(*document, field)) func(*document) {
	return func(d *document) { d.readKey(key, d.keys[key], read) }
}

// chosen returns a reader that calls read with the value of the command line, if there is one.
func chosen(key string, read func(*document, field)) func(*document) {
	return func(d *document) { d.readKey(key, d.choose(key), read) }
}

func (d *document) readKey(key string, f field, read func(*document, field)) {
	if !f.given() {
		return
	}
	if keyOf(key).Executors != nil {
		d.request(key, f)
	}
	read(d, f)
}

// plain returns the reader of a key that needs only its entry in the table.
func (s *settings) plain(key string) func(*document, field) {
	return func(_ *document, f field) { s.read(key, f) }
}

// read reads the value of a key into the field of the key.
func (s *settings) read(key string, f field) {
	k := keyOf(key)
	if k.point != nil {
		k.Value.read(f, k.point(&s.point))
		return
	}
	k.Value.read(f, k.sweep(&s.sweep))
}

// readBoth reads the value of a key in the file, and then its value on the command line: both must be valid.
func (s *settings) readBoth(d *document, key string) {
	for _, f := range []field{d.keys[key], d.option(key)} {
		if f.given() && !keyOf(key).isExpression(f) { // an expression has another value at each point
			s.read(key, f)
		}
	}
}

func (s *settings) readSuite(d *document) {
	s.point.Suite = suiteOf(d.file.name)
	if f := d.keys["suite"]; f.given() {
		s.read("suite", f)
		f.checkUnfilled(s.point.Suite)
	}
	if f := d.option("suite"); f.given() {
		s.point.Suite = f.Value
		checkOption(f.name, f.Value)
	}
}

// StandardInput is the name of a sweep that is no file, in errors.
const StandardInput = "standard input"

// suiteOf returns the default label of a sweep file. A sweep from standard input has none.
func suiteOf(file string) string {
	if file == StandardInput {
		return ""
	}
	base := filepath.Base(file)
	return strings.ToValidUTF8(strings.TrimSuffix(base, filepath.Ext(base)), "_")
}

func (s *settings) readTags(d *document) {
	tags := map[string]string{}
	for _, m := range d.keys["tags"].members("tags.") {
		tags[m.key] = m.value.scalar()
		m.value.checkUnfilled(tags[m.key])
	}
	for key, text := range d.over.Tags {
		checkOption("--tag", key+text)
	}
	maps.Copy(tags, d.over.Tags)
	if len(tags) > 0 {
		s.sweep.Tags = tags
	}
}

// checkOption refuses bytes of the command line that no store takes.
func checkOption(option, text string) {
	if !utf8.ValidString(text) {
		panic(origin{name: option}.errorf(0, "want UTF-8, got %q", text))
	}
}

func (s *settings) readCounts(d *document) {
	p := &s.point
	p.Warmup, p.Repeats = defaultWarmup, defaultRepeats
	if d.keys["command"].given() {
		p.Warmup = defaultWarmupCommand
		p.WarmupOnce = !d.keys["warmup"].given() && !d.option("warmup").given()
		if !d.found {
			p.Repeats = defaultRepeatsCommand
		}
	}
	if p.ColdStart {
		p.Warmup = 0
	}
	if d.over.Against {
		p.Repeats = defaultRepeatsAgainst
	}
	for _, key := range []string{"repeats", "warmup", "iterations"} {
		s.readBoth(d, key)
	}
	if d.option("cold_start").given() && !d.option("warmup").given() {
		p.Warmup = 0 // regardless of the file
	}
	p.WarmupOnce = p.WarmupOnce && p.Warmup > 0
	s.readCold(d)
}

// coldOnce reports whether runs have one iteration because of a cold start: only the first one of a process is cold. Each process of a
// command is a cold start.
func (s *settings) coldOnce(d *document) bool {
	return s.point.ColdStart && !d.keys["command"].given()
}

// readCold sets the single iteration of a cold start. As with the warm-up, an option cold_start overrides the file; more iterations in
// the same place mean repeats.
func (s *settings) readCold(d *document) {
	if !s.coldOnce(d) {
		return
	}
	f := d.option("iterations")
	if !f.given() && !d.option("cold_start").given() {
		f = d.keys["iterations"]
	}
	if f.given() && s.point.Iterations != 1 {
		panic(f.errorf("want 1 with cold_start, because only the first iteration of a run is cold: use repeats"))
	}
	s.point.Iterations = 1
}

func (s *settings) readBudget(d *document) {
	s.point.Budget = defaultBudget
	if d.keys["command"].given() {
		s.point.Budget = defaultBudgetCommand
	}
	s.readBoth(d, "budget")
}

const (
	// maxSeed is the largest that NumPy takes.
	maxSeed = math.MaxUint32
	// reproducibleSeed is the seed of a reproducible sweep without a seed. frameworks.py of package python has the same number, for a
	// benchmark that requests it itself.
	reproducibleSeed = 42

	defaultMinRunTime = 200 * time.Millisecond
)

// readSwitches reads the boolean keys.
func (s *settings) readSwitches(d *document) {
	for _, k := range keys {
		if k.Value.Kind != Switch || k.point == nil {
			continue
		}
		f := d.choose(k.Name)
		if !f.given() {
			continue
		}
		s.read(k.Name, f)
		if *k.point(&s.point).(*bool) {
			d.request(k.Name, f)
		}
	}
}

func (s *settings) readSeed(d *document) {
	chosen("seed", s.plain("seed"))(d)
	twoOutputs := d.keys["reference"].given() && !d.keys["command"].given() // they need the same inputs
	if s.point.Seed == nil && (s.point.Reproducible || twoOutputs) {
		s.point.Seed = new(int64(reproducibleSeed))
	}
}

func (s *settings) readTiming(d *document) {
	s.point.Timing, s.point.MinRunTime = automatic, defaultMinRunTime
	if f := d.choose("timing"); f.given() {
		s.read("timing", f)
		d.request("timing", f)
	}
	f := d.keys["min_run_time"]
	if !f.given() {
		return
	}
	// A benchmark may choose its own timing, and the command line another one than the file was written for.
	own := s.point.Timing == automatic && d.keys["file"].given()
	if s.point.Timing != timingTorchTimer && !own && !d.option("timing").given() {
		panic(f.errorf("not supported with timing %s: only with torch_timer", s.point.Timing))
	}
	d.request("min_run_time", f)
	s.read("min_run_time", f)
}

// readIterationsPerSample reads how many iterations are timed in one go: a number, or auto.
func (s *settings) readIterationsPerSample(_ *document, f field) {
	if f.Kind == yaml.ScalarNode && f.Value == automatic {
		return
	}
	s.point.IterationsPerSample = int(f.integer(1, maxCount, "a number or auto"))
}

// readProfile reads the profilers, each of which makes a separate pass.
func (s *settings) readProfile(d *document) {
	s.point.Operators = !d.keys["profile"].given() && !d.option("profile").given()
	items := d.optionItems("profile")
	if f := d.keys["profile"]; f.given() && items == nil {
		items = f.items()
	} else if f.given() {
		for i := range items {
			items[i] = configured(items[i], f)
		}
	}
	for _, f := range items {
		s.readProfiler(d, f)
	}
}

// configured returns the profiler of the file that an option names, with its deadline and its arguments, or else the name.
func configured(named, file field) field {
	for _, f := range file.items() {
		if f.Kind != yaml.MappingNode {
			continue
		}
		if tool := f.known("profile.", keyNames(profilerKeys))["tool"]; tool.given() && tool.Value == named.Value {
			return f
		}
	}
	return named
}

// readProfiler reads a profiler: its name, or a map that has a deadline too.
func (s *settings) readProfiler(d *document, f field) {
	name, limit, args := f, field{}, field{}
	if f.Kind == yaml.MappingNode {
		values := f.known("profile.", keyNames(profilerKeys))
		if name, limit, args = values["tool"], values["timeout"], values["args"]; !name.given() {
			panic(f.errorf("want a tool: one of %s", strings.Join(profilerNames, " ")))
		}
	}
	tool := name.oneOf(profilerNames)
	if slices.Contains(s.point.Profile, tool) {
		panic(f.errorf("%s appears twice", tool))
	}
	s.point.Profile = append(s.point.Profile, tool)
	d.request("profile "+tool, f)
	if args.given() {
		if _, outside := profiler.Of(tool); !outside {
			panic(args.errorf("%s takes no arguments: it runs within the benchmark's process", tool))
		}
		if args.Kind != yaml.SequenceNode {
			panic(args.errorf("want a list, got %s", args.got()))
		}
		if s.point.ProfileArgs == nil {
			s.point.ProfileArgs = map[string][]string{}
		}
		s.point.ProfileArgs[tool] = args.texts()
	}
	if limit.given() {
		if s.point.ProfileTimeouts == nil {
			s.point.ProfileTimeouts = map[string]time.Duration{}
		}
		s.point.ProfileTimeouts[tool] = limit.duration()
	}
}

// readCounters reads the events to count, in a fixed order.
func (s *settings) readCounters(d *document) {
	items := d.optionItems("counters")
	if f := d.keys["counters"]; f.given() && items == nil {
		items = f.someItems()
	}
	var asked []string
	for _, f := range items {
		word := f.oneOf(counterWords)
		if slices.Contains(asked, word) {
			panic(f.errorf("%s appears twice", word))
		}
		asked = append(asked, word)
	}
	for _, name := range counter.Names() {
		if slices.Contains(asked, name) || slices.Contains(asked, counterWords[0]) {
			s.point.Counters = append(s.point.Counters, name)
		}
	}
}

// Counters returns the counters that points ask for.
func (s *Sweep) Counters() (names []string) {
	for _, name := range counter.Names() {
		if slices.ContainsFunc(s.Points, func(p Point) bool { return slices.Contains(p.Counters, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// readFixed records the settings from the command line, a preset or a variant, which no benchmark may change. A cold start has one
// iteration, and no warm-up unless the file itself sets one.
func (s *settings) readFixed(d *document) {
	given := func(key string) bool { return rank(d.layerOf(key)) > rank(layerBenchmark) } // in a layer that overrides get_config
	cold := s.point.ColdStart && (given("cold_start") || !d.keys["warmup"].given())
	for _, c := range []struct {
		name  string
		fixed bool
	}{
		{"iterations", given("iterations") || s.coldOnce(d)},
		{"warmup", given("warmup") || cold},
		{"seed", given("seed") || given("reproducible") && !d.keys["seed"].given()},
		{"timing", given("timing")},
		{"iterations_per_sample", given("iterations_per_sample")},
		{"timeouts", given("timeouts") || given("timeout")},
	} {
		if c.fixed {
			s.point.Fixed = append(s.point.Fixed, c.name)
		}
	}
}

// clearUntaken clears the keys that the executor of the point does not use. They came from settings that all points share.
func (p *Point) clearUntaken() {
	for i := range keys {
		if k := &keys[i]; k.point != nil && !k.takes(p.Executor) {
			k.clear(p)
		}
	}
	p.Profile = slices.DeleteFunc(slices.Clone(p.Profile), func(tool string) bool {
		return !slices.Contains(profilers[tool], p.Executor)
	})
}

// option returns the value of the command line for a key; the zero field if there is none. An empty text counts as not set, and a
// switch can only be switched on.
func (d *document) option(key string) field {
	text, given := d.over.Given[key]
	k := keyOf(key)
	if !given {
		return field{}
	}
	if k.Verbatim {
		f := option("--"+k.OptionName(), "", "")
		f.Node = k.verbatim(text)
		return f
	}
	tag := "!!str"
	switch k.Value.Kind {
	case Integer:
		tag = "!!int"
	case Share:
		tag = "!!float"
	case Switch:
		tag, given = "!!bool", text == "true"
	case Either:
		if _, err := strconv.ParseInt(text, 10, 64); err == nil { // a number or a word
			tag = "!!int"
		}
	case Text, Scalar, Word:
		given = text != ""
	}
	if !given {
		return field{}
	}
	return option("--"+k.OptionName(), tag, text)
}

// choose returns the value of the command line for a key, else the value in the file.
func (d *document) choose(key string) field {
	if f := d.option(key); f.given() {
		return f
	}
	return d.keys[key]
}

// option makes a text of the command line a field, so that it is checked like a value in the file.
func option(name, tag, text string) field {
	return field{&yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}, origin{name: name}, "", 0}
}

// optionItems returns the values of an option that takes a list; nil: the option is not set.
func (d *document) optionItems(key string) []field {
	text, given := d.over.Given[key]
	if !given {
		return nil
	}
	items := []field{}
	for word := range strings.SplitSeq(text, ",") {
		if text != "" {
			items = append(items, option("--"+keyOf(key).OptionName(), "!!str", word))
		}
	}
	return items
}

// The orders of Sweep.Order.
const (
	OrderInterleaved = "interleaved" // all blocks, then all blocks again; the order within a block is drawn
	orderRandom      = "random"      // the same with the blocks shuffled in each repeat
	orderSequential  = "sequential"  // a point with all its repeats, then the next point
)

// defaultMaxRepeats bounds the repeats that a precision may take.
const defaultMaxRepeats = 20

// readPrecision reads rel_error. It and iterations exclude each other; if one is in the file and one on the command line, the latter
// counts.
func (s *settings) readPrecision(d *document) {
	f, option := d.keys["rel_error"], d.option("rel_error")
	exact := d.keys["iterations"]
	switch {
	case option.given() && d.option("iterations").given():
		panic(option.errorf("cannot be combined with --iterations, which is an exact number: use one of them"))
	case option.given():
		if _, err := parseShare(option.Value); err != nil {
			panic(fmt.Errorf("--rel-error %w", err))
		}
		s.point.Iterations = 0
		f = option
	case !f.given() || d.option("iterations").given():
		return
	case exact.given():
		panic(f.errorf("cannot be combined with iterations (line %d), which is an exact number: use one of them", exact.line))
	}
	s.read("rel_error", f)
	s.sweep.RelError = s.point.RelError
}

// readMaxRepeats reads how many repeats rel_error may take; the repeats and it are read.
func (s *settings) readMaxRepeats(d *document) {
	s.sweep.MaxRepeats = s.point.Repeats
	f := d.choose("max_repeats")
	if d.over.UntilConclusive {
		s.readLooks(f)
		return
	}
	if s.point.RelError == 0 {
		unused := f.given() && !(f.lines && d.keys["rel_error"].given()) // --iterations may have replaced rel_error
		if unused {
			panic(f.errorf("has no effect without rel_error or --until-conclusive"))
		}
		return
	}
	if !f.given() {
		s.sweep.MaxRepeats = max(s.point.Repeats, defaultMaxRepeats)
		return
	}
	s.read("max_repeats", f)
	if s.sweep.MaxRepeats < s.point.Repeats {
		panic(f.errorf("want at least repeats (%d), got %d", s.point.Repeats, s.sweep.MaxRepeats))
	}
}

// minLook is the number of repeats before the first look. defaultMaxConclusive is the maximum number of repeats of a point that
// stays inconclusive, if max_repeats is not set.
const (
	minLook              = defaultRepeatsAgainst
	defaultMaxConclusive = 30
)

// readLooks plans the interim looks of a comparison of two commits: f is the maximum number of repeats.
func (s *settings) readLooks(f field) {
	limit := defaultMaxConclusive
	if f.given() {
		s.read("max_repeats", f)
		if limit = s.sweep.MaxRepeats; limit < minLook {
			panic(f.errorf("want at least %d with --until-conclusive, got %d", minLook, limit))
		}
	}
	s.sweep.Looks = looks(limit)
	s.point.Repeats, s.sweep.MaxRepeats = s.sweep.Looks[0], limit
}

// looks returns the numbers of repeats after which there is an interim look, the last of which is limit: 6, 9, 14, 20, 30. Each is about
// half as many again as the one before it. Few looks leave a larger share of the significance level to each, and a point that is decided
// between two of them has at most a third too many repeats.
func looks(limit int) []int {
	const (
		growth    = 1.5
		minGrowth = 1.25 // the minimum growth between two looks
	)
	var all []int
	for n := float64(minLook); minGrowth*n <= float64(limit); n *= growth {
		all = append(all, int(math.Round(n)))
	}
	return append(all, limit)
}

// share returns a part of a whole: 1% or 0.01.
func (f field) share() float64 {
	const expected = "a share (1% or 0.01)"
	if f.Kind != yaml.ScalarNode || f.ShortTag() == "!!str" && !strings.HasSuffix(f.Value, "%") {
		panic(f.want(expected))
	}
	value, err := parseShare(f.Value)
	if err != nil {
		panic(f.want(expected))
	}
	if !(value > 0 && value < 1) { // NaN too
		panic(f.errorf("want more than 0 and less than 1 (100%%), got %v", value))
	}
	return value
}

// parseShare reads a part of a whole: 1% or 0.01 is 0.01. It is an error if the text is not a number; readText checks the range.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: want a share such as 1%%", text)
	}
	if percent {
		value /= 100
	}
	return value, nil
}

// readThresholds reads the equivalence margins by metric: a share, or {abs: amount}.
func (s *settings) readThresholds(_ *document, f field) {
	s.point.Thresholds = f.thresholds()
}

func (f field) thresholds() map[string]string {
	members := f.someMembers("thresholds.")
	all := make(map[string]string, len(members))
	for _, m := range members {
		all[m.key] = m.value.threshold(m.key)
	}
	return all
}

// threshold returns the text of a threshold of a metric: 5% of its value, or an amount in its stored unit.
func (f field) threshold(metric string) string {
	if f.Kind != yaml.MappingNode {
		return shareText(f.share())
	}
	values := f.known(f.what+".", []string{"abs"})
	amount := values["abs"]
	if !amount.given() {
		panic(f.want("a share (5%) or {abs: amount}"))
	}
	return amount.amount(metric)
}

// shareText returns a share in percent.
func shareText(share float64) string {
	const digits = 12 // more would show that 7 % is not a binary fraction
	return strconv.FormatFloat(100*share, 'g', digits, 64) + "%"
}

// readAllowFailed reads how many requests may fail: a number, or a share of all.
func (s *settings) readAllowFailed(_ *document, f field) {
	if f.Kind == yaml.ScalarNode && f.ShortTag() == "!!int" {
		n := f.integer(0, maxCount, "a number of requests, or a share (1%)")
		if n > 0 {
			s.point.AllowFailed = strconv.FormatInt(n, 10)
		}
		return
	}
	if schema.Catch(func() { s.point.AllowFailed = shareText(f.share()) }) != nil {
		panic(f.want("a number of requests, or a share above 0 and below 100%"))
	}
}

// FailedAllowed reports whether AllowFailed permits this number of failed requests in a run. all is the number of all requests, or 0 if it
// is not known: then a share permits none.
func (p *Point) FailedAllowed(failed, all int64) bool {
	percent, isShare := strings.CutSuffix(p.AllowFailed, "%")
	limit, err := strconv.ParseFloat(percent, 64)
	if isShare {
		limit *= float64(all) / 100
	}
	return err == nil && float64(failed) <= limit
}

// amount returns a quantity of a metric in its stored unit, as text: 0.001, or 2000000 ns.
func (f field) amount(metric string) string {
	const expected = "an amount (1e-3, 2 ms)"
	if f.Kind != yaml.ScalarNode || f.ShortTag() == "!!null" {
		panic(f.want(expected))
	}
	q, err := schema.ParseQuantity(f.Value)
	if err != nil || q.Value < 0 {
		panic(f.want(expected))
	}
	unit, factor, known := schema.StoredUnit(q.Unit)
	kind, _ := schema.KindOfMetric(metric)
	switch {
	case q.Unit == "":
	case !known:
		panic(f.errorf("unit %q is not known", shorten(q.Unit)))
	case kind.Unit != "" && unit != kind.Unit:
		panic(f.errorf("%s is in %s, not in %s", metric, kind.Unit, shorten(q.Unit)))
	}
	text := schema.CanonicalFloat(q.Value * factor)
	if unit != "" && unit != "ratio" {
		text += " " + unit
	}
	return text
}

// commonThresholds returns the thresholds that all sections share: the thresholds of the sweep for every point.
func commonThresholds(sections []*section) map[string]string {
	common := maps.Clone(sections[0].settings.point.Thresholds)
	for _, s := range sections[1:] {
		maps.DeleteFunc(common, func(metric, text string) bool { return s.settings.point.Thresholds[metric] != text })
	}
	return common
}

// Telemetry are the readings of a machine that a sweep asks for.
type Telemetry struct {
	Hz     float64 `json:"hz"`     // readings a second, above 0
	Energy bool    `json:"energy"` // whether the energy of an iteration is computed
}

// Readings a second: if the sweep does not say, and at most, which is more often than any device has a new reading.
const (
	defaultHz = 10
	maxHz     = 1000
)

// keysOfTelemetry are the keys of telemetry.
var keysOfTelemetry = []Key{
	{Name: "hz", Value: Value{Kind: Number, Max: maxHz}, Default: "10", Doc: "Readings a second."},
	{Name: "energy", Value: switchValue, Default: "true", Doc: "Compute the energy of an iteration."},
}

// telemetryOff is the word for no readings.
const telemetryOff = "off"

// readTelemetry reads the key telemetry.
func (s *settings) readTelemetry(_ *document, f field) {
	if s.point.Telemetry = nil; f.Kind == yaml.ScalarNode && f.Value == telemetryOff {
		return
	}
	if f.Kind != yaml.MappingNode {
		panic(f.want("off or a map with hz"))
	}
	values := f.known("telemetry.", keyNames(keysOfTelemetry))
	t := Telemetry{Hz: defaultHz, Energy: true}
	if hz := values["hz"]; hz.given() {
		if schema.Catch(func() { t.Hz = toFloat(hz.positive()) }) != nil || t.Hz > maxHz {
			panic(hz.errorf("want a number above 0 and at most %d, got %s", maxHz, hz.got()))
		}
	}
	if energy := values["energy"]; energy.given() {
		t.Energy = energy.boolean()
	}
	s.point.Telemetry = &t
}

// telemetryText returns the key telemetry as JSON; empty where no readings are taken.
func telemetryText(p *Point) string {
	if p.Telemetry == nil {
		return ""
	}
	text, _ := json.Marshal(p.Telemetry) // numbers and switches always have one
	return string(text)
}

// Worker holds the keys of a sweep that a Python worker receives in the settings of its job (see PROTOCOL.md of package runner). The
// zero value of a field means that the key is not set. For other executors all fields are zero, except Seed if {seed} is used, ColdStart
// and Optional.
type Worker struct {
	Provider            string        `json:"provider,omitempty"`              // onnxrt: an execution provider
	Device              string        `json:"device,omitempty"`                // torch, tensorrt: cpu, cuda, cuda:1, mps
	Threads             int           `json:"threads,omitempty"`               // onnxrt, torch: of one operation
	Timing              string        `json:"timing,omitempty"`                // auto, perf_counter, cuda_event, triton or torch_timer
	MinRunTime          time.Duration `json:"min_run_time_ns,omitempty"`       // of torch_timer
	IterationsPerSample int           `json:"iterations_per_sample,omitempty"` // of a file; 0: the worker decides
	Prepare             string        `json:"prepare,omitempty"`               // of a file: the function that prepares each iteration
	Seed                *int64        `json:"seed,omitempty"`                  // of all generators of random numbers, 0 to 4294967295
	Reproducible        bool          `json:"reproducible,omitempty"`          // deterministic algorithms, with a seed
	ColdStart           bool          `json:"cold_start,omitempty"`            // fresh caches of kernels
	FlushL2             bool          `json:"flush_l2,omitempty"`              // empty the level-2 cache before each iteration
	Optional            bool          `json:"optional,omitempty"`              // a missing requirement skips the point and is no error

	Inputs  map[string]Input `json:"inputs,omitempty"`  // models: what inputs hold, by name
	Session *Session         `json:"session,omitempty"` // onnxrt: options of the session
}

// defaultSuiteTimeout is the deadline of all launches together.
const defaultSuiteTimeout = 4 * time.Hour

// measureRoom is the time by which a measurement may exceed its budget, unless its deadline is given: the iteration that spends the
// budget has to end too.
const measureRoom = 5 * time.Second

// defaultTimeouts returns the deadlines if the file does not set them. A process needs more time than an iteration.
func defaultTimeouts(command bool) Timeouts {
	t := Timeouts{10 * time.Minute, task.Deadlines{
		Setup: 30 * time.Second, Warmup: 15 * time.Second, Measure: defaultBudget + measureRoom,
		Validate: 15 * time.Second, Teardown: 10 * time.Second, Profile: 180 * time.Second,
	}}
	if command {
		t.Warmup, t.Measure = 10*time.Minute, 10*time.Minute
	}
	return t
}

// readTimeouts reads the deadlines; the budget and the counts are read.
func (s *settings) readTimeouts(d *document) {
	s.point.Timeouts, s.sweep.Timeout = defaultTimeouts(d.keys["command"].given()), defaultSuiteTimeout
	given := givenTimeouts(d)
	multiplier := readMultiplier(d)
	for _, k := range deadlines {
		limit := &s.sweep.Timeout
		if k.point != nil {
			limit = k.point(&s.point).(*time.Duration)
		}
		k.Value.read(given[k.Name], limit)
		*limit = multiplied(*limit, multiplier)
	}
	for tool, limit := range s.point.ProfileTimeouts {
		s.point.ProfileTimeouts[tool] = multiplied(limit, multiplier)
	}
	s.calibration = calibrationTimeouts(multiplier)
	if d.keys["command"].given() || s.point.Iterations > 0 {
		return // the deadline applies to one process, or there is no budget
	}
	s.room = room{measure: given["measure"], multiplier: multiplier}
	budget := d.keys["budget"]
	s.room.budgetSet = budget.given() && !keyOf("budget").isExpression(budget) || d.option("budget").given()
	s.room.fit(&s.point)
	s.room.budgetSet = s.room.budgetSet || budget.given() // an expression is evaluated at each point
}

// calibrationTimeouts returns the deadlines of points whose work is fixed: the defaults.
func calibrationTimeouts(multiplier float64) Timeouts {
	p := Point{Timeouts: defaultTimeouts(false)}
	for _, k := range deadlines {
		if k.point != nil {
			limit := k.point(&p).(*time.Duration)
			*limit = multiplied(*limit, multiplier)
		}
	}
	return p.Timeouts
}

// givenTimeouts returns the deadlines in the file, by name. A single timeout is the deadline of measure.
func givenTimeouts(d *document) map[string]field {
	given := d.keys["timeouts"].known("timeouts.", deadlineNames())
	if f := d.keys["timeout"]; f.given() {
		if measure := given["measure"]; measure.given() {
			panic(f.errorf("is the same as timeouts.measure (line %d): use one of them", measure.line))
		}
		given["measure"] = f
	}
	return given
}

// room relates the deadline of measure to the budget.
type room struct {
	measure    field // the deadline; not given: it makes room
	budgetSet  bool  // the budget is set
	multiplier float64
}

// fit keeps the deadline of measure above the budget, so that the budget ends the stage normally: a default deadline is extended, a
// given one that contradicts a given budget is refused.
func (r room) fit(p *Point) {
	if !r.measure.given() {
		p.Timeouts.Measure = max(p.Timeouts.Measure, p.Budget+multiplied(measureRoom, r.multiplier))
		return
	}
	if !r.budgetSet || p.Timeouts.Measure > p.Budget {
		return
	}
	limit := p.Timeouts.Measure.String()
	if r.multiplier != 1 {
		limit += fmt.Sprintf(" (multiplied by %v)", r.multiplier)
	}
	panic(r.measure.errorf("%s is not longer than the budget of %s: raise it, or lower the budget", limit, p.Budget))
}

// multiplied is at least a nanosecond, because 0 would mean no deadline.
func multiplied(d time.Duration, multiplier float64) time.Duration {
	return time.Duration(math.Ceil(float64(d) * multiplier))
}

// deadlineNames returns the keys of timeouts as an error lists them.
func deadlineNames() (names []string) {
	for _, k := range deadlines {
		names = append(names, k.Name)
	}
	return names
}

// readMultiplier returns the factor of the deadlines.
func readMultiplier(d *document) float64 {
	multiplier := 1.0
	if f := d.keys["timeout_multiplier"]; f.given() {
		multiplier = f.multiplier()
	}
	f := d.option("timeout_multiplier")
	if !f.given() {
		return multiplier
	}
	multiplier, err := strconv.ParseFloat(f.Value, 64)
	if err != nil {
		panic(f.want("a number"))
	}
	if err := checkMultiplier(multiplier); err != nil {
		panic(f.errorf("%v", err))
	}
	return multiplier
}

// multiplier returns a factor for deadlines.
func (f field) multiplier() float64 {
	number, ok := f.decode().(json.Number)
	if !ok {
		panic(f.want("a number"))
	}
	m, err := number.Float64()
	if err != nil {
		panic(f.errorf("%v", err))
	}
	if err := checkMultiplier(m); err != nil {
		panic(f.errorf("%v", err))
	}
	return m
}

func checkMultiplier(m float64) error {
	if !(m > 0 && m <= maxMultiplier) { // NaN too
		return fmt.Errorf("want a number above 0 and at most %d, got %v", maxMultiplier, m)
	}
	return nil
}
