package sweep

import "time"

// Worker holds the keys of a sweep that a Python worker receives in the settings of its job (see PROTOCOL.md of package runner). The
// zero value of a field means that the key is not set. For other executors all fields are zero, except Seed if {seed} is used,
// ColdStart and Optional.
type Worker struct {
	Provider            string        `json:"provider,omitempty"`              // onnxrt: an execution provider
	Device              string        `json:"device,omitempty"`                // torch, tensorrt: cpu, cuda, cuda:1, mps
	Threads             int           `json:"threads,omitempty"`               // onnxrt, torch: of one operation
	Timing              string        `json:"timing,omitempty"`                // auto, perf_counter, cuda_event, triton or torch_timer
	MinRunTime          time.Duration `json:"min_run_time_ns,omitempty"`       // of torch_timer
	IterationsPerSample int           `json:"iterations_per_sample,omitempty"` // of a file; 0: the worker decides
	Prepare             string        `json:"prepare,omitempty"`               // of a file: the function that prepares each iteration
	Seed                *int64        `json:"seed,omitempty"`                  // of all generators of random numbers, 0 to 4294967295
	Reproducible        bool          `json:"reproducible,omitempty"`          // deterministic algorithms, with a seed
	ColdStart           bool          `json:"cold_start,omitempty"`            // fresh caches of kernels
	FlushL2             bool          `json:"flush_l2,omitempty"`              // empty the level-2 cache before each iteration
	Optional            bool          `json:"optional,omitempty"`              // what is not there is skipped, and no error

	Inputs  map[string]Input `json:"inputs,omitempty"`  // models: what inputs hold, by name
	Session *Session         `json:"session,omitempty"` // onnxrt: options of the session
}
