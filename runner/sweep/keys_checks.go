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
		Executors: []schema.Executor{schema.ExecutorCommand}, Verbatim: true, Again: true,
		Option: "`WHERE` standard output goes: null, keep (with the run), or a file",
		Doc:    "Where the numbers stand that a command computes: on its standard output, or in a file. A word alone is its key to.",
	},
	{
		Name: "reference", Value: mapOf(1, scalarValue, referenceKeys...), Stored: true, text: referenceText,
		Executors: withOutput,
		Doc:       "What outputs are compared with: those of the point with these values of axes, a file, or what a function gives.",
	},
	{
		Name: "deterministic", Value: switchValue, Default: "false", Stored: true, Executors: withOutput,
		Doc: "Every run of a point has the same output, bit by bit.", point: func(p *Point) any { return &p.Deterministic },
	},
}

// keysOfResults say what is made of metrics.
var keysOfResults = []Key{
	{
		Name: "derived", Value: mapOf(1, Value{Kind: Object, Keys: derivedKeys}), Stored: true, text: derivedText,
		Doc: "By name, metrics that are computed of others, of parameters and of facts.",
	},
	{
		Name: "check", Value: oneOrMany(1, expressionValue), Stored: true, text: conditionsText,
		Doc: "Conditions that the metrics of a run have to meet: a run that does not is an error at validate.",
	},
	artifactsKey,
	{
		Name: "primary", Value: textValue,
		Doc: "The metric that tables show and comparisons compare. Without it that is latency, or what the results of a tool are about.", point: func(p *Point) any { return &p.Primary },
	},
}

// outputKeys are the keys of output.
var outputKeys = []Key{
	{Name: "from", Value: textValue, Default: stdoutWord, Doc: "stdout, or a file that each process writes; {axis} is filled in."},
	{Name: "read", Value: oneOf(output.Formats...), Default: "text", Doc: "How the numbers are written; text: with spaces or line breaks between them."},
	{Name: "to", Value: fileOrNull, Doc: "Where standard output goes: null, keep (with the run), or a file; {axis} is filled in. Without it it is read and not kept."},
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
