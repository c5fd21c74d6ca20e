package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Facts of Env that both the code that writes runs and the code that compares them use.
const (
	// FactControl is "true" in runs of points that the sweep names as controls, which the change under test cannot affect. It describes
	// the purpose of a point, not the measurement: it is not a setting, and a run without it counts when a session is resumed.
	FactControl = "runner.control"

	// FactBaseline is the baseline of the sweep, as axis=value: the other values of that axis are compared with it. It is
	// not a setting.
	FactBaseline = "runner.baseline"

	// FactProfile is the profiler of a run of purpose profile.
	FactProfile = "runner.profile"

	// FactRead is the format of the output that a run was read from: one of the results that a program printed. The run of the program that
	// printed them does not have it.
	FactRead = "runner.read"

	// FactLooks is in runs of a session that continued until the comparison of its sides was decided. It lists the numbers of repeats
	// after which there was an interim look (an interim analysis of a group sequential test), ascending and separated by commas.
	FactLooks = "runner.looks"
	// FactOrigins is the layer that each given setting comes from, as JSON: {"iterations":"preset quick"}.
	FactOrigins = "runner.origins"

	// FactThreshold is the prefix of the facts with the thresholds of a sweep. The name of the metric follows; the value is in the syntax
	// of judge.ParseThreshold.
	FactThreshold = "runner.threshold."
	// FactConfig is the hash of all settings of a run, including those whose values are not stored.
	FactConfig = "runner.config_sha256"

	// FactCampaign is the name of the campaign to which the session of a run belongs: of several sessions that share out one sweep.
	FactCampaign = "runner.campaign"

	// FactMeasuredDevice is the device that a run measured, in a session that measures several at once.
	FactMeasuredDevice = "runner.measured_device"

	// FactCounted is in some runs of a session that continues other sessions: the ids of the earlier runs that the session counts as its
	// own, separated by spaces. The runs of the session together have all of these ids.
	FactCounted = "runner.counted"

	// FactFoundBackend, FactFoundImports and FactFoundConfig hold the findings of discover about the file of a run: its backend, the
	// packages that it imports as a JSON list, and the settings next to it as a JSON object.
	FactFoundBackend = "discover.backend"
	FactFoundImports = "discover.imports"
	FactFoundConfig  = "discover.config"

	// FactDevice is the UUID of the device whose readings are metrics of a run: see telemetry in runner/STORED.md.
	FactDevice = "telemetry.device"

	// FactSession is the name of the session in a foreign file.
	FactSession = "source.session"

	// FactPath is the path of the foreign file in the folder that the user named, or its own name.
	FactPath = "source.path"
	// FactChanged is the time of the last change of the foreign file, in RFC 3339, for runs whose start the user gave.
	FactChanged = "source.changed"
)

// MetricClock is the clock of the multiprocessors of a device while a run measured.
const MetricClock = "clock_sm"

// MetricOverNorm is the relative_error of the QuASIM bench tools: the root mean square of the error over the 2-norm of the reference. That
// of NeuroLens, the 2-norm of the error over the 2-norm of the reference, is larger by the square root of the number of values.
const MetricOverNorm = "rmse_by_norm"

// WarnUnchecked is the warning for a run whose result could not be checked. The result may be wrong, so the run never
// counts as the best.
const WarnUnchecked = "unchecked"

// WarnBisect is the warning for a run that a search for a commit measured. Its commit may be old however new the run is, so it is no
// part of a history.
const WarnBisect = "bisect"

// The tags with the answer of a search for a commit. The runs have them that compared the ends of the search, of each point that is answered.
const (
	TagBisectGood   = "bisect.good"   // the commit after which the search began
	TagBisectMetric = "bisect.metric" // the metric that was compared
	TagBisectFound  = "bisect.found"  // the first changed commit, or one of the words below
)

// What TagBisectFound says instead of a commit.
const (
	BisectNothing   = "nothing"   // the ends do not differ by more than the threshold
	BisectUndecided = "undecided" // several commits are left, or it is not known whether the ends differ
)

// BisectedCommit returns the commit in a value of TagBisectFound; empty if there is none. Anybody can set a tag to any text, and commands are
// printed with the commit, so only the hexadecimal id of an object of git counts.
func BisectedCommit(found string) string {
	if len(found) < 7 || len(found) > 64 || strings.Trim(found, "0123456789abcdef") != "" {
		return ""
	}
	return found
}

// FactCompletedRequests and FactFailedRequests are the numbers of requests of a run that completed and that failed. MetricFailedRequests is
// the metric with the number of failed requests.
const (
	FactCompletedRequests = "requests.completed"
	FactFailedRequests    = "requests.failed"
	MetricFailedRequests  = "requests_failed"
)

// FailedRequestsWarning is the regular expression of the warnings that RequestsFailed returns, in this version and in earlier ones. A
// run with such a warning never counts as the best: its values cover only the completed requests, and a server that fails requests has
// less to do.
const FailedRequestsWarning = `^[0-9]+ (of [0-9]+ )?requests? failed$`

var failedRequests = regexp.MustCompile(FailedRequestsWarning)

// RequestsFailed returns the warning for a run in which more requests failed than are allowed. all is 0 if the number of requests is
// unknown.
func RequestsFailed(failed, all int64) string {
	switch {
	case all > 0:
		return fmt.Sprintf("%d of %d requests failed", failed, all)
	case failed == 1:
		return "1 request failed"
	}
	return fmt.Sprintf("%d requests failed", failed)
}

// RequestsOf returns the number of requests of a run that failed, by its metric, and of all its requests. all is 0 if it is not known.
func RequestsOf(r *Run) (failed, all int64) {
	const exact = 1 << 53 // a float64 represents every integer up to it
	m := r.Metric(MetricFailedRequests)
	if m == nil {
		return 0, 0
	}
	for _, n := range m.Values() { // of several processes
		if n > 0 { // not NaN
			failed += int64(min(n, exact))
		}
	}
	if completed, err := strconv.ParseInt(r.Env.Facts[FactCompletedRequests], 10, 64); err == nil {
		all = failed + completed
	}
	return failed, all
}

// FailedRequests returns the number of failed requests in a warning of RequestsFailed. is is false for any other warning.
func FailedRequests(warning string) (failed int64, is bool) {
	if !failedRequests.MatchString(warning) {
		return 0, false
	}
	digits, _, _ := strings.Cut(warning, " ")
	failed, err := strconv.ParseInt(digits, 10, 64)
	if err != nil { // more than anybody can send
		failed = math.MaxInt64
	}
	return failed, true
}

// The kinds of error of the stage validate that mean that a result is wrong. Other kinds mean that it could not be read.
const (
	KindValidate         = "validate"          // the benchmark's own check failed
	KindOutput           = "output"            // the output differs from the reference, is not finite, or is missing
	KindCheck            = "check"             // the result does not meet a condition of the sweep
	KindNotDeterministic = "not_deterministic" // the result differs from that of another run
)

// WrongResults are these kinds.
var WrongResults = []string{KindValidate, KindOutput, KindCheck, KindNotDeterministic}

// IsWrong reports whether a run ended because its result is wrong. Such a run never counts as the best, however fast it
// was.
func IsWrong(status Status, stage Stage, kind string) bool {
	return status == StatusError && stage == StageValidate && slices.Contains(WrongResults, kind)
}
