package extract

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/itchyny/gojq"

	"github.com/neurolens/neurolens/schema"
)

// Rule says where a metric stands in an output. Regex or JQ is required; or Read, which names the format of an output that
// has results of a benchmark tool: runs, which are not for this package to make.
type Rule struct {
	Name     string        `json:"name"`
	From     string        `json:"from"` // Stdout, Stderr, or the path of a file, relative to the working directory
	Regex    string        `json:"regex,omitempty"`
	JQ       string        `json:"jq,omitempty"`
	Read     string        `json:"read,omitempty"`
	Unit     string        `json:"unit,omitempty"` // of the numbers, as people write it; empty: the stored one of a metric that is known
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

// Takes are the words of Rule.Take.
var Takes = []string{TakeOnly, TakeFirst, TakeLast, TakeAll}

// measured are the metrics that every run has, which no output replaces.
var measured = map[string]bool{
	schema.PrimaryMetric: true, "cpu_user": true, "cpu_system": true, "peak_memory": true,
}

// CheckName tells why a rule cannot make a metric of a name.
func CheckName(name string) error {
	if measured[name] {
		return fmt.Errorf("%s is measured in every run: choose another name", name)
	}
	m := schema.Metric{Name: name, Reals: []float64{0}}
	return m.Validate()
}

// CheckRegex tells what is wrong with a regular expression.
func CheckRegex(text string) error {
	_, err := regexp.Compile(text)
	return err
}

// CheckJQ tells what is wrong with a jq program.
func CheckJQ(text string) error {
	_, err := compileJQ(text)
	return err
}

// CheckUnit tells why a metric cannot have a unit: one that is known by name is stored in another.
func (r *Rule) CheckUnit() error {
	kind, _ := schema.KindOfMetric(r.Name)
	if stored, _, _ := schema.StoredUnit(r.Unit); r.Unit != "" && kind.Unit != "" && stored != kind.Unit {
		return fmt.Errorf("%s is in %s, not in %s", r.Name, kind.Unit, r.Unit)
	}
	return nil
}

// CheckBetter tells why a metric cannot improve in a direction: one that is known by name improves in the other.
func (r *Rule) CheckBetter() error {
	kind, _ := schema.KindOfMetric(r.Name)
	if r.Better != "" && kind.Better != "" && r.Better != kind.Better {
		return fmt.Errorf("for %s, %s is better", r.Name, kind.Better)
	}
	return nil
}

// unit is that of the numbers in the output.
func (r *Rule) unit() string {
	kind, _ := schema.KindOfMetric(r.Name)
	return cmp.Or(r.Unit, kind.Unit)
}

// storedUnit is the unit that the metric is stored in.
func (r *Rule) storedUnit() string {
	stored, _, _ := schema.StoredUnit(r.unit())
	return stored
}

// direction is the one in which the metric improves; empty is not known.
func (r *Rule) direction() schema.Better {
	kind, _ := schema.KindOfMetric(r.Name)
	return cmp.Or(r.Better, kind.Better)
}

// compileJQ makes a program of a text. It can neither load modules nor see the environment.
func compileJQ(text string) (*gojq.Code, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(query)
}
