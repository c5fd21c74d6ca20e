package table

import (
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBooleans: many booleans of a page, as a list of them would have, are packed as parquet-go reads them.
func TestBooleans(t *testing.T) {
	pages := livePages{{liveLeaf: &liveLeaf{kind: schema.KindBool}}}
	want := []bool{true, false, true, true, false, false, false, true, true, false}
	for _, v := range want {
		pages.boolean(0, v, level{})
	}
	bits := valuetest.Must(parquet.Plain.DecodeBoolean(nil, pages[0].plain))
	var got []bool
	for i := range want {
		got = append(got, bits[i/8]>>(i%8)&1 == 1)
	}
	if !slices.Equal(got, want) || len(bits) != 2 {
		t.Errorf("got %v in %d bytes, want %v", got, len(bits), want)
	}
}
