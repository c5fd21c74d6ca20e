package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// Report is the result of reading a file.
type Report struct {
	Name    string
	Path    string // schema.FactPath of its runs
	Format  string
	Version string // of the format or the tool, if the file has it
	Runs    int
	Known   int // runs that were already stored, and are not yielded
	// KnownRun is the last of the known runs. KnownName is the file with it, if it was read before this one; else the store has it.
	KnownRun  schema.ULID
	KnownName string
	Undated   int           // new runs that cannot be ordered by time: neither they nor their session have a start
	Replaced  []Replacement // stored runs that the file has now with a start or a machine
	// OnMachines has the ids of stored runs, by their machines, that differ from new runs of the file only in the machine, which the user
	// named for both.
	OnMachines map[string][]string
	NoParams   bool              // FromPath does not match the path
	Sessions   int               // number of sessions
	RunsOf     map[string]int    // number of runs by session; the session is empty if unknown
	PointOf    map[string]string // point of the first run, by session, as RunsOf
	Commits    []string          // the last two commits of runs of an unknown session, in the order in which the file begins them
	Source     string            // runs.source of the first run
	Samples    int64
	Tags       map[[2]string][]string // stored runs by the tags, a key and a value, that they got after they were stored
	LeftOut    map[string]int         // number of items that were left out, by reason, such as calibration runs
	Names      map[string][]string    // first names of these items, if they have names, by reason
	Notes      map[string]int         // number of runs with missing or changed values, by note
	// Elsewhere has the files that contain the records left out for that reason, by their paths in the folder of the file.
	Elsewhere []string
	Refused   int       // records that cannot be understood
	Refusals  []Refusal // the first reasons, at most maxRefusals
}

// AllKnown reports whether the file has runs, and all were already stored.
func (r *Report) AllKnown() bool { return r.Known > 0 && r.Known == r.Runs }

// nothing reports whether the file has no results, and the report has no reason for that.
func (r *Report) nothing() bool {
	return r.Runs == 0 && r.Refused == 0 && len(r.LeftOut) == 0 && len(r.Elsewhere) == 0 && len(r.Tags) == 0
}

// Replacement is a stored run without a start or a machine, or with another start, and the same run with those that the user gives.
type Replacement struct{ Old, New string }

// Refusal is a reason why records cannot be understood.
type Refusal struct {
	Where string // the first record: a line, a JSON pointer or a name; empty for the whole file
	More  int    // number of further records with the same reason
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

// Unnamed returns the number of refused records whose reasons are not in Refusals.
func (r *Report) Unnamed() int {
	unnamed := r.Refused - len(r.Refusals)
	for _, refusal := range r.Refusals {
		unnamed -= refusal.More
	}
	return unnamed
}

// maxReasonLength is the maximum length of a reason, in bytes.
const maxReasonLength = 300

// maxRefusals is the number of reasons that a report names.
const maxRefusals = 20

// Version sets the version of the tool or the format.
func (o *Output) Version(version string) {
	if o.Report.Version == "" {
		o.Report.Version = version
	}
}

// LeaveOut counts items of a file that are neither runs nor samples.
func (o *Output) LeaveOut(why string, n int) {
	Put(&o.Report.LeftOut, why, o.Report.LeftOut[why]+n)
}

// maxLeftOutNames is the maximum number of kept names of items that were left out for one reason.
const maxLeftOutNames = 100

// LeaveOutNamed is LeaveOut for items with names.
func (o *Output) LeaveOutNamed(why string, names ...string) {
	if len(names) > 0 {
		o.LeaveOut(why, len(names))
		o.Report.name(why, names)
	}
}

// name keeps the names of items that were left out.
func (r *Report) name(why string, names []string) {
	kept := r.Names[why]
	for _, name := range names {
		if name = Brief(name); len(kept) < maxLeftOutNames && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	Put(&r.Names, why, kept)
}

// Note counts runs with missing or changed values, so that users know their limits.
func (o *Output) Note(what string, n int) {
	Put(&o.Report.Notes, what, o.Report.Notes[what]+n)
}

// LeaveTo leaves out items that another file has with more details. name is its path from this file's folder. If the user
// named only this file, the other one is read as well.
func (o *Output) LeaveTo(name, why string, n int) {
	if n > 0 {
		o.LeaveOut(why, n)
	}
	if !o.in.Beside(name) {
		return
	}
	full := path.Join(path.Dir(o.in.Path), name)
	if !o.elsewhere[full] {
		Put(&o.elsewhere, full, true)
		o.Report.Elsewhere = append(o.Report.Elsewhere, full)
	}
}

// Refuse counts a record that cannot be understood; reading continues. A reader must return errors that are not about a
// record.
func (o *Output) Refuse(where string, err error) { o.Report.Refuse(where, err) }

// Refuse counts a record that is not stored.
func (r *Report) Refuse(where string, err error) {
	r.Refused++
	why := clipped(err.Error(), maxReasonLength)
	if i := slices.IndexFunc(r.Refusals, func(r Refusal) bool { return r.Why == why }); i >= 0 {
		r.Refusals[i].More++
	} else if len(r.Refusals) < maxRefusals {
		r.Refusals = append(r.Refusals, Refusal{Where: where, Why: why})
	}
}

// Count counts a run.
func (r *Report) Count(run *schema.Run) {
	r.Runs++
	r.Source = cmp.Or(r.Source, run.Source)
	Put(&r.RunsOf, run.SessionID, r.RunsOf[run.SessionID]+1)
	if r.RunsOf[run.SessionID] == 1 {
		Put(&r.PointOf, run.SessionID, run.PointID)
		if run.SessionID != "" {
			r.Sessions++
		}
	}
	if commit := run.Env.GitCommit; run.SessionID == "" && commit != "" && !slices.Contains(r.Commits, commit) {
		r.Commits = append(r.Commits[max(0, len(r.Commits)-1):], commit)
	}
	r.Samples += samplesOf(run)
}

// samplesOf counts the samples of all metrics of a run.
func samplesOf(r *schema.Run) (n int64) {
	for i := range r.Metrics {
		n += int64(max(len(r.Metrics[i].Ticks), len(r.Metrics[i].Reals)))
	}
	return n
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

// Noted returns the notes, sorted.
func (r *Report) Noted() []string { return slices.Sorted(maps.Keys(r.Notes)) }

// LeftOut is a number of items that were left out for a reason.
type LeftOut struct {
	N   int
	Why string // with the names of the first items, if they have names
}

func (l LeftOut) String() string { return fmt.Sprintf("%d left out: %s", l.N, l.Why) }

// LeftOuts lists the items that were left out of files, sorted by reason.
func LeftOuts(files ...*Report) (all []LeftOut) {
	const shown = 5
	sum := Report{LeftOut: map[string]int{}}
	for _, f := range files {
		for why, n := range f.LeftOut {
			sum.LeftOut[why] += n
			sum.name(why, f.Names[why])
		}
	}
	for _, why := range slices.Sorted(maps.Keys(sum.LeftOut)) {
		names, text := sum.Names[why], why
		if len(names) > 0 {
			text += " (" + strings.Join(names[:min(len(names), shown)], ", ")
			if more := len(names) - shown; more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
			text += ")"
		}
		all = append(all, LeftOut{sum.LeftOut[why], text})
	}
	return all
}
