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
		j.Stdin, j.Stdout = strings.ReplaceAll(j.Stdin, word, own), strings.ReplaceAll(j.Stdout, word, own)
		for _, texts := range []*[]string{&j.Command, &j.Env, &j.Keep, &j.Start, &j.Hooks.Setup, &j.Hooks.Prepare, &j.Hooks.Cleanup} {
			placed := make([]string, len(*texts))
			for i, text := range *texts {
				placed[i] = strings.ReplaceAll(text, word, own)
			}
			*texts = placed
		}
	}
	j.Env = append(j.Env[:len(j.Env):len(j.Env)], runDirVariable+"="+own)
	return j
}
