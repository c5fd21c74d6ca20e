package summary

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Operator is an operator or a kernel of a run.
type Operator struct {
	Index      int64 // position in the profile
	Name       string
	Type       string
	Device     string
	Count      *int64   // number of executions
	DurationNS *int64   // total time of all executions
	Share      *float64 // share of the sum of the times of all rows; a row that contains or calls others counts beside them
	Kernels    *int64   // number of different kernels that it launched

	// Of one iteration; nil: it is not known how many iterations the profile has.
	CountEach, DurationEach *float64

	Counters map[string]float64 // what was measured besides its time, such as sm_throughput
}

// Operators returns the operators of a run, sorted by a key (see SortKeys); empty: the longest first. Operators without a value come last. An
// unknown key is an ErrInput.
func Operators(ctx context.Context, db *query.DB, run *schema.Run, sort string) ([]Operator, error) {
	profiled := *run
	if err := db.SetOperators(ctx, &profiled); err != nil {
		return nil, err
	}
	usual := "-duration"
	if IsStacks(profiled.Ops) {
		profiled.Ops, usual = functionsOf(profiled.Ops), "-count"
	}
	compare, err := order(cmp.Or(sort, usual))
	if err != nil {
		return nil, err
	}
	all := make([]Operator, len(profiled.Ops))
	iterations := Iterations(run)
	for i, op := range profiled.Ops { // in the order of the profile
		all[i] = Operator{Index: op.Index, Name: op.Name, Type: op.Type, Device: op.Device, Count: op.Count, DurationNS: op.DurationNS, Counters: op.Counters}
		if iterations > 0 {
			all[i].CountEach, all[i].DurationEach = each(op.Count, iterations), each(op.DurationNS, iterations)
		}
		if op.Kernels != nil {
			all[i].Kernels = new(int64(len(op.Kernels)))
		}
	}
	addShares(all)
	slices.SortStableFunc(all, compare)
	return all, nil
}

// Iterations returns the number of iterations that the times of the operators of a profiled run are totals of; 0: it is not known.
func Iterations(run *schema.Run) int64 {
	n, err := strconv.ParseInt(run.Env.Facts["profile.iterations"], 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// each divides a total by a number of iterations.
func each(total *int64, iterations int64) *float64 {
	if total == nil {
		return nil
	}
	return new(float64(*total) / float64(iterations))
}

// addShares sets the share of each operator with a duration, or of each function with samples.
func addShares(all []Operator) {
	amount := func(o *Operator) *int64 {
		if o.Type == functionType {
			return o.Count
		}
		return o.DurationNS
	}
	var sum float64
	for i := range all {
		if n := amount(&all[i]); n != nil {
			sum += float64(*n)
		}
	}
	for i := range all {
		if n := amount(&all[i]); n != nil && sum > 0 {
			all[i].Share = new(float64(*n) / sum)
		}
	}
}

// sortKeys are the sort keys, ascending.
var sortKeys = map[string]func(a, b *Operator) int{
	"op":       func(a, b *Operator) int { return cmp.Compare(a.Index, b.Index) },
	"name":     func(a, b *Operator) int { return strings.Compare(a.Name, b.Name) },
	"type":     func(a, b *Operator) int { return strings.Compare(a.Type, b.Type) },
	"device":   func(a, b *Operator) int { return strings.Compare(a.Device, b.Device) },
	"count":    func(a, b *Operator) int { return cmp.Compare(*a.Count, *b.Count) },
	"duration": func(a, b *Operator) int { return cmp.Compare(*a.DurationNS, *b.DurationNS) },
}

// OperatorSortKeys returns the sort keys. Each can be prefixed with - for descending order.
func OperatorSortKeys() []string {
	return []string{"op", "name", "type", "device", "count", "duration"}
}

// order parses a sort key.
func order(word string) (func(a, b Operator) int, error) {
	key, falling := strings.CutPrefix(word, "-")
	compare, known := sortKeys[key]
	if !known {
		return nil, answer.InputError("--sort %q: want one of %s, with a - before it for the largest first", answer.Brief(word), strings.Join(OperatorSortKeys(), " "))
	}
	value := func(o *Operator) *int64 { return new(int64) } // every one has one
	switch key {
	case "count":
		value = func(o *Operator) *int64 { return o.Count }
	case "duration":
		value = func(o *Operator) *int64 { return o.DurationNS }
	}
	return func(a, b Operator) int {
		switch {
		case value(&a) == nil && value(&b) == nil:
			return 0
		case value(&a) == nil:
			return 1
		case value(&b) == nil:
			return -1
		case falling:
			return compare(&b, &a)
		}
		return compare(&a, &b)
	}, nil
}

// OperatorFields returns the columns of operators.
func OperatorFields() []answer.Field[Operator] {
	number := func(name, unit, meaning string, of func(*Operator) *int64) answer.Field[Operator] {
		return answer.NewField(name, answer.TypeInteger, meaning, func(o *Operator) any { return answer.Value(of(o)) }).In(unit)
	}
	return []answer.Field[Operator]{
		number("op", "", "position of the operator in the profile", func(o *Operator) *int64 { return &o.Index }),
		answer.TextField("name", "name of the operator or kernel", func(o *Operator) string { return o.Name }),
		answer.TextField("type", "kind of operator", func(o *Operator) string { return o.Type }),
		answer.TextField("device", "device that ran it", func(o *Operator) string { return o.Device }),
		number("count", "", "number of executions", func(o *Operator) *int64 { return o.Count }),
		number("duration", "ns", "total time of all executions", func(o *Operator) *int64 { return o.DurationNS }),
		answer.NewField("share", answer.TypeReal, "share of the sum of the times of all rows; a row that contains or calls others counts beside them",
			func(o *Operator) any { return answer.Value(o.Share) }).In("ratio"),
		number("kernels", "", "number of different kernels that it launched", func(o *Operator) *int64 { return o.Kernels }),
		answer.NewField("count_each", answer.TypeReal, "number of executions in an iteration; NULL if the number of profiled iterations is not known",
			func(o *Operator) any { return answer.Value(o.CountEach) }),
		answer.NewField("duration_each", answer.TypeReal, "time of an iteration", func(o *Operator) any { return answer.Value(o.DurationEach) }).In("ns"),
		answer.NewField("counters", answer.TypeMap, "what a profiler measured besides the time, such as sm_throughput of a kernel: the mean of its launches", (*Operator).counters),
	}
}

// counters returns the counters as a cell.
func (o *Operator) counters() any {
	if o.Counters == nil {
		return nil
	}
	cell := make(map[string]any, len(o.Counters))
	for name, value := range o.Counters {
		cell[name] = value
	}
	return cell
}
