package facts

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// Writer is what only those who write facts know of their names. Of the zero value no fact is volatile, or a setting.
type Writer struct {
	Volatile func(fact string) bool // it differs from run to run, or from one start of the machine to the next
	Setting  func(fact string) bool // it is a setting of the sweep
}

// OfRun tells facts that are about one run, and say nothing of a change of the machine.
func (w Writer) OfRun(fact string) bool {
	return strings.HasPrefix(fact, "runner.") || w.volatile(fact)
}

func (w Writer) volatile(fact string) bool { return w.Volatile != nil && w.Volatile(fact) }

// appliedAxes are the facts read back that say what an axis says.
var appliedAxes = []string{"applied.compute", "applied.precision", "applied.batch_size", "applied.seq_len", "applied.backend", "applied.model"}

// incidental tells differences that say nothing about a change, or that another says already.
func (w Writer) incidental(d Difference) bool {
	fact, ok := strings.CutPrefix(d.Name, "env.")
	if !ok {
		return d.Name == "host_id" || slices.Contains(appliedAxes, d.Name)
	}
	return w.OfRun(fact) || fact == schema.FactSession || fact == schema.FactPath || strings.HasPrefix(fact, "timer.") || strings.HasPrefix(fact, "git.")
}

// programs are the facts of the programs that a run is of. No axis has them, so that points that they differ in may be the same.
var programs = []string{"env.runner.command", "env.runner.setup", "env.runner.prepare", "env.runner.cleanup"}

// IsProgram tells a difference in the command of a run, or in one that is run around it: a list of words as JSON.
func IsProgram(d Difference) bool { return slices.Contains(programs, d.Name) }

// Telling are the differences that say something about a change: what differs from run to run, and what a column says too,
// are not among them. Programs and settings are, though they are facts of the runner.
func (w Writer) Telling(all []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(all), func(d Difference) bool { return w.incidental(d) && !w.asked(d) })
}

// asked tells a difference in what the sweep asks for.
func (w Writer) asked(d Difference) bool {
	fact, ok := strings.CutPrefix(d.Name, "env.")
	return IsProgram(d) || ok && w.Setting != nil && w.Setting(fact)
}

// Untold is the difference in the hash of all that runs were told, where nothing else says what it is: a setting differs whose value
// is not stored, such as env: of a sweep.
func (w Writer) Untold(all []Difference) (d Difference, found bool) {
	at := slices.IndexFunc(all, func(d Difference) bool { return d.Name == "env."+schema.FactConfig })
	if at < 0 || slices.ContainsFunc(all, w.configures) {
		return Difference{}, false
	}
	return all[at], true
}

// configures tells differences that the hash of all settings has a part in.
func (w Writer) configures(d Difference) bool {
	return w.asked(d) || d.Name == "executor" || d.Name == "applied.threads" || strings.HasPrefix(d.Name, "env.python.") || strings.HasPrefix(d.Name, "env.build.")
}

// Once are the telling differences, each once: that what was asked for was applied is not among them.
func (w Writer) Once(all []Difference) []Difference {
	return slices.DeleteFunc(w.Telling(all), func(d Difference) bool {
		asked, ok := strings.CutPrefix(d.Name, "applied.")
		return ok && slices.ContainsFunc(all, func(other Difference) bool {
			return other.Name == asked && slices.Equal(other.Base, d.Base) && slices.Equal(other.Head, d.Head)
		})
	})
}

// Silent tells differences that say nothing of a change, or that columns say already. Settings are no such, though they
// are facts of the runner.
func (w Writer) Silent(d Difference) bool {
	fact, ok := strings.CutPrefix(d.Name, "env.")
	return w.incidental(d) && !w.asked(d) || ok && strings.HasPrefix(fact, "git.")
}

// Unrelated tells facts by which runs of one side are not to be told apart. Those that differ from run to run are to be,
// but for what a run says of itself.
func (w Writer) Unrelated(d Difference) bool {
	fact, ok := strings.CutPrefix(d.Name, "env.")
	return w.Silent(d) && !(ok && w.volatile(fact))
}
