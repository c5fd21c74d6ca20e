package layout

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// hardwareOf describes the device that computed. All GPUs in a run's environment are from NVIDIA.
func hardwareOf(run *schema.Run) (hardware, error) {
	env := &run.Env
	h := hardware{
		Vendor: "CPU", GPUModel: orUnknownText(env.CPUModel), GPUCount: 1, DriverVersion: orUnknownText(env.OSKernel),
	}
	memory := env.MemoryBytes
	if env.GPUName != "" && !onCPU(run) {
		h.Vendor, h.GPUModel, h.DriverVersion = "NVIDIA", env.GPUName, orUnknownText(env.DriverVersion)
		if env.GPUCount != nil {
			h.GPUCount = max(*env.GPUCount, 1)
		}
		memory = nil
		if n, err := strconv.ParseInt(env.Facts["gpu.0.memory"], 10, 64); err == nil {
			memory = &n
		}
	}
	if memory == nil || *memory <= 0 {
		return h, fmt.Errorf("the memory size of %s is not known", h.GPUModel)
	}
	h.MemoryGB = float64(*memory) / 1e9
	return h, nil
}

// onCPU reports whether the run says that it did not compute on the machine's GPU.
func onCPU(run *schema.Run) bool {
	return run.Applied["device"] == "cpu" || run.Applied["provider"] == "CPUExecutionProvider"
}

func environmentOf(env schema.Env) environment {
	return environment{
		CUDAVersion: orUnknownText(env.CUDAVersion), DriverVersion: orUnknownText(env.DriverVersion), GPUName: orUnknownText(env.GPUName),
		OS: orUnknownText(strings.TrimSpace(env.OS + " " + env.OSKernel)), PythonVersion: orUnknownText(env.PythonVersion),
	}
}

// unknownText is the harness's word for an unknown text.
const unknownText = "unknown"

func orUnknownText(text string) string {
	if text == "" {
		return unknownText
	}
	return text
}

// nameOf returns the name of what the run measured.
func nameOf(run *schema.Run) string {
	if run.Model != "" {
		return run.Model
	}
	return orUnknownText(run.Benchmark)
}

// batchSize, seqLen and precision are the requested values, otherwise those that the benchmark reports.
func batchSize(run *schema.Run) *int64 { return askedOrApplied(run, run.BatchSize, "batch_size") }
func seqLen(run *schema.Run) *int64    { return askedOrApplied(run, run.SeqLen, "seq_len") }

func precision(run *schema.Run) string {
	if run.Precision != "" {
		return run.Precision
	}
	return run.Applied["precision"]
}

func askedOrApplied(run *schema.Run, asked *int64, name string) *int64 {
	if asked != nil {
		return asked
	}
	if n, err := strconv.ParseInt(run.Applied[name], 10, 64); err == nil {
		return &n
	}
	return nil
}

// latencyMS returns a quantile of the latency of one iteration, or nil if it was not measured.
func latencyMS(run *schema.Run, p float64) *float64 {
	ns := quantile(run, schema.PrimaryMetric, "ns", p)
	if ns == nil {
		return nil
	}
	return new(toMS(*ns))
}

// toMS returns a duration in ms without digits that are rounding errors.
func toMS(ns float64) float64 { return schema.RoundedTo(schema.CertainDigits, ns/1e6) }

// share returns the median of a metric from 0 to 1, or nil if it was not measured.
func share(run *schema.Run, name string) *float64 {
	v := quantile(run, name, "ratio", .5)
	if v == nil || *v < 0 || *v > 1 {
		return nil
	}
	return v
}

// quantile returns a quantile of a metric's samples, or nil if the run has none in that unit or they are not finite.
func quantile(run *schema.Run, name, unit string, p float64) *float64 {
	m := run.Metric(name)
	if m == nil || m.Unit != unit {
		return nil
	}
	values := m.Values()
	if len(values) == 0 && p == .5 { // only the summary was read
		return m.Summary.P50
	}
	v := stat.Quantile(slices.Sorted(slices.Values(values)), p)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// ulidAsUUID formats the bits of a ULID as a UUID.
func ulidAsUUID(id schema.ULID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
