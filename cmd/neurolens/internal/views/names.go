package views

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// MergedAxes are the axes in one, for tables that have no room for all: bs=1 seq=64 fp32.
func (r Reader) MergedAxes(varying []Axis) []Axis {
	if len(varying) < 2 {
		return varying
	}
	rows := len(varying[0].Values)
	if at := slices.IndexFunc(varying, func(x Axis) bool { return x.Name == "benchmark" }); at >= 0 && !r.Whole {
		varying = slices.Clone(varying)
		varying[at].Values = withoutCommon(varying[at].Values)
	}
	return []Axis{{Name: "point", Values: PointNames(varying, rows)}}
}

// withoutCommon leaves out what names of benchmarks begin with alike, file and class, where that is long: their ends tell
// them apart.
func withoutCommon(names []string) []string {
	const long = 8
	common := names[0]
	for _, name := range names {
		n := 0
		for n < min(len(common), len(name)) && common[n] == name[n] {
			n++
		}
		common = common[:n]
	}
	common = common[:strings.LastIndexAny(common, "/:")+1]
	if len(common) < long {
		return names
	}
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = "…" + name[len(common):]
	}
	return short
}

// PointNames name each row by the axes in which rows differ; empty where there are none.
func PointNames(varying []Axis, rows int) []string {
	names := make([]string, rows)
	for row := range names {
		var parts []string
		for _, x := range varying {
			if x.Values[row] != "" {
				parts = AppendConstant(parts, x.Name, x.Values[row])
			}
		}
		names[row] = strings.Join(parts, " ")
	}
	return names
}

// ShortRun is what people see of a run id, and may type.
func ShortRun(id string) string {
	if len(id) <= 8 {
		return id
	}
	return id[len(id)-8:]
}

// OrUnknown is a text, or what stands where there is none.
func OrUnknown(s string) string {
	if s == "" {
		return term.Unknown
	}
	return s
}

// ShortCommit is the beginning of a commit's id, as git shows it.
func ShortCommit(commit string) string { return commit[:min(len(commit), 7)] }

// Uncommitted follows a commit where the code has changes that no commit has.
const Uncommitted = " + uncommitted changes"

// HashText is a value of a change, cut where it is a hash.
func HashText(value string) string {
	const enough = 12
	if len(value) > enough && strings.Trim(value, "0123456789abcdef") == "" {
		return value[:enough]
	}
	return OrUnknown(value)
}
