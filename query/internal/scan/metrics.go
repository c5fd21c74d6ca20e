package scan

import (
	"context"
	"database/sql/driver"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// metricRuns is about how many runs' samples are read at once: DuckDB keeps some memory for each of their files.
const metricRuns = 50_000

// metricTable makes the table of the values of a metric: see filter.Lookups. Its name only depends on the metric and the SQL of the
// value. A metric that no run has is an ErrInput.
func (r *Reader) metricTable(ctx context.Context, metric, value string) (string, error) {
	if err := r.CheckSamples(ctx); err != nil {
		return "", err
	}
	hash := fnv.New64a()
	hash.Write([]byte(metric + "\x00" + value))
	short := fmt.Sprintf("metric_%016x", hash.Sum64())
	name := r.Src.Tables + short
	if err := r.fillMetricTable(ctx, short, metric, value, metricRuns); err != nil {
		return "", err
	}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT count(*) FROM " + name})
	if err != nil {
		return "", err
	}
	if duck.Integer(row[0]) == 0 && r.Src.Runs() > 0 {
		return "", r.noMetricOf(ctx, metric)
	}
	return name, nil
}

// fillMetricTable makes the table by reading the samples of about the given number of runs at once.
func (r *Reader) fillMetricTable(ctx context.Context, short, metric, value string, runs int) error {
	for i, b := range r.Src.windows(runs) {
		part := Selection{Src: r.Src.Within(b)}
		part.Restrict(b)
		args := append(part.Args, metric)
		rows := fmt.Sprintf("SELECT run_id AS of_run, %s AS \"value\", unit FROM %s WHERE metric = $%d::VARCHAR", value, part.Src.Nested(schema.Samples, part.SQL), len(args))
		var err error
		if i == 0 {
			err = r.table(ctx, short, "AS "+rows, args...)
		} else {
			_, err = r.Conn.Exec(ctx, "INSERT INTO "+r.Src.Tables+short+" "+rows, args...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noMetricOf returns the error of NoMetric for a key of a filter, which may be the name of a parameter.
func (r *Reader) noMetricOf(ctx context.Context, key string) error {
	names, err := r.Texts(ctx, "unnest(map_keys(params))", "params")
	if err != nil {
		return err
	}
	if slices.Contains(names, key) {
		return answer.InputError("filter: %s is a parameter and has no unit, and no run has a metric of that name", answer.Brief(key))
	}
	if near := SuggestKey(key, names); near != "" && near != "; did you mean metric."+key+"?" {
		return answer.InputError("filter: no run has the metric %q%s", answer.Brief(key), near)
	}
	return r.NoMetric(ctx, "filter", key)
}

// NoMetric returns the ErrInput for a metric that no run has. It suggests a metric of the newest runs with a similar name, or lists their
// metrics if there are few. asked is the command or option that the error names.
func (r *Reader) NoMetric(ctx context.Context, asked, metric string) error {
	newest := r.newest(suggestRuns)
	names, err := newest.Metrics(ctx)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == metric }) // of runs that do not count, such as failed ones
	if of := filter.FieldOf(filter.MetricPrefix + metric).Metric; of != metric && slices.Contains(names, of) {
		return answer.InputError("%s: want a metric, but %s is one of its statistics: write %s", asked, answer.Brief(metric), answer.Brief(of))
	}
	if dot := strings.LastIndex(metric, "."); dot > 0 && slices.Contains(names, metric[:dot]) {
		return answer.InputError("%s: metric.%s: %q is not a statistic of a metric: want one of min, max, mean, stddev, p25, p50, p75, p90, p95, p99, mad, spread and n_samples",
			asked, answer.Brief(metric), answer.Brief(metric[dot+1:]))
	}
	hint := ListFew(names)
	if newest.Src.Runs() < r.Src.Runs() {
		hint = ListFewOf("the newest runs", names)
	}
	if near := schema.Nearest(metric, names); near != "" && near != metric {
		hint = "; did you mean " + near + "?"
	}
	return answer.InputError("%s: no run has the metric %q%s", asked, answer.Brief(metric), hint)
}

// noKey suggests the probable meaning of a condition whose key is no column and none of the parameters that runs have.
func (r *Reader) noKey(ctx context.Context, d filter.PossibleTypo, parameters []string) (string, error) {
	tags, err := r.Texts(ctx, "unnest(map_keys(tags))", "tags")
	if err != nil {
		return "", err
	}
	if slices.Contains(tags, d.Field.Entry) {
		return fmt.Sprintf("; did you mean %s.%s?", filter.PrefixOf("tags"), answer.Brief(d.Field.Entry)), nil
	}
	units, err := r.newest(suggestRuns).ofSamples(ctx, metricUnit, ofMetric, d.Field.Entry)
	if err != nil || len(units) == 0 {
		return SuggestWord(d.Word, parameters), err
	}
	hint := "; it is a metric: write " + filter.MetricPrefix + answer.Brief(d.Field.Entry)
	if unit := units[len(units)-1]; unit != "" {
		hint += ", and its unit after a number: runs have it in " + unit
	}
	return hint, nil
}

// RecentMetrics returns the metrics of the newest runs, ascending, for a text that suggests one of them.
func (r *Reader) RecentMetrics(ctx context.Context) ([]string, error) {
	return r.newest(suggestRuns).Metrics(ctx)
}

// Metrics returns the metrics of all runs, ascending.
func (r *Reader) Metrics(ctx context.Context) ([]string, error) {
	return r.ofSamples(ctx, "metric", "true")
}

// suggestRuns is about how many of the newest runs are searched for a metric to suggest. A search of all runs would open all files of
// samples.
const suggestRuns = 2000

// newest reads about n of the newest runs, or up to twice as many. It does not divide files.
func (r *Reader) newest(n int) *Reader {
	windows := r.Src.windows(n) // the last may have few
	return &Reader{r.Conn, r.Src.Within(Period{Since: windows[max(len(windows)-2, 0)].Since})}
}

// metricUnit is the SQL of a stored unit, "" for none, and ofMetric the condition on the samples of a metric.
const metricUnit, ofMetric = "coalesce(unit, '')", "metric = $1::VARCHAR"

// ofSamples returns the different texts of an expression over the samples that meet a condition, ascending.
func (r *Reader) ofSamples(ctx context.Context, expression, condition string, args ...any) (texts []string, err error) {
	text := "SELECT DISTINCT " + expression + " AS text FROM " + r.Src.Nested(schema.Samples, "") + " WHERE " + condition + " ORDER BY text"
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
		texts = append(texts, duck.Text(row[0]))
		return nil
	})
	return texts, err
}
