package foreign

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Added has the values that a user adds to all runs of a file that do not have them.
type Added struct {
	Tags   map[string]string
	Params map[string]string // parameters and axes
	// FromPath takes parameters from the path of a file (schema.FactPath): one for each named group. They override
	// Params.
	FromPath *regexp.Regexp
	Machine  string
	Start    Start // determines the start of runs; nil: none
}

// Output takes the runs of one file.
type Output struct {
	Report Report

	in        *Input
	elsewhere map[string]bool
	added     Added
	fromPath  map[string]string
	path      pathFact
	also      map[string]string
	headings  *headings         // nil if the file has none
	titles    map[string]string // by point, the line of headings.other above its first result
	held      *schema.Valid     // the last run of the file, unless the file turns out to be another one
	noted     string            // the note of noteRepeat
	yield     func(schema.Valid) bool
	identity  identity
	digester  schema.Digester
	sessions  fileSessions
	start     RunStart
	records   int              // number of calls of Run
	looks     bool             // the file is only read to find out which of its runs are stored
	former    map[int][]former // its stored runs with no start or machine, or another start, by the number of the record
}

// former is a stored run of a file, with no start or machine, or with another start than the file has now.
type former struct {
	id      string
	started bool // the user gave it a start
}

// Also sets a fact of the next run that is no part of its identity: earlier versions did not read it, so with it a file that they read
// would be another one. An empty text sets nothing.
func (o *Output) Also(name, text string) {
	if text != "" {
		Put(&o.also, strings.ReplaceAll(name, "\x00", ""), text)
	}
}

// errStopped ends the reading of a file when no more runs are needed.
var errStopped = errors.New("stopped")

// Run adds a run. The reader sets the benchmark and its results. Run adds source, purpose, ids and the values of the user. where names
// the record in a refusal. If Run returns an error, the reader must return it.
func (o *Output) Run(where string, r schema.Run) error { return o.RunWith(where, r, nil) }

// RunOr is Run. If err is not nil, the record of the run cannot be understood, and is refused instead.
func (o *Output) RunOr(where string, r schema.Run, err error) error {
	if err != nil {
		o.Refuse(where, err)
		return nil
	}
	return o.Run(where, r)
}

// RunWith adds a run whose record this version reads differently from earlier versions, or of which it reads more. r is the run that
// they read. more changes it to the stored one, after the digest for the id was computed. So a file that an earlier version has stored
// is still known, and is not stored twice. The stored run stays unchanged.
func (o *Output) RunWith(where string, r schema.Run, more func(r *schema.Run)) error {
	o.records++
	defer func() { o.also = nil }()
	before := o.identity.place
	o.headings.set(where, &r)
	there, err := o.complete(&r, more)
	o.headings.note(where, r.PointID)
	o.noteRepeat(where, r.PointID)
	if refused, is := errors.AsType[*refusedError](err); is {
		o.Refuse(where, refused.cause)
		return nil
	}
	if err != nil {
		return err
	}
	if o.looks {
		return o.look(&r, there)
	}
	replaced := o.former[o.records]
	started := slices.IndexFunc(replaced, func(f former) bool { return f.started })
	if !there && o.added.Start == nil && started >= 0 { // the user gave a start before, and gives none now
		there, o.identity.place = true, before
		id, err := schema.ParseULID(replaced[started].id)
		if err != nil {
			return err
		}
		o.identity.latest = latest{id: id}
		replaced = nil
	}
	valid, err := schema.Check(r)
	if err != nil {
		o.identity.place = before
		o.Refuse(where, errors.Unwrap(err))
		return nil
	}
	if o.identity.place != before && o.identity.standing != standsOld && o.identity.unless == "" { // the store has a longer version of a last one
		o.identity.known.note(&o.identity.chain, &r)
	}
	o.Report.Count(&r)
	if !there && r.StartedAt.IsZero() && !datedSession(&r) {
		o.Report.Undated++
	}
	for _, old := range replaced {
		if old.id != r.RunID && (o.added.Start != nil || o.added.Machine != "") {
			o.Report.Replaced = append(o.Report.Replaced, Replacement{Old: old.id, New: r.RunID})
		}
	}
	if there {
		o.Report.Known++
		o.Report.KnownRun, o.Report.KnownName = o.identity.latest.id, o.identity.latest.name
		return nil
	}
	if o.identity.unless != "" {
		o.held = &valid
		return nil
	}
	if !o.yield(valid) {
		return errStopped
	}
	return nil
}

// equalUnderTitles is the note of results that are repeats although they may not be meant as such.
const equalUnderTitles = "equal results below different lines, such as %q, count as repeats of one point: write headings (## A) above them, or split the file and give --param"

// noteRepeat notes a result below another line than the first result of its point.
func (o *Output) noteRepeat(where, point string) {
	if o.headings == nil {
		return
	}
	title := o.headings.other.at(where)
	if first, known := o.titles[point]; known && first != title && first != "" && title != "" {
		if o.noted == "" {
			o.noted = fmt.Sprintf(equalUnderTitles, Brief(title))
		}
		o.Note(o.noted, 1)
	} else if !known {
		Put(&o.titles, point, title)
	}
}

// look records the id of a stored run. At the first run that is not stored, the rest of the file is not stored, either.
func (o *Output) look(r *schema.Run, there bool) error {
	if !there {
		return errStopped
	}
	o.former[o.records] = append(o.former[o.records], former{r.RunID, o.added.Start != nil})
	return nil
}

// datedSession reports whether the session of a run has a time.
func datedSession(r *schema.Run) bool {
	id, err := schema.ParseULID(r.SessionID)
	return err == nil && id.Dated()
}

// Tag reports tags that a run got after it was stored. They are not a part of the run.
func (o *Output) Tag(run string, tags map[string]string) {
	for key, value := range tags {
		tag := [2]string{key, value}
		Put(&o.Report.Tags, tag, append(o.Report.Tags[tag], run))
	}
}

// refusedError means that a store does not take a run.
type refusedError struct{ cause error }

func (e *refusedError) Error() string { return e.cause.Error() }

// maxErrorLength is how many bytes of a run's error are kept.
const maxErrorLength = 8 << 10

// complete adds the values that the reader does not set. there means that the run is already stored.
func (o *Output) complete(r *schema.Run, more func(r *schema.Run)) (there bool, err error) {
	if r.Source == "" {
		r.Source = o.Report.Format
	}
	if r.Purpose == "" {
		r.Purpose = schema.PurposeMeasure
	}
	if r.Status == "" {
		r.Status = schema.StatusOK
	}
	r.Error = clipped(r.Error, maxErrorLength)
	if r.Primary == "" && len(r.Metrics) > 0 {
		r.Primary = r.Metrics[0].Name
	}
	for i := range r.Metrics { // summaries of samples are computed, not taken from the file
		if m := &r.Metrics[i]; m.Ticks != nil || m.Reals != nil {
			m.Summary = schema.Summary{}
		}
	}
	if r.RunID != "" { // it comes from a store, and must not change
		r.PointID = schema.PointID(r)
		return false, nil
	}
	given, err := o.add(r)
	if err != nil {
		return false, err
	}
	removed := removeNUL(r)
	if there, err = o.name(r, more); there || err != nil {
		return there, err
	}
	o.path.set(r, given)
	for name, text := range o.also {
		if r.Env.Facts[name] == "" {
			SetFact(r, name, strings.ReplaceAll(text, "\x00", ""))
		}
	}
	if removed {
		o.Note(nulRemoved, 1)
		r.Warnings = append(r.Warnings, nulRemoved)
	}
	warnFailedRequests(r)
	said := warnings(r)
	if slices.Contains(said, WarnNotFinite) {
		o.Note("runs with NaN or infinite samples, which have no summary", 1)
	}
	for _, text := range said {
		if !slices.Contains(r.Warnings, text) { // the file may have the warnings of NeuroLens itself
			r.Warnings = append(r.Warnings, text)
		}
	}
	return false, nil
}

// add adds the values of the user that the file does not have. given means that the start is one of them.
func (o *Output) add(r *schema.Run) (given bool, err error) {
	for _, params := range []map[string]string{o.fromPath, o.added.Params} {
		for name, text := range params {
			if !HasAxis(r, name) {
				SetAxis(r, name, text)
			}
		}
	}
	switch machine := o.added.Machine; {
	case r.Env.Machine == "":
		r.Env.Machine = machine
	case machine != "" && machine != r.Env.Machine:
		o.Note("--machine was not used: the file names "+Brief(r.Env.Machine), 1)
	}
	if !r.StartedAt.IsZero() || o.added.Start == nil {
		return false, nil
	}
	if o.start == nil {
		o.start = o.added.Start(o.in)
	}
	at, err := o.start(r)
	if err != nil {
		return false, &refusedError{err}
	}
	SetStart(r, at, schema.TimeFile)
	return true, nil
}

// name sets the ids of a run, which depend on its content and on the records before it in the file. They do not depend on the user's
// tags, or on the position in the file, which a run without a start gets only for sorting. there means that the run is already stored.
func (o *Output) name(r *schema.Run, more func(r *schema.Run)) (there bool, err error) {
	r.PointID = schema.PointID(r)
	digest, before, earlier := o.digester.Of(r), o.identity, r.StartedAt
	if more != nil {
		more(r)
		r.PointID = schema.PointID(r)
	}
	id, there, err := o.identity.of(r, digest, earlier)
	if !there && before.standing != standsNew {
		// A refused record is not in the store, either, so it must not count as the first difference from a stored file.
		if cause := invalid(*r); cause != nil {
			o.identity = before
			return false, &refusedError{cause}
		}
	}
	if err != nil {
		return there, err
	}
	r.RunID = id.String()
	seed := r.RunID
	if o.identity.standing == standsOld {
		seed = digest
	}
	r.SessionID = o.sessions.of(r, seed)
	if r.StartedAt.IsZero() && r.PositionIndex == nil {
		r.PositionIndex = new(int64(o.identity.records - 1))
	}
	if len(o.added.Tags) > 0 {
		tags := maps.Clone(o.added.Tags)
		maps.Copy(tags, r.Tags)
		r.Tags = tags
	}
	return there, nil
}

// invalid returns the reason why a store does not take a run, independent of its ids.
func invalid(r schema.Run) error {
	r.RunID, r.SessionID = schema.ULIDFrom(r.StartedAt, [10]byte{}).String(), ""
	return errors.Unwrap(r.Validate())
}

// bits returns the first 80 bits of SHA-256 over words.
func bits(words ...string) [10]byte {
	sum := sha256.Sum256([]byte(strings.Join(words, " ")))
	return [10]byte(sum[:10])
}

// pathFact adds the path of the file to the facts of runs. To runs with a start from the user, it also adds the time at which the file was
// changed. Neither is a part of the identity of a run: a file elsewhere, or with another name, has the same runs. Runs that share a map of
// facts still share one.
type pathFact struct {
	path, changed string
	given         bool              // the last run got its start from the user
	from, to      map[string]string // of the last run: its facts, and these with the path
}

func newPathFact(in *Input) pathFact {
	return pathFact{path: strings.ToValidUTF8(in.Given, "\ufffd"), changed: in.changed()}
}

// changed returns when the file was changed last; empty for a pipe.
func (in *Input) changed() string {
	if in.Folder == nil {
		return ""
	}
	info, err := fs.Stat(in.Folder, in.Path)
	if err != nil {
		return ""
	}
	return info.ModTime().UTC().Format(time.RFC3339Nano)
}

func (p *pathFact) set(r *schema.Run, given bool) {
	if p.path == "" {
		return
	}
	// from is held, so that no other map has its address.
	same := p.to != nil && p.given == given && len(p.from) == len(r.Env.Facts) && reflect.ValueOf(p.from).Pointer() == reflect.ValueOf(r.Env.Facts).Pointer()
	if !same {
		p.from, p.to, p.given = r.Env.Facts, make(map[string]string, len(r.Env.Facts)+2), given
		maps.Copy(p.to, p.from)
		p.to[schema.FactPath] = p.path
		if given && p.changed != "" {
			p.to[schema.FactChanged] = p.changed
		}
	}
	r.Env.Facts = p.to
}

// pathParams returns the parameters in a path: one for each named group of an expression. matches is false if it does not
// match.
func pathParams(expression *regexp.Regexp, path string) (params map[string]string, matches bool) {
	if expression == nil {
		return nil, true
	}
	found := expression.FindStringSubmatch(path)
	params = map[string]string{}
	for i, name := range expression.SubexpNames() {
		if name != "" && found != nil && found[i] != "" {
			params[name] = Canonical(strings.ToValidUTF8(found[i], "\ufffd"))
		}
	}
	return params, found != nil
}

// PathExpression compiles Added.FromPath, whose named groups are parameters. It is nil for an empty text.
func PathExpression(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	axes := map[string]bool{}
	for _, name := range expression.SubexpNames() {
		axis := schema.CanonicalAlias(name)
		if name != "" && axes[axis] {
			return nil, fmt.Errorf("two groups are named %s", axis)
		}
		axes[axis] = true
	}
	delete(axes, "")
	if len(axes) == 0 {
		return nil, errors.New("want named groups, such as model=(?P<model>[^/]+)")
	}
	return expression, nil
}

// Names of warnings about imported runs, besides those of schema/stat.
const (
	// WarnAggregates: the file has samples that cannot all be read, so its aggregates are used in place of them.
	WarnAggregates = "aggregates"

	// WarnMean: the file has neither samples nor a median of the primary metric, so its mean is used in place of the
	// median.
	WarnMean = "mean"

	// WarnNotFinite: samples of the primary metric are NaN or infinite, so there is no summary.
	WarnNotFinite = "not_finite"

	// WarnRounded: samples of the primary metric are integers that a float64 cannot represent, so the summary is rounded.
	// The samples are not.
	WarnRounded = "rounded"
)

// warnFailedRequests adds a warning of failed requests, unless the file has one: they may be allowed in the run.
func warnFailedRequests(r *schema.Run) {
	failed, all := schema.RequestsOf(r)
	if failed == 0 || r.Status != schema.StatusOK {
		return
	}
	text := schema.RequestsFailed(failed, all)
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, text) }) {
		r.Warnings = append(r.Warnings, text)
	}
}

// maxWarned is the number of samples up to which their order is checked, because the checks take more than linear time.
const maxWarned = 10_000

// warnings returns the warnings about the primary metric of a run. Requests and tokens are different from each other, so
// their spread is no warning.
func warnings(r *schema.Run) []string {
	m := r.Metric(r.Primary)
	if m == nil {
		return nil
	}
	if m.Ticks == nil && m.Reals == nil {
		if m.Summary.P50 == nil && m.Summary.Mean != nil {
			return []string{WarnMean}
		}
		return nil
	}
	if slices.ContainsFunc(m.Reals, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return []string{WarnNotFinite}
	}
	if slices.ContainsFunc(m.Ticks, func(t int64) bool { return t > exactIntegers || t < -exactIntegers }) {
		return []string{WarnRounded}
	}
	timed := m.Level == schema.LevelIteration || m.Level == schema.LevelProcess
	if !timed || max(len(m.Ticks), len(m.Reals)) > maxWarned {
		return nil
	}
	return stat.Warnings(m.Values(), 0, 0) // the step of the clock is unknown
}
