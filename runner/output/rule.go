package output

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/itchyny/gojq"

	"github.com/neurolens/neurolens/schema"
)

// ExtractRule says where in an output a metric is. Regex or JQ is required; or Read, the format of the results of a benchmark tool, which this
// package does not read.
type ExtractRule struct {
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

// unit is that of the numbers in the output.
func (r *ExtractRule) unit() string {
	kind, _ := schema.KindOfMetric(r.Name)
	return cmp.Or(r.Unit, kind.Unit)
}

// storedUnit is the unit that the metric is stored in.
func (r *ExtractRule) storedUnit() string {
	stored, _, _ := schema.StoredUnit(r.unit())
	return stored
}

// direction is the one in which the metric improves; empty is not known.
func (r *ExtractRule) direction() schema.Better {
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
