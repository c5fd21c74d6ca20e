package query

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// FactWriter classifies facts by name, as only the program that writes them can. With the zero value no fact is volatile or a setting.
type FactWriter struct {
	Volatile func(fact string) bool // the fact differs from run to run, or from one boot of the machine to the next
	Setting  func(fact string) bool // whether the fact is a setting of the sweep
}

// OfRun reports whether a fact describes a single run, so that it cannot show a change of the machine.
func (w FactWriter) OfRun(fact string) bool {
	return strings.HasPrefix(fact, "runner.") || w.volatile(fact)
}

func (w FactWriter) volatile(fact string) bool { return w.Volatile != nil && w.Volatile(fact) }

// appliedAxes are the applied settings that repeat an axis.
var appliedAxes = []string{"applied.compute", "applied.precision", "applied.batch_size", "applied.seq_len", "applied.backend", "applied.model"}

// incidental reports whether a difference is irrelevant, or repeats another one.
func (w FactWriter) incidental(d FactDifference) bool {
	fact, ok := strings.CutPrefix(d.Name, "env.")
	if !ok {
		return d.Name == "host_id" || slices.Contains(appliedAxes, d.Name)
	}
	return w.OfRun(fact) || fact == schema.FactSession || fact == schema.FactPath || fact == schema.FactChanged || strings.HasPrefix(fact, "timer.") || strings.HasPrefix(fact, "git.")
}

// programs are the facts with the commands of a run. They are not axes, so runs of the same point may differ in them.
var programs = []string{"env.runner.command", "env.runner.setup", "env.runner.prepare", "env.runner.cleanup"}

// IsProgram reports whether a difference is in the command of a run, or in a command around it. Its values are JSON lists of words.
func IsProgram(d FactDifference) bool { return slices.Contains(programs, d.Name) }

// Telling returns the differences that are relevant to a change. Facts that differ from run to run, and facts that a column has too, are
// left out. Programs and settings are kept, although they are facts of the runner.
func (w FactWriter) Telling(all []FactDifference) []FactDifference {
	return slices.DeleteFunc(slices.Clone(all), func(d FactDifference) bool { return w.incidental(d) && !w.asked(d) })
}

// asked reports whether a difference is in a program or a setting of the sweep.
func (w FactWriter) asked(d FactDifference) bool {
	fact, ok := strings.CutPrefix(d.Name, "env.")
	return IsProgram(d) || ok && w.Setting != nil && w.Setting(fact)
}

// HiddenSetting returns the difference in the hash of all settings, if no other difference explains it. Then the runs differ in a setting
// whose value is not stored, such as env: of a sweep.
func (w FactWriter) HiddenSetting(all []FactDifference) (d FactDifference, found bool) {
	at := slices.IndexFunc(all, func(d FactDifference) bool { return d.Name == "env."+schema.FactConfig })
	if at < 0 || slices.ContainsFunc(all, w.configures) {
		return FactDifference{}, false
	}
	return all[at], true
}

// configures reports whether a difference changes the hash of all settings.
func (w FactWriter) configures(d FactDifference) bool {
	return w.asked(d) || d.Name == "executor" || d.Name == "applied.threads" || strings.HasPrefix(d.Name, "env.python.") || strings.HasPrefix(d.Name, "env.build.")
}

// Once returns the informative differences without differences in applied settings that only repeat the requested setting.
func (w FactWriter) Once(all []FactDifference) []FactDifference {
	return slices.DeleteFunc(w.Telling(all), func(d FactDifference) bool {
		asked, ok := strings.CutPrefix(d.Name, "applied.")
		return ok && slices.ContainsFunc(all, func(other FactDifference) bool {
			return other.Name == asked && slices.Equal(other.Base, d.Base) && slices.Equal(other.Head, d.Head)
		})
	})
}

// Silent reports whether a difference is irrelevant to a change, or repeats a column. Programs and settings are not silent, although
// they are facts of the runner.
func (w FactWriter) Silent(d FactDifference) bool {
	fact, ok := strings.CutPrefix(d.Name, "env.")
	return w.incidental(d) && !w.asked(d) || ok && (fact == "machine" || strings.HasPrefix(fact, "git."))
}

// Unrelated reports whether a fact should not be used to distinguish the runs of one side. Facts that differ from run to run should be
// used, except those that only describe the run itself.
func (w FactWriter) Unrelated(d FactDifference) bool {
	fact, ok := strings.CutPrefix(d.Name, "env.")
	return w.Silent(d) && !(ok && w.volatile(fact))
}
