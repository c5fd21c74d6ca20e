package foreign

import (
	"crypto/sha256"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Added is what a user adds to all runs of a file that do not say it themselves.
type Added struct {
	Tags   map[string]string
	Params map[string]string // axes, too
	// FromPath makes parameters of the path of a file (schema.FactPath), by the names of its groups; they come before Params.
	FromPath *regexp.Regexp
	Machine  string
	At       time.Time
}

// Output takes the runs of one file.
type Output struct {
	Report Report

	in        *Input
	elsewhere map[string]bool
	added     Added
	fromPath  map[string]string
	path      pathFact
	held      *schema.Valid // the last of the file, unless it is another one
	yield     func(schema.Valid) bool
	identity  identity
	sessions  fileSessions
}

// errStopped ends the reading of a file when nobody wants more.
var errStopped = errors.New("stopped")

// Run takes a run. The reader says what was measured; source, purpose, ids and what the user added are filled in here.
// where is what a refusal of the run names. An error ends the reading and is to be returned.
func (o *Output) Run(where string, r schema.Run) error {
	before := o.identity.place
	there, err := o.complete(&r)
	if err != nil {
		return err
	}
	valid, err := schema.Check(r)
	if err != nil {
		o.identity.place = before
		o.Refuse(where, errors.Unwrap(err))
		return nil
	}
	if o.identity.place != before && o.identity.standing != standsOld && !o.identity.last { // of that a longer one is known
		o.identity.known.note(&o.identity.chain, &r)
	}
	o.Report.Runs++
	o.count(r.SessionID)
	o.Report.Samples += samplesOf(&r)
	if there {
		o.Report.Known++
		return nil
	}
	if o.identity.last {
		o.held = &valid
		return nil
	}
	if !o.yield(valid) {
		return errStopped
	}
	return nil
}

// count counts a run of a session.
func (o *Output) count(session string) {
	if o.Report.RunsOf == nil {
		o.Report.RunsOf = map[string]int{}
	}
	o.Report.RunsOf[session]++
	if session != "" && o.Report.RunsOf[session] == 1 {
		o.Report.Sessions++
	}
}

// maxErrorLength is how much is kept of what a run printed as its error.
const maxErrorLength = 8 << 10

// complete fills in what the reader does not say. there tells whether there is such a run already.
func (o *Output) complete(r *schema.Run) (there bool, err error) {
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
	for i := range r.Metrics { // what a file says of samples that it has itself is not believed, but computed
		if m := &r.Metrics[i]; m.Ticks != nil || m.Reals != nil {
			m.Summary = schema.Summary{}
		}
	}
	if r.RunID != "" { // it comes from a store: to change it would make it another run
		r.PointID = schema.PointID(r)
		return false, nil
	}
	o.add(r)
	removed := removeNUL(r)
	if there, err = o.name(r); there || err != nil {
		return there, err
	}
	o.path.set(r)
	if removed {
		o.Note(nulRemoved, 1)
		r.Warnings = append(r.Warnings, nulRemoved)
	}
	said := warnings(r)
	if slices.Contains(said, WarnNotFinite) {
		o.Note("runs with NaN or infinite samples, which have no summary", 1)
	}
	r.Warnings = append(r.Warnings, said...)
	return false, nil
}

// add gives a run what the user knows and the file does not say.
func (o *Output) add(r *schema.Run) {
	for _, params := range []map[string]string{o.fromPath, o.added.Params} {
		for name, text := range params {
			if !HasAxis(r, name) {
				SetAxis(r, name, text)
			}
		}
	}
	if r.Env.Machine == "" {
		r.Env.Machine = o.added.Machine
	}
	if r.StartedAt.IsZero() && !o.added.At.IsZero() {
		SetStart(r, o.added.At, schema.TimeFile)
	}
}

// name gives a run its ids, of what it says and of what stands before it in the file; the user's tags do not count, and its
// place in the file does not, which a run without a start is given to be listed by. there tells whether there is such a run
// already.
func (o *Output) name(r *schema.Run) (there bool, err error) {
	r.PointID = schema.PointID(r)
	digest := schema.DigestOf(r)
	id, there, err := o.identity.of(r, digest)
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

// bits are the first 80 bits of SHA-256 over words.
func bits(words ...string) [10]byte {
	sum := sha256.Sum256([]byte(strings.Join(words, " ")))
	return [10]byte(sum[:10])
}

// samplesOf counts the samples of all metrics of a run.
func samplesOf(r *schema.Run) (n int64) {
	for i := range r.Metrics {
		n += int64(max(len(r.Metrics[i].Ticks), len(r.Metrics[i].Reals)))
	}
	return n
}
