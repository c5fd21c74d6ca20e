package sweep

import (
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/schema"
)

// withOutput are the executors whose outputs can be compared.
var withOutput = []schema.Executor{schema.ExecutorCommand, schema.ExecutorPython, schema.ExecutorONNXRT, schema.ExecutorTorch}

// keysOfChecks say what a right result is.
var keysOfChecks = []Key{
	{
		Name: "output", Value: eitherOf(nothingValue, textValue, Value{Kind: Object, Keys: outputKeys}), Stored: true, text: outputText,
		Executors: []schema.Executor{schema.ExecutorCommand}, Verbatim: true, Reproduce: true,
		Option: "`WHERE` standard output goes: null, keep (stored with the run), or a file",
		Doc:    "Where a command writes the numbers that it computes: to standard output, or to a file. output: WORD is short for output: {to: WORD}.",
	},
	{
		Name: "reference", Value: mapOf(1, scalarValue, referenceKeys...), Stored: true, text: referenceText,
		Executors: withOutput,
		Doc:       "The correct output, with which outputs are compared: from the point with the given values of axes, from a file, or from a function.",
	},
	{
		Name: "deterministic", Value: switchValue, Default: "false", Stored: true, Executors: withOutput,
		Doc: "Require that all runs of a point have the same output, bit by bit.", point: func(p *Point) any { return &p.Deterministic },
	},
}

// keysOfResults say what is made of metrics.
var keysOfResults = []Key{
	{
		Name: "derived", Value: mapOf(1, Value{Kind: Object, Keys: derivedKeys}), Stored: true, text: derivedText,
		Doc: "Metrics that are computed from other metrics, parameters and facts, by name.",
	},
	{
		Name: "check", Value: oneOrMany(1, expressionValue), Stored: true, text: conditionsText,
		Doc: "Conditions for the metrics of a run, such as accuracy >= 0.8. A run that does not meet them is an error in the stage validate.",
	},
	{
		Name: "allow_failed", Value: eitherOf(countOf(0), shareValue), Default: "0", Stored: true,
		Doc:   "How many requests of a run may fail: a number, or a share such as 1%. A run in which more failed is no best one, and has no verdict.",
		point: func(p *Point) any { return &p.AllowFailed },
	},
	artifactsKey,
	{
		Name: "primary", Value: textValue,
		Doc: "The metric that tables show and comparisons compare. Default: latency, or the main metric of a tool's results.", point: func(p *Point) any { return &p.Primary },
	},
}

// outputKeys are the keys of output.
var outputKeys = []Key{
	{Name: "from", Value: textValue, Default: stdoutWord, Doc: "stdout, or a file that each process writes. {axis} is filled in."},
	{Name: "read", Value: oneOf(output.Formats...), Default: "text", Doc: "The format of the numbers. text: numbers separated by spaces or line breaks."},
	{Name: "to", Value: fileOrNull, Doc: "Where standard output goes: null, keep (stored with the run), or a file. {axis} is filled in. Default: it is read and then dropped."},
}

// outputText is the key output as text.
func outputText(p *Point) string {
	var words []string
	if p.Output != nil {
		words = append(words, p.Output.From, p.Output.Format)
	}
	switch {
	case p.KeepOutput:
		words = append(words, "to="+keepWord)
	case p.Stdout != "":
		words = append(words, "to="+p.Stdout)
	}
	return strings.Join(words, " ")
}

// referenceText is the key reference as text.
func referenceText(p *Point) string {
	r := p.Reference
	if r == nil {
		return ""
	}
	var words []string
	switch {
	case r.Function != "":
		words = append(words, "function="+r.Function)
	case r.Point == nil:
		words = append(words, "from="+r.File, "read="+r.Format)
	default:
		for axis, value := range r.axes {
			words = append(words, axis+"="+value)
		}
		slices.Sort(words)
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return strings.Join(append(words, "rtol="+number(r.Tolerance.Relative), "atol="+number(r.Tolerance.Absolute)), " ")
}
