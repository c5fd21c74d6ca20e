package schema

import "math"

// Scale is how two values of a metric are compared.
type Scale string

// The scales: metrics are compared by their ratio or, if they may be 0, by their difference.
const (
	ScaleRatio      Scale = "ratio"
	ScaleDifference Scale = "difference"
)

// ScaleOf returns how two values of a metric are compared. Unknown metrics are compared by their ratio.
func ScaleOf(metric string) Scale {
	if k, ok := KindOfMetric(metric); ok {
		return k.Scale
	}
	return ScaleRatio
}

// InUnit converts a location to the unit of its metric. Locations of metrics that are compared by ratio are natural
// logarithms.
func (s Scale) InUnit(location float64) float64 {
	if s == ScaleRatio {
		return min(math.Exp(location), math.MaxFloat64)
	}
	return location
}

// Change returns a difference of locations as a change for people: the ratio minus 1, or the difference in the unit. Infinite
// differences stay infinite.
func (s Scale) Change(difference float64) float64 {
	if s == ScaleRatio && !math.IsInf(difference, 0) {
		return math.Expm1(difference)
	}
	return difference
}

// Between returns the change from one value to another, both in the unit, as Change does.
func (s Scale) Between(from, to float64) float64 {
	if s == ScaleRatio {
		return to/from - 1
	}
	return to - from
}

// MetricKind describes a metric that NeuroLens knows by name.
type MetricKind struct {
	Name    string
	Unit    string // stored unit; empty if it is the unit of the measured value
	Better  Better
	Scale   Scale
	Meaning string
}

// PrimaryMetric is the primary metric of a run, unless its sweep names another one.
const PrimaryMetric = "latency"

// MetricKinds are the metrics with a fixed meaning. A benchmark can report any others.
var MetricKinds = []MetricKind{
	{"latency", "ns", BetterLower, ScaleRatio, "time of one iteration"},
	{"wall_time", "ns", BetterLower, ScaleRatio, "whole time of one process that a shell runs; latency leaves out the start of the shell"},
	{"cpu_user", "ns", BetterLower, ScaleRatio, "user CPU time of one iteration: of the process and of the children that it waited for"},
	{"cpu_system", "ns", BetterLower, ScaleRatio, "system CPU time of one iteration: of the process and of the children that it waited for"},
	{"peak_memory", "B", BetterLower, ScaleRatio, "peak resident memory (RSS) of the largest process"},
	{"instructions", "", BetterLower, ScaleRatio, "instructions that the processor executed"},
	{"cycles", "", BetterLower, ScaleRatio, "cycles of the processor"},
	{"branch_misses", "", BetterLower, ScaleDifference, "branches that the processor predicted wrongly"},
	{"cache_misses", "", BetterLower, ScaleDifference, "accesses to memory that missed the last level of the cache"},
	{"page_faults", "", BetterLower, ScaleDifference, "accesses to memory for which the kernel had to map a page"},
	{"context_switches", "", BetterLower, ScaleDifference, "times that the kernel took a thread off a processor"},
	{"task_clock", "ns", BetterLower, ScaleRatio, "time on a processor, of all threads together"},
	{"peak_memory_cgroup", "B", BetterLower, ScaleRatio, "peak memory of the control group, with its page cache"},
	{"device_memory_peak", "B", BetterLower, ScaleRatio, "peak memory allocated on the device"},
	{"load_time", "ns", BetterLower, ScaleRatio, "time to load the model, without its first run"},
	{"ttft", "ns", BetterLower, ScaleRatio, "time to the first token"},
	{"tpot", "ns", BetterLower, ScaleRatio, "time per output token after the first"},
	{"itl", "ns", BetterLower, ScaleRatio, "time between two tokens"},
	{"duration", "ns", BetterLower, ScaleRatio, "time from the start of a benchmark of a server to its end"},
	{MetricFailedRequests, "", BetterLower, ScaleDifference, "requests that failed"},
	{"throughput", "1/s", BetterHigher, ScaleRatio, "items per second"},
	{"bandwidth", "B/s", BetterHigher, ScaleRatio, "bytes moved per second"},
	{"compute", "flop/s", BetterHigher, ScaleRatio, "floating-point operations per second"},
	{"energy", "mJ", BetterLower, ScaleRatio, "energy of one iteration"},
	{"power", "mW", BetterLower, ScaleRatio, "power drawn"},
	{"cpu_energy", "mJ", BetterLower, ScaleRatio, "energy of one iteration, of the packages of the processor"},
	{"temperature", "Cel", BetterLower, ScaleDifference, "temperature of the device"},
	{"clock_sm", "MHz", BetterHigher, ScaleRatio, "clock of the multiprocessors"},
	{"clock_memory", "MHz", BetterHigher, ScaleRatio, "clock of the memory of the device"},
	{"throttle", "", "", ScaleDifference, "why the clock of the device is lower than it could be: a mask of bits as NVML defines them"},
	{"gpu_utilization", "ratio", BetterHigher, ScaleDifference, "share of time in which the device ran any kernel"},
	{"memory_utilization", "ratio", BetterHigher, ScaleDifference, "share of time in which the memory of the device was read or written"},
	{"device_memory_used", "B", "", ScaleDifference, "memory of the device in use by all processes"},
	{"cpu_frequency", "MHz", BetterHigher, ScaleRatio, "highest clock among the processors"},
	{"cpu_pressure", "ratio", "", ScaleDifference, "share of time in which a task waited for a processor"},
	{"cpu_steal", "ratio", "", ScaleDifference, "share of processor time that the host of a virtual machine gave to others"},
	{"kernel_time", "ns", BetterLower, ScaleRatio, "time of the kernels of one iteration under a profiler; of all in an imported profile"},
	{"memory_time", "ns", BetterLower, ScaleRatio, "the same of copies and sets of memory on the device"},
	{"sm_throughput", "ratio", BetterHigher, ScaleDifference, "throughput of the multiprocessors, of its peak, while kernels run"},
	{"dram_throughput", "ratio", BetterHigher, ScaleDifference, "throughput of the device's memory, of its peak, while kernels run"},
	{"l2_hit_rate", "ratio", BetterHigher, ScaleDifference, "share of the accesses to the L2 cache that hit"},
	{"occupancy", "ratio", BetterHigher, ScaleDifference, "share of the warps that a multiprocessor can hold which are active"},
	{"accuracy", "ratio", BetterHigher, ScaleDifference, "share of correct answers"},
	{"max_error", "", BetterLower, ScaleDifference, "largest error against the reference, in its unit"},
	{"rmse", "", BetterLower, ScaleDifference, "root mean square error against the reference, in its unit"},
	{"relative_error", "ratio", BetterLower, ScaleDifference, "2-norm of the error divided by the 2-norm of the reference"},
	{"mismatched", "", BetterLower, ScaleDifference, "values that differ from the reference by more than the tolerance"},
	{"cosine_similarity", "ratio", BetterHigher, ScaleDifference, "cosine of the angle between output and reference"},
}

// KindOfMetric finds a metric by name.
func KindOfMetric(name string) (MetricKind, bool) {
	for _, k := range MetricKinds {
		if k.Name == name {
			return k, true
		}
	}
	return MetricKind{}, false
}
