package task

import (
	"os"
	"path/filepath"
	"strings"
)

// Left are the files and outputs that a run has left.
type Left struct {
	Outcome        *Outcome
	Dir            string   // that Spec.RunDir stands for
	Profile        string   // the file of a profiler's pass; it need not be there
	Stdout, Stderr *os.File // what was printed, from the first byte on; of a command what its last process did
}

// runDirVariable is the environment variable with the directory of the run.
const runDirVariable = "NEUROLENS_RUN_DIR"

// profileFile is where a worker leaves what a profiler recorded, in the directory of the run.
const profileFile = "profile.json"

// ownDir is the directory for the benchmark in the directory of the run.
const ownDir = "own"

// in is the job with the private directory of the run inserted for a word in its texts.
func (j job) in(dir, word string) job {
	own := filepath.Join(dir, ownDir)
	if word != "" {
		j = j.mapped(func(text string) string { return strings.ReplaceAll(text, word, own) })
	}
	j.Env = append(j.Env[:len(j.Env):len(j.Env)], runDirVariable+"="+own)
	return j
}

// mapped is the job with its texts that programs or the system get changed.
func (j job) mapped(change func(string) string) job {
	for _, text := range []*string{&j.Stdin, &j.Stdout, &j.Dir} {
		*text = change(*text)
	}
	for _, texts := range []*[]string{&j.Command, &j.Program, &j.Env, &j.Keep, &j.Start, &j.Hooks.Setup, &j.Hooks.Prepare, &j.Hooks.Cleanup} {
		changed := make([]string, len(*texts))
		for i, text := range *texts {
			changed[i] = change(text)
		}
		*texts = changed
	}
	return j
}
