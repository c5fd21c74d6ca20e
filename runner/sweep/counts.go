package sweep

import (
	"math"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
)

// counted is a key whose value an expression says point by point.
type counted struct {
	Key
	formula *formula
}

// orExpression is a value in whose place an expression of a number may stand: of a time, in seconds.
func orExpression(v Value) Value {
	v.Expression = true
	return v
}

// isExpression reports whether a value in the file is an expression. Numbers, and times with units, are not.
func (k Key) isExpression(f field) bool {
	if !f.given() || !k.Value.Expression || f.Kind != yaml.ScalarNode || f.ShortTag() != "!!str" {
		return false
	}
	_, err := time.ParseDuration(f.Value)
	return k.Value.Kind != Duration || err != nil
}

// readCounted reads the expressions of counts and of the budget, where the command line says nothing in their place.
func (d *document) readCounted(g *grid, seed *int64) ([]counted, error) {
	replaced := map[string]bool{
		"warmup":     d.option("warmup").given() || d.option("cold_start").given(),
		"iterations": d.option("iterations").given() || d.option("rel_error").given() || d.option("cold_start").given(),
		"budget":     d.option("budget").given(),
	}
	var all []counted
	for _, k := range keys {
		f := d.keys[k.Name]
		if !k.isExpression(f) || replaced[k.Name] {
			continue
		}
		formula, err := d.speak(g, seed).parse(f, expression.Number)
		if err != nil {
			return nil, f.errorf("neither %s nor an expression: %v", k.plain(), err)
		}
		all = append(all, counted{k, formula})
	}
	return all, nil
}

// plain is what may stand for a key in place of an expression.
func (k Key) plain() string {
	if k.Value.Kind == Duration {
		return "a time with its unit (500ms, 15s, 10m)"
	}
	return "a number"
}

// set works the key out for a point. A count is rounded down.
func (c counted) set(p *Point) error {
	value, err := c.formula.eval(p)
	if err != nil {
		return err
	}
	number := value.(float64)
	if c.Value.Kind == Duration {
		if number <= 0 || number > maxDuration.Seconds() {
			return c.formula.at.errorf("%s is %s s: want more than 0s and at most %s", c.formula.text, exact(number), maxDuration)
		}
		*c.point(p).(*time.Duration) = max(1, time.Duration(math.Round(number*float64(time.Second))))
		return nil
	}
	n := math.Floor(number)
	if n < float64(c.Value.Min) || n > float64(c.Value.Max) {
		return c.formula.at.errorf("%s is %s: want a whole number from %d to %d",
			c.formula.text, exact(number), c.Value.Min, c.Value.Max)
	}
	*c.point(p).(*int) = int(n)
	return nil
}

// exact prints a whole number below 1e21 with all its digits, and any other as CanonicalFloat does.
func exact(number float64) string {
	if number == math.Trunc(number) && math.Abs(number) < 1e21 {
		return strconv.FormatFloat(number, 'f', 0, 64)
	}
	return schema.CanonicalFloat(number)
}

// count sets what expressions say of how long a point runs.
func (of *section) count(p *Point) error {
	for _, c := range of.counted {
		if err := c.set(p); err != nil {
			return err
		}
	}
	if len(of.counted) > 0 && p.Iterations == 0 && p.Executor != schema.ExecutorCommand {
		return of.settings.room.fit(p)
	}
	return nil
}

// setWork sets the work of a point that runs.
func (of *section) setWork(p *Point) (err error) {
	if of.work != nil {
		p.Work, err = of.work.at(p)
	}
	return err
}
