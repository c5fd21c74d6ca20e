package output

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Section is an output of a process within the file that Read gets, or the reason why there is none.
type Section struct {
	Process int    `json:"process"` // from 0
	From    string `json:"from"`
	Offset  int64  `json:"offset"`
	Size    int64  `json:"size"`
	Missing string `json:"missing,omitempty"` // why there is none; Absent: the process did not write it
}

// Absent says that there is nothing: no output, or no match in it.
const Absent = "absent"

// Extracted is the result of a rule: a value for each process or, with TakeAll, each match; or the reason why there is none.
type Extracted struct {
	Values []float64 `json:"values,omitempty"` // in the stored unit
	Absent bool      `json:"absent,omitempty"` // there is nothing, in contrast to what cannot be read
	Error  string    `json:"error,omitempty"`  // why there are no values, in one line
}

// Metric returns the result as a metric of a run. Integers are ticks, as in imported files.
func (f *Extracted) Metric(r *ExtractRule) schema.Metric {
	m := schema.Metric{Name: r.Name, Unit: r.storedUnit(), Better: r.direction()}
	if r.Take != TakeAll {
		m.Level = schema.LevelProcess
	}
	const exact = 1 << 53 // up to which a float64 holds every integer
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

// oneLine is a text that stands in a line.
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

// finder hands the text of each match in an output to found, until that says that it has enough.
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

// valuesOf are the values in the output of one process, or why there are none.
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

// manyMatches is how many matches are counted where one is wanted.
const manyMatches = 1000

// add takes in a match and tells whether more are wanted.
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

// values are those of the matches that count.
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
