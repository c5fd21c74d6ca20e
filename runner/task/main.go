package task

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/neurolens/neurolens/runner/shellwords"
)

// The first arguments that make this program a supervisor or a worker; the second one is the run directory.
const (
	roleSupervise = "__supervise"
	roleWorker    = "__worker"
)

// The files of a run directory.
const (
	jobFile     = "job.json"
	samplesFile = "samples"
	stdoutFile  = "stdout"
	stderrFile  = "stderr"
	stackFile   = "stack"
	eventsFile  = "events"
	keptFile    = "kept"
)

// The descriptors that the roles begin with.
const (
	fdWorkerEvents     = 3 // of the worker
	fdOrders           = 3 // of the supervisor
	fdSupervisorEvents = 4
	fdPassedEvents     = 5
	fdCommandEvents    = 3 // of each process of a command
)

// eventsVariable is the variable of the environment in which a process of a command finds the number of its descriptor for
// events.
const eventsVariable = "NEUROLENS_EVENTS"

// Main performs an internal role if argv (the program first) names one; handled is false if it does not. A program must call it before
// anything else, because it is started once or twice for each run. code is the exit status.
func Main(argv []string, registry WorkerFunc) (code int, handled bool) {
	if len(argv) != 3 {
		return 0, false
	}
	switch argv[1] {
	case roleSupervise:
		return supervise(argv[2]), true
	case roleWorker:
		return work(argv[2], registry), true
	}
	return 0, false
}

// loadJob reads the job of a run directory.
func loadJob(dir string) (*job, error) {
	text, err := os.ReadFile(filepath.Join(dir, jobFile))
	if err != nil {
		return nil, err
	}
	return parseJob(text)
}

func parseJob(text []byte) (*job, error) {
	var j job
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("reading %s: %w", jobFile, err)
	}
	if j.Proto != proto {
		return nil, fmt.Errorf("protocol %d: want %d", j.Proto, proto)
	}
	j = j.mapped(shellwords.FromUTF8)
	return &j, nil
}

// environ is the environment that base and the additions make. The last value of a key wins; a program would take
// the first of two.
func environ(base, additions []string) []string {
	at := map[string]int{}
	var merged []string
	for _, list := range [][]string{base, additions} {
		for _, entry := range list {
			key, _, _ := strings.Cut(entry, "=")
			if i, ok := at[key]; ok {
				merged[i] = entry
				continue
			}
			at[key] = len(merged)
			merged = append(merged, entry)
		}
	}
	return merged
}
