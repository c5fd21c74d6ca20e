package foreign

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

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

// maxReasonLength is how much is said of a refusal.
const maxReasonLength = 300

// maxRefusals is how many reasons a report names.
const maxRefusals = 20

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
	why := clipped(err.Error(), maxReasonLength)
	if i := slices.IndexFunc(o.Report.Refusals, func(r Refusal) bool { return r.Why == why }); i >= 0 {
		o.Report.Refusals[i].More++
	} else if len(o.Report.Refusals) < maxRefusals {
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

// Noted are the notes, by name.
func (r *Report) Noted() []string { return slices.Sorted(maps.Keys(r.Notes)) }

// Reasons are why something was left out, by name.
func (r *Report) Reasons() []string { return slices.Sorted(maps.Keys(r.LeftOut)) }
