package filter_test

import (
	"fmt"

	"github.com/neurolens/neurolens/query/filter"
)

// Values are parameters of the SQL, never part of its text.
func ExampleCompile() {
	noIDs := func(key, value string) ([]string, error) { return nil, nil }
	c, err := filter.Compile("batch_size>=8 precision=float16,null", filter.Lookups{IDs: noIDs})
	fmt.Println(c.SQL, err)
	fmt.Println(c.Args)
	// Output:
	// ("batch_size" >= $1::BIGINT AND ("precision" IN ($2::VARCHAR) OR "precision" IS NULL)) <nil>
	// [8 fp16]
}

// An error gives the position.
func ExampleCompile_mistake() {
	_, err := filter.Compile("batch_size>=8 precision", filter.Lookups{})
	fmt.Println(err)
	// Output:
	// filter: precision  (offset 14): a value is missing, as in precision=VALUE
}
