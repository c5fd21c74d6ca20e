package foreign

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path"
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

// Report is what came of a file.
type Report struct {
	Name     string
	Format   string
	Version  string // of the format or of the tool, where the file says it
	Runs     int
	Known    int            // of these runs, those that were there already: they are not yielded
	NoParams bool           // FromPath does not match the path
	Sessions int            // that the runs are of
	RunsOf   map[string]int // how many are of each session; of the empty one, where it is not known
	Samples  int64
	LeftOut  map[string]int // what is no run, by why: aggregates of samples, calibration
	Notes    map[string]int // what the runs lack or have changed, by how often
	// Elsewhere are the files that have what was left out for that reason, by their paths in the folder of the file.
	Elsewhere []string
	Refused   int       // records that cannot be understood
	Refusals  []Refusal // the first reasons
}

// Refusal is why records cannot be understood.
type Refusal struct {
	Where string // the first of them: a line, a JSON pointer, a name; empty where it is the file
	More  int    // records of which it is true, too
	Why   string
}

func (r Refusal) String() string {
	where := r.Where
	if r.More > 0 {
		where = strings.TrimSpace(fmt.Sprintf("%s and %d more", where, r.More))
	}
	if where == "" {
		return r.Why
	}
	return where + ": " + r.Why
}

// Unnamed is how many refused records have reasons that Refusals does not name.
func (r *Report) Unnamed() int {
	unnamed := r.Refused - len(r.Refusals)
	for _, refusal := range r.Refusals {
		unnamed -= refusal.More
	}
	return unnamed
}

// longestWhy is how much is said of a refusal.
const longestWhy = 300

// mostRefusals is how many reasons a report names.
const mostRefusals = 20

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

// Version says which version of the tool or of the format wrote the file.
func (o *Output) Version(version string) {
	if o.Report.Version == "" {
		o.Report.Version = version
	}
}

// LeaveOut counts what a file has that is no run and no sample.
func (o *Output) LeaveOut(why string, n int) {
	if o.Report.LeftOut == nil {
		o.Report.LeftOut = map[string]int{}
	}
	o.Report.LeftOut[why] += n
}

// Note says what the runs lack, or what was changed in them, so that nobody takes them for more than they are.
func (o *Output) Note(what string, n int) {
	if o.Report.Notes == nil {
		o.Report.Notes = map[string]int{}
	}
	o.Report.Notes[what] += n
}

// LeaveTo leaves out what a file has, too, that stands at a path from this one's folder and says more of it. Whoever named
// this file alone has that one read as well.
func (o *Output) LeaveTo(name, why string, n int) {
	if n > 0 {
		o.LeaveOut(why, n)
	}
	if !o.in.Beside(name) {
		return
	}
	full := path.Join(path.Dir(o.in.Path), name)
	if o.elsewhere == nil {
		o.elsewhere = map[string]bool{}
	}
	if !o.elsewhere[full] {
		o.elsewhere[full] = true
		o.Report.Elsewhere = append(o.Report.Elsewhere, full)
	}
}

// Refuse counts a record that cannot be understood, and goes on. An error that is no Mismatch and no record's is to be
// returned by the reader instead.
func (o *Output) Refuse(where string, err error) {
	o.Report.Refused++
	why := clipped(err.Error(), longestWhy)
	if i := slices.IndexFunc(o.Report.Refusals, func(r Refusal) bool { return r.Why == why }); i >= 0 {
		o.Report.Refusals[i].More++
	} else if len(o.Report.Refusals) < mostRefusals {
		o.Report.Refusals = append(o.Report.Refusals, Refusal{Where: where, Why: why})
	}
}

// RefuseMismatch refuses the record of a Mismatch. Any other error is returned.
func (o *Output) RefuseMismatch(err error) error {
	var m *Mismatch
	if !errors.As(err, &m) {
		return err
	}
	o.Refuse(m.Where, m.Err)
	return nil
}

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

// longestError is how much is kept of what a run printed as its error.
const longestError = 8 << 10

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
	r.Error = clipped(r.Error, longestError)
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
		o.Note("runs with samples that are NaN or infinite, which nothing sums up", 1)
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

// Noted are the notes, by name.
func (r *Report) Noted() []string { return slices.Sorted(maps.Keys(r.Notes)) }

// Reasons are why something was left out, by name.
func (r *Report) Reasons() []string { return slices.Sorted(maps.Keys(r.LeftOut)) }
