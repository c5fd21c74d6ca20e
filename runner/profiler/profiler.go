// Package profiler knows the profilers that start the program which they watch: with which words each is started, what it leaves, how its
// report is read, and what it says where it cannot work.
//
// It starts nothing. A pass goes through [Tool.Start], whose words stand before the words of the program. It is judged by the report in
// [Tool.Report] and never by the exit status, which is the exit status of the program, or 0 without a report. [Tool.Convert] makes a text or a
// database of the report, which a reader of results reads by [Tool.Format]. Without a report, [Tool.Refusal] finds the reason in what
// the tool printed.
package profiler

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Grace is how long a tool may take to write its report after a deadline.
const Grace = 15 * time.Second

// The ranges (NVTX) of a Python worker in a pass. The first one spans all iterations after the warm-up.
const (
	RangeMeasure   = "neurolens:measure"
	RangeIteration = "neurolens:iteration"
	RangeDomain    = "neurolens" // of the package nvtx; ranges of torch have none
)

// Tool is a profiler that starts the program.
type Tool struct {
	Name   string
	Finds  string   // its program, in PATH
	Report string   // the file in the folder of the pass by which a pass is judged
	Kept   string   // the file that is kept, which viewers open; empty: the report
	Env    []string // of the tool and the program
	// Format is the name of the format in which a reader of results reads the file Read; empty: nothing is read.
	Format, Read string
	// Metric is a metric whose value is a number in the report, see [Tool.Total]; empty: there is none.
	Metric string
	// Ranges reports whether the tool can be restricted to RangeMeasure.
	Ranges bool
	// Whole reports whether the tool records all of a worker, with its set-up and warm-up.
	Whole bool
	// EndsProgram reports whether the tool may end the program before the program is done.
	EndsProgram bool

	command  string                               // the first argument, if it is none of options
	options  []string                             // arguments with their values, with the folder of the pass for DIR
	ranges   []string                             // further options that restrict it to RangeMeasure
	convert  []string                             // arguments with which the same program makes Read, by itself or by its standard output
	printed  bool                                 // the standard output of convert is made into Read
	last     string                               // the argument before the program; empty: none
	fold     func(r io.Reader, w io.Writer) error // makes Read of Report, or of what convert printed; nil: it is that
	total    *regexp.Regexp                       // its first group is the value of Metric
	begun    string                               // it prints when RangeMeasure begins; empty: nothing
	partial  string                               // an ending of files that it leaves where it cannot make its report
	source   string                               // what a user has to install
	refusals []refusal
}

// refusal is a line that a tool prints where it cannot work, and what helps.
type refusal struct {
	line   *regexp.Regexp // its first group, if it has one, is the reason
	remedy string
}

// folderWord stands for the folder of a pass.
const folderWord = "DIR"

var tools = []Tool{
	{
		Name: "nsys", Finds: "nsys", Report: "profile.nsys-rep", Format: "nsys", Read: "profile.sqlite", Ranges: true,
		// The names of ranges are not registered, so that the capture compares texts.
		Env: []string{"NSYS_NVTX_PROFILER_REGISTER_ONLY=0"},
		// Calls of the operating system and samples of the processor are left out: they make reports a hundred times as large.
		command: "profile",
		options: []string{"--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none", "--wait=primary", "--force-overwrite=true", "--output=DIR/profile"},
		ranges:  []string{"--capture-range=nvtx", "--nvtx-capture=" + RangeMeasure + "@*", "--capture-range-end=stop"},
		convert: []string{"export", "--type=sqlite", "--force-overwrite=true", "--output=DIR/profile.sqlite", "DIR/profile.nsys-rep"},
		begun:   "Capture range started", partial: ".qdstrm", source: "Nsight Systems",
		refusals: []refusal{
			{regexp.MustCompile(`(?m)^Importer error status: (.*)$`), "install the whole of Nsight Systems: its host part makes the report"},
		},
	},
	{
		Name: "ncu", Finds: "ncu", Report: "profile.ncu-rep", Format: "ncu", Read: "profile.csv", Ranges: true, EndsProgram: true,
		// It would copy its sections into the home folder.
		Env: []string{"NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT=1"},
		options: []string{
			"--target-processes all", "--set basic", "--section MemoryWorkloadAnalysis", "--clock-control none", "--launch-count 50", "--kill yes",
			"--force-overwrite", "--export DIR/profile",
		},
		// The domain stands before the range here, and a / behind a range that is pushed.
		ranges:  []string{"--nvtx", "--nvtx-include " + RangeMeasure + "/", "--nvtx-include " + RangeDomain + "@" + RangeMeasure + "/"},
		convert: []string{"--import", "DIR/profile.ncu-rep", "--csv", "--page", "raw", "--print-units", "base"}, printed: true,
		source: "Nsight Compute",
		refusals: []refusal{
			{
				regexp.MustCompile(`(?m)^==ERROR== (ERR_NVGPUCTRPERM.*)$`),
				"run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0",
			},
			{regexp.MustCompile(`(?m)^==ERROR== (.*)$`), ""},
			{regexp.MustCompile(`(?m)^==WARNING== (No kernels were profiled.*)$`), ""},
		},
	},
	{
		Name: "perf", Finds: "perf", Report: "perf.data", Kept: "profile.folded", Format: "folded", Read: "profile.folded", Whole: true,
		command: "record", options: []string{"--quiet", "--call-graph=fp", "--no-buildid-cache", "--output=DIR/perf.data"}, last: "--",
		convert: []string{"script", "--input=DIR/perf.data"}, printed: true, fold: foldPerf,
		source: "perf of the kernel (Debian: linux-perf)",
		refusals: []refusal{
			{regexp.MustCompile(`(?m)^(Access to performance monitoring.*)$`), "sysctl kernel.perf_event_paranoid=1"},
		},
	},
	{
		Name: "py-spy", Finds: "py-spy", Report: "stacks", Kept: "profile.folded", Format: "folded", Read: "profile.folded",
		command: "record", options: []string{"--format=raw", "--output=DIR/stacks"}, last: "--", fold: foldPySpy,
		source: "py-spy (pip install py-spy)",
		refusals: []refusal{
			{regexp.MustCompile(`(?m)^(Permission Denied.*)$`), "run as root, or give it CAP_SYS_PTRACE"},
			{regexp.MustCompile(`(?m)^Error: (.*)$`), ""},
		},
	},
	{
		Name: "cachegrind", Finds: "valgrind", Report: "profile.cachegrind",
		// Without a simulation of caches, which is not what a processor of today does, it is half as slow.
		options: []string{"--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=DIR/profile.cachegrind"},
		Metric:  "instructions", total: regexp.MustCompile(`(?m)^summary: ([0-9]+)`), source: "Valgrind",
	},
}

// Total returns the value of Metric in a report; false: it is not in it.
func (t *Tool) Total(report string) (int64, bool) {
	m := t.total.FindStringSubmatch(report)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return n, err == nil && n > 0
}

// Names lists the tools.
func Names() (names []string) {
	for i := range tools {
		names = append(names, tools[i].Name)
	}
	return names
}

// Of returns the tool of a name; false: it is none that starts the program.
func Of(name string) (Tool, bool) {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return tools[i], true
}

// Start returns the words that stand before the words of the program. program is the path of the tool, folder the folder of the pass, and
// further are arguments of the user, which replace options of the same name. ranges restricts the tool to RangeMeasure.
func (t *Tool) Start(program, folder string, ranges bool, further []string) []string {
	words, options := []string{program}, t.options
	if t.command != "" {
		words = append(words, t.command)
	}
	if ranges {
		options = slices.Concat(options, t.ranges)
	}
	for _, option := range options {
		if !slices.ContainsFunc(further, func(word string) bool { return nameOf(word) == nameOf(option) }) {
			words = append(words, strings.Fields(option)...)
		}
	}
	words = slices.Concat(in(folder, words), further)
	if t.last != "" {
		words = append(words, t.last)
	}
	return words
}

// nameOf returns the name of an option: --set of "--set basic" and of "--set=basic".
func nameOf(option string) string {
	if i := strings.IndexAny(option, "= "); i >= 0 {
		return option[:i]
	}
	return option
}

// Convert returns the words that make the file Read of a report, or what Fold makes it of, and the file to which their standard output goes;
// empty: it is not needed. No words: nothing is to be started.
func (t *Tool) Convert(program, folder string) (words []string, output string) {
	if t.convert == nil {
		return nil, ""
	}
	if t.printed {
		output = filepath.Join(folder, t.Read)
		if t.fold != nil {
			output += ".printed"
		}
	}
	return in(folder, append([]string{program}, t.convert...)), output
}

// Fold makes the file Read of the report in a folder, after Convert, where the tool itself does not.
func (t *Tool) Fold(folder string) error {
	if t.fold == nil {
		return nil
	}
	from := filepath.Join(folder, t.Report)
	if t.printed {
		from = filepath.Join(folder, t.Read+".printed")
	}
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(filepath.Join(folder, t.Read))
	if err != nil {
		return err
	}
	return errors.Join(t.fold(r, w), w.Close())
}

func in(folder string, words []string) []string {
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, folderWord, folder)
	}
	return words
}

// Absent returns why the tool cannot be started, where its program is missing.
func (t *Tool) Absent() string {
	return t.Finds + " is not installed: no such program in PATH; install " + t.source
}

// Refusal returns why there is no report, in the tool's own words, with what helps where that is known; empty: it did not say. printed
// are standard output and error of the run.
func (t *Tool) Refusal(printed ...string) string {
	for _, r := range t.refusals {
		for _, text := range printed {
			m := r.line.FindStringSubmatch(text)
			switch {
			case m == nil:
			case r.remedy == "":
				return strings.TrimSpace(m[1])
			default:
				return strings.TrimSpace(m[1]) + "; " + r.remedy
			}
		}
	}
	return ""
}

// Begun reports whether the tool saw the beginning of RangeMeasure, by what was printed; true if it does not say.
func (t *Tool) Begun(printed ...string) bool {
	return t.begun == "" || slices.ContainsFunc(printed, func(text string) bool { return strings.Contains(text, t.begun) })
}

// Partial reports whether a file is one that the tool leaves where it cannot make its report.
func (t *Tool) Partial(name string) bool {
	return t.partial != "" && strings.HasSuffix(name, t.partial)
}
