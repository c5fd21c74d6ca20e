package scan_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// FuzzFilter: every text is an ErrInput of one line, or SQL that DuckDB takes. Its tests, if it needs no SQL, select the same runs.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{
		`p99<1.5ms dim=64,128`, `session=last~1 run=M9F3QA7K`, `warnings~drift started_at>=2026-11-01`, `param.x>=1e3 not tag.a!~b`,
		`dim=64 precision=fp32`, `(dim=64 or dim=128) not status=ok`, `(dim~^(64|128)$)`, `dim~(a|b) or (x=1)`, `suite="quick start" x=1`,
		`gpu_name~"NVIDIA H(1|2)00"`, `shape=[1,2],[3,4]`, `k~a\)b`, `k~[)]x`, `(k~[)]x)`, `not (a=1 or not b=2)`, `k~\d+ms z=1`, `k~"a\"b\\c\d"`,
		`((a=1))`, `env.path=C:\x y=1`, `a=C:\ b=1`, `not(a=1)or(b=2)`, `a!=1,2,null b!~x,y`, `a=1 and b=2 or c=3 and not not d=4`,
		`p99<1.5ms p99>=1 ms_=2`, `and="or" "not"=not a=and`, `k={"a":[1,2],"b":1},x`, "a=1\tb=2\n", `a=""`, ` `, `a!b=1`,
		`precision=float32 git_dirty=true,null`, `batch_size=2.5,9007199254740993,1e300`, `k=[1.0, "a"],{}`, `memory_bytes>16GiB bs<8 seq!=null`,
	} {
		f.Add(text)
	}
	ctx, c, both := context.Background(), querytest.Connect(f), readBothWays(f, querytest.MixedStore(f))
	f.Fuzz(func(t *testing.T, text string) {
		cond, err := filter.Compile(text, filter.Lookups{
			IDs:     func(_, value string) ([]string, error) { return []string{value}, nil },
			Counted: func(string) ([]string, error) { return nil, nil },
			Metric:  func(_, _ string) (string, error) { return "(SELECT '' AS of_run, 1.5 AS \"value\", 'ns' AS unit)", nil },
		})
		if err != nil {
			if !errors.Is(err, answer.ErrInput) || strings.ContainsAny(err.Error(), "\n\x00") || !utf8.ValidString(err.Error()) {
				t.Fatalf("%q: %q", text, err)
			}
			return
		}
		for _, r := range cond.Regexes {
			if c.Query(ctx, duck.Statement{SQL: "SELECT regexp_matches('', $1)", Args: []any{r}}, func([]driver.Value) error { return nil }) != nil {
				return // said so by choose
			}
		}
		r := &scan.Reader{Conn: c, Src: &scan.Sources{}}
		if _, err := r.Sorted(ctx, scan.Selection{Condition: cond, Src: r.Src}, 0); err != nil {
			t.Fatalf("%q: %v\n%s", text, err, fmt.Sprint(cond))
		}
		if !cond.OnlySQL {
			both.check(t, text, cond)
		}
	})
}
