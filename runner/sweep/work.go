package sweep

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
)

// keysOfAmounts are the keys of work.
var keysOfAmounts = []Key{
	{Name: "items", Value: expressionValue, Doc: "Items, such as images or tokens. The metric throughput is items per second."},
	{Name: "bytes", Value: expressionValue, Doc: "Bytes that are moved. The metric bandwidth is bytes per second."},
	{Name: "flops", Value: expressionValue, Doc: "Floating-point operations. The metric compute is operations per second."},
}

// work says how much work an iteration is.
type work struct{ items, bytes, flops *formula }

// readWork reads work; nil where it is not given.
func (d *document) readWork(g *grid, seed *int64) (*work, error) {
	f := d.keys["work"]
	if !f.given() {
		return nil, nil
	}
	keys, err := f.knownOfExpressions(keyNames(keysOfAmounts))
	if err != nil {
		return nil, err
	}
	w := &work{}
	for name, to := range map[string]**formula{"items": &w.items, "bytes": &w.bytes, "flops": &w.flops} {
		if amount := keys[name]; amount.given() {
			if *to, err = d.speak(g, seed).compile(amount, expression.Number); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// at is the work of an iteration at a point. What needs something that is NULL there is NULL too.
func (w *work) at(p *Point) (*schema.Work, error) {
	items, err := w.items.amount(p)
	if err != nil {
		return nil, err
	}
	flops, err := w.flops.amount(p)
	if err != nil {
		return nil, err
	}
	bytes, err := w.bytes.amount(p)
	if err != nil || bytes == nil {
		return &schema.Work{Items: items, Flops: flops}, err
	}
	if *bytes >= math.MaxInt64 {
		return nil, w.bytes.at.errorf("%v bytes are more than 2**63", *bytes)
	}
	return &schema.Work{Items: items, Flops: flops, Bytes: new(int64(math.Round(*bytes)))}, nil
}

// amount is the value of a formula, which may not be negative; nil where it is NULL or there is no formula.
func (f *formula) amount(p *Point) (*float64, error) {
	if f == nil {
		return nil, nil
	}
	value, err := f.eval(p)
	if _, null := errors.AsType[*nullError](err); null {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	amount := value.(float64)
	if amount < 0 {
		return nil, f.at.errorf("want an amount of at least 0, got %s", schema.CanonicalFloat(amount))
	}
	return &amount, nil
}

// workText is the work of a point as canonical JSON; empty where it is not given.
func workText(p *Point) string {
	if p.Work == nil {
		return ""
	}
	amounts := map[string]any{}
	add := func(name string, amount *float64) {
		if amount != nil {
			amounts[name] = json.Number(schema.CanonicalFloat(*amount))
		}
	}
	add("items", p.Work.Items)
	add("flops", p.Work.Flops)
	if p.Work.Bytes != nil {
		amounts["bytes"] = json.Number(strconv.FormatInt(*p.Work.Bytes, 10))
	}
	text, _ := schema.CanonicalJSON(amounts) // finite numbers always have one
	return text
}
