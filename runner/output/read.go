package output

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/neurolens/neurolens/schema"
)

// maxMatches bounds the samples that an output makes.
const maxMatches = 1 << 18

// ExtractJob is the input of Read. It can be written as JSON for another process.
type ExtractJob struct {
	Rules     []ExtractRule `json:"rules"`
	Processes int           `json:"processes"` // that were measured; a worker is one
	Sections  []Section     `json:"sections"`
}

// Section is an output of a process within the file that Read gets, or the reason why it is missing.
type Section struct {
	Process int    `json:"process"` // from 0
	From    string `json:"from"`
	Offset  int64  `json:"offset"`
	Size    int64  `json:"size"`
	Missing string `json:"missing,omitempty"` // why it is missing; Absent: the process did not write it
}

// Absent is the reason for a missing output, or for no match in it.
const Absent = "absent"

// Extracted is the result of a rule: a value for each process or, with TakeAll, each match; or the reason why there is none.
type Extracted struct {
	Values []float64 `json:"values,omitempty"` // in the stored unit
	Absent bool      `json:"absent,omitempty"` // no output or no match, in contrast to an unreadable one
	Error  string    `json:"error,omitempty"`  // why there are no values, in one line
}

// Metric returns the result as a metric of a run. Integers are ticks, as in imported files.
func (f *Extracted) Metric(r *ExtractRule) schema.Metric {
	stored, _, _ := schema.StoredUnit(r.unit())
	kind, _ := schema.KindOfMetric(r.Name)
	m := schema.Metric{Name: r.Name, Unit: stored, Better: cmp.Or(r.Better, kind.Better)}
	if r.Take != TakeAll {
		m.Level = schema.LevelProcess
	}
	const exact = 1 << 53 // a float64 represents every integer up to this
	for _, v := range f.Values {
		if v != float64(int64(v)) || v > exact || v < -exact {
			m.Reals = f.Values
			return m
		}
	}
	m.Tick = 1
	for _, v := range f.Values {
		m.Ticks = append(m.Ticks, int64(v))
	}
	return m
}

// Extract applies rules to the outputs of a run, which are in kept. It calls began with the number of each rule before it applies the rule.
// The results are in the order of the rules.
func Extract(ctx context.Context, job ExtractJob, kept io.ReaderAt, began func(rule int)) []Extracted {
	outputs := map[string][]Section{}
	for _, s := range job.Sections {
		outputs[s.From] = append(outputs[s.From], s)
	}
	all := make([]Extracted, len(job.Rules))
	for i := range job.Rules {
		began(i)
		all[i] = job.Rules[i].read(ctx, job.Processes, outputs[job.Rules[i].From], kept)
		all[i].Error = oneLine(all[i].Error)
		if ctx.Err() != nil { // this rule took too long, and no later one
			break
		}
	}
	return all
}

// maxError is the maximum size of an error in bytes, because a jq program may produce any text.
const maxError = 400

// oneLine returns a text without line breaks.
func oneLine(text string) string {
	if len(text) > maxError {
		text = text[:maxError] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, text)
}

// read applies one rule to the outputs of all processes.
func (r *ExtractRule) read(ctx context.Context, processes int, outputs []Section, kept io.ReaderAt) Extracted {
	each, err := r.compile(ctx)
	if err != nil {
		return Extracted{Error: err.Error()}
	}
	byProcess := map[int]Section{}
	for _, s := range outputs {
		byProcess[s.Process] = s
	}
	var found Extracted
	for p := range processes {
		section, there := byProcess[p]
		if !there {
			section.Missing = Absent
		}
		values, none := r.valuesOf(section, kept, each)
		if none != nil {
			if processes > 1 {
				none.Error = fmt.Sprintf("process %d: %s", p+1, none.Error)
			}
			return *none
		}
		if found.Values = append(found.Values, values...); len(found.Values) > maxMatches {
			return Extracted{Error: tooMany}
		}
	}
	return found
}

var tooMany = fmt.Sprintf("more than %d matches", maxMatches)

// finder passes the text of each match in an output to found, until it returns that no more are needed.
type finder func(output io.Reader, found func(text []byte) (more bool, err error)) error

func (r *ExtractRule) compile(ctx context.Context) (finder, error) {
	if r.JQ != "" {
		program, err := compileJQ(r.JQ)
		return func(output io.Reader, found func([]byte) (bool, error)) error {
			return eachValue(ctx, output, program, found)
		}, err
	}
	expression, err := regexp.Compile(r.Regex)
	return func(output io.Reader, found func([]byte) (bool, error)) error {
		return eachMatch(output, expression, found)
	}, err
}

// valuesOf returns the values in the output of one process, or why there are none.
func (r *ExtractRule) valuesOf(s Section, kept io.ReaderAt, each finder) ([]float64, *Extracted) {
	switch s.Missing {
	case "":
	case Absent:
		return nil, &Extracted{Absent: true, Error: r.From + ": the process did not write it"}
	default:
		return nil, &Extracted{Error: r.From + ": " + s.Missing}
	}
	c := chosen{rule: r}
	if err := each(io.NewSectionReader(kept, s.Offset, s.Size), c.add); err != nil {
		return nil, &Extracted{Error: r.From + ": " + err.Error()}
	}
	values, err := c.values()
	switch {
	case err != nil:
		return nil, &Extracted{Error: r.From + ": " + err.Error()}
	case len(values) == 0:
		return nil, &Extracted{Absent: true, Error: r.From + ": no match"}
	}
	return values, nil
}

// chosen are the matches that count.
type chosen struct {
	rule    *ExtractRule
	matches int
	text    []byte // the first match, or, with TakeLast, the last
	all     []float64
}

// manyMatches is the maximum number of counted matches if one is expected.
const manyMatches = 1000

// add adds a match and reports whether more are needed.
func (c *chosen) add(text []byte) (more bool, err error) {
	c.matches++
	switch c.rule.Take {
	case TakeAll:
		if c.matches > maxMatches {
			return false, fmt.Errorf("%s", tooMany)
		}
		value, err := c.rule.number(string(text))
		c.all = append(c.all, value)
		return true, err
	case TakeFirst:
		c.text = append(c.text[:0], text...)
		return false, nil
	case TakeLast:
		c.text = append(c.text[:0], text...)
		return true, nil
	}
	if c.matches == 1 {
		c.text = append(c.text[:0], text...)
	}
	return c.matches <= manyMatches, nil
}

// values returns the values of the matches that count.
func (c *chosen) values() ([]float64, error) {
	only := c.rule.Take == "" || c.rule.Take == TakeOnly
	switch {
	case c.matches == 0:
		return nil, nil
	case c.rule.Take == TakeAll:
		return c.all, nil
	case only && c.matches > manyMatches:
		return nil, fmt.Errorf("more than %d matches: set take to first, last or all", manyMatches)
	case only && c.matches > 1:
		return nil, fmt.Errorf("%d matches: set take to first, last or all", c.matches)
	}
	value, err := c.rule.number(string(c.text))
	return []float64{value}, err
}

// ExtractRule defines where in an output a metric is. Regex or JQ is required; or Read, the format of the results of a benchmark tool,
// which this package does not read.
type ExtractRule struct {
	Name     string        `json:"name,omitempty"`
	From     string        `json:"from"` // Stdout, Stderr, or the path of a file, relative to the working directory
	Regex    string        `json:"regex,omitempty"`
	JQ       string        `json:"jq,omitempty"`
	Read     string        `json:"read,omitempty"`
	Unit     string        `json:"unit,omitempty"` // of the numbers, as in sweep files; empty: the stored unit of a known metric
	Better   schema.Better `json:"better,omitempty"`
	Take     string        `json:"take,omitempty"` // empty is TakeOnly
	Optional bool          `json:"optional,omitempty"`
}

// The sources of a Rule that are no files.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// Which of several matches count.
const (
	TakeOnly  = "only"
	TakeFirst = "first"
	TakeLast  = "last"
	TakeAll   = "all"
)

// Takes are the values of Rule.Take.
var Takes = []string{TakeOnly, TakeFirst, TakeLast, TakeAll}

// measured are the metrics that every run has. They cannot be read from outputs.
var measured = map[string]bool{
	schema.PrimaryMetric: true, "cpu_user": true, "cpu_system": true, "peak_memory": true,
}

// CheckMetricName returns an error if a rule cannot define a metric of that name.
func CheckMetricName(name string) error {
	if measured[name] {
		return fmt.Errorf("%s is measured in every run: choose another name", name)
	}
	m := schema.Metric{Name: name, Reals: []float64{0}}
	return m.Validate()
}

// CheckRegex returns an error if a regular expression is invalid.
func CheckRegex(text string) error {
	_, err := regexp.Compile(text)
	return err
}

// CheckJQ returns an error if a jq program is invalid.
func CheckJQ(text string) error {
	_, err := compileJQ(text)
	return err
}

// CheckUnit returns an error if the metric cannot have its unit: a known metric is stored in another one.
func (r *ExtractRule) CheckUnit() error {
	kind, _ := schema.KindOfMetric(r.Name)
	if stored, _, _ := schema.StoredUnit(r.Unit); r.Unit != "" && kind.Unit != "" && stored != kind.Unit {
		return fmt.Errorf("%s is in %s, not in %s", r.Name, kind.Unit, r.Unit)
	}
	return nil
}

// CheckBetter returns an error if the metric cannot improve in that direction: a known metric improves in the other one.
func (r *ExtractRule) CheckBetter() error {
	kind, _ := schema.KindOfMetric(r.Name)
	if r.Better != "" && kind.Better != "" && r.Better != kind.Better {
		return fmt.Errorf("for %s, %s is better", r.Name, kind.Better)
	}
	return nil
}

// unit returns the unit of the numbers in the output.
func (r *ExtractRule) unit() string {
	kind, _ := schema.KindOfMetric(r.Name)
	return cmp.Or(r.Unit, kind.Unit)
}

// compileJQ makes a program of a text. It can neither load modules nor see the environment.
func compileJQ(text string) (*gojq.Code, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(query)
}

// eachValue passes each number that a jq program finds in an output to found, as text, until found needs no more.
func eachValue(ctx context.Context, output io.Reader, program *gojq.Code, found func(text []byte) (more bool, err error)) error {
	values := json.NewDecoder(bufio.NewReader(output))
	values.UseNumber()
	for {
		var value any
		switch err := values.Decode(&value); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("invalid JSON at byte %d: %w", values.InputOffset(), err)
		}
		results := program.RunWithContext(ctx, value)
		for {
			result, ok := results.Next()
			if !ok {
				break
			}
			if halt, is := result.(*gojq.HaltError); is && halt.Value() == nil {
				return nil
			}
			text, err := textOf(result)
			if err != nil {
				return err
			}
			if text == "" {
				continue
			}
			if more, err := found([]byte(text)); err != nil || !more {
				return err
			}
		}
	}
}

// textOf returns a result of a jq program as the text of a number; empty for null.
func textOf(result any) (string, error) {
	switch v := result.(type) {
	case nil:
		return "", nil
	case error:
		return "", fmt.Errorf("jq: %w", v)
	case int:
		return strconv.Itoa(v), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case *big.Int:
		return v.String(), nil
	case json.Number:
		return v.String(), nil
	case string:
		if v == "" {
			return " ", nil // not a number
		}
		return v, nil
	case []any:
		return "", fmt.Errorf("jq gives an array: want numbers; add [] at the end to get them one by one")
	}
	return "", fmt.Errorf("jq gives %s: want a number", gojq.Preview(result))
}

// maxLine is the longest line that is read, in B.
const maxLine = 16 << 20

// anyLine splits at newlines, carriage returns and both together. An additional empty line does not matter, because it matches nothing.
func anyLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexAny(data, "\n\r"); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// eachMatch passes the text of each match in an output to found, until found needs no more.
func eachMatch(output io.Reader, expression *regexp.Regexp, found func(text []byte) (more bool, err error)) error {
	lines := bufio.NewScanner(output)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	lines.Split(anyLine)
	group := groupOf(expression)
	for number := 1; lines.Scan(); number++ {
		line := lines.Bytes()
		for _, at := range expression.FindAllSubmatchIndex(line, maxMatches+1) {
			if at[2*group] < 0 {
				return fmt.Errorf("line %d matches, but the group does not", number)
			}
			if more, err := found(line[at[2*group]:at[2*group+1]]); err != nil || !more {
				return err
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line has more than %d MiB", maxLine>>20)
	}
	return lines.Err()
}

// groupOf returns the number of the group that has the value: the first named one, else the first, else the whole match.
func groupOf(expression *regexp.Regexp) int {
	for i, name := range expression.SubexpNames() {
		if name != "" {
			return i
		}
	}
	return min(expression.NumSubexp(), 1)
}
