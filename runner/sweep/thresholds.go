package sweep

import (
	"maps"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
)

// readThresholds reads the differences that nobody wants to hear of, by metric: a share, or {abs: amount}.
func (s *settings) readThresholds(d *document) error {
	f := d.keys["thresholds"]
	if !f.given() {
		return nil
	}
	var err error
	s.point.Thresholds, err = f.thresholds()
	return err
}

func (f field) thresholds() (map[string]string, error) {
	members, err := f.members("thresholds.")
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return nil, f.errorf("is empty")
	}
	all := make(map[string]string, len(members))
	for _, m := range members {
		if all[m.key], err = m.value.threshold(m.key); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// threshold is the text of a threshold of a metric: 5% of its value, or an amount in its stored unit.
func (f field) threshold(metric string) (string, error) {
	if f.Kind != yaml.MappingNode {
		share, err := f.share()
		if err != nil {
			return "", err
		}
		return shareText(share), nil
	}
	values, err := f.known(f.what+".", []string{"abs"})
	if err != nil {
		return "", err
	}
	amount := values["abs"]
	if !amount.given() {
		return "", f.want("a share (5%) or {abs: amount}")
	}
	return amount.amount(metric)
}

// shareText is a share in percent.
func shareText(share float64) string {
	const digits = 12 // more would show that 7 % is not a binary fraction
	return strconv.FormatFloat(100*share, 'g', digits, 64) + "%"
}

// readAllowFailed reads how many requests may fail: a number, or a share of all.
func (s *settings) readAllowFailed(d *document) error {
	f := d.keys["allow_failed"]
	switch {
	case !f.given():
		return nil
	case f.Kind == yaml.ScalarNode && f.ShortTag() == "!!int":
		n, err := f.integer(0, maxCount, "a number of requests, or a share (1%)")
		if n > 0 {
			s.point.AllowFailed = strconv.FormatInt(n, 10)
		}
		return err
	}
	share, err := f.share()
	if err != nil {
		return f.want("a number of requests, or a share above 0 and below 100%")
	}
	s.point.AllowFailed = shareText(share)
	return nil
}

// FailedAllowed reports whether AllowFailed permits this number of failed requests in a run. all is the number of all requests, or 0 if it is not
// known: then a share permits none.
func (p *Point) FailedAllowed(failed, all int64) bool {
	percent, isShare := strings.CutSuffix(p.AllowFailed, "%")
	limit, err := strconv.ParseFloat(percent, 64)
	if isShare {
		limit *= float64(all) / 100
	}
	return err == nil && float64(failed) <= limit
}

// amount is a quantity of a metric in its stored unit, as text: 0.001, or 2000000 ns.
func (f field) amount(metric string) (string, error) {
	const expected = "an amount (1e-3, 2 ms)"
	if f.Kind != yaml.ScalarNode || f.ShortTag() == "!!null" {
		return "", f.want(expected)
	}
	q, err := schema.ParseQuantity(f.Value)
	if err != nil || q.Value < 0 {
		return "", f.want(expected)
	}
	unit, factor, known := schema.StoredUnit(q.Unit)
	kind, _ := schema.KindOfMetric(metric)
	switch {
	case q.Unit == "":
	case !known:
		return "", f.errorf("unit %q is not known", shorten(q.Unit))
	case kind.Unit != "" && unit != kind.Unit:
		return "", f.errorf("%s is in %s, not in %s", metric, kind.Unit, shorten(q.Unit))
	}
	text := schema.CanonicalFloat(q.Value * factor)
	if unit != "" && unit != "ratio" {
		text += " " + unit
	}
	return text, nil
}

// commonThresholds are those that all sections have alike: what the sweep says of every point.
func commonThresholds(sections []*section) map[string]string {
	common := maps.Clone(sections[0].settings.point.Thresholds)
	for _, s := range sections[1:] {
		maps.DeleteFunc(common, func(metric, text string) bool { return s.settings.point.Thresholds[metric] != text })
	}
	return common
}
