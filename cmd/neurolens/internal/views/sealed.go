package views

import (
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// SealedTable has a row for each sealed file that was not there before, newest first.
func SealedTable(before, after []schema.SealedFile) answer.Table {
	known := map[schema.SealedFile]bool{}
	for _, f := range before {
		known[f] = true
	}
	added := slices.DeleteFunc(slices.Clone(after), func(f schema.SealedFile) bool { return known[f] })
	return answer.TableOf(SealedFields(), added)
}

// SealedFields are the columns of store seal.
func SealedFields() []answer.Field[schema.SealedFile] {
	field := answer.NewField[schema.SealedFile]
	return []answer.Field[schema.SealedFile]{
		field("file", answer.TypeText, "new file, from the folder of the store", func(f *schema.SealedFile) any { return f.Path(schema.RunsDir) }),
		field("runs", answer.TypeInteger, "runs in it", func(f *schema.SealedFile) any { return int64(f.Rows) }),
		field("oldest", answer.TypeTime, "start of the oldest of them", func(f *schema.SealedFile) any { return timeOrNull(f.First) }),
		field("newest", answer.TypeTime, "start of the newest of them", func(f *schema.SealedFile) any { return timeOrNull(f.Last) }),
	}
}
