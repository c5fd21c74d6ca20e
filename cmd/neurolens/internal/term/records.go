package term

import (
	"github.com/neurolens/neurolens/query/answer"
)

// RecordsView shows each row as lines of column and value.
func RecordsView(t answer.Table) View {
	var v View
	for i, row := range t.Rows {
		if i > 0 {
			v.Below = append(v.Below, "")
		}
		var lines [][2]string
		for j, c := range t.Columns {
			lines = append(lines, [2]string{c.Name, ValueText(c, row[j], "")})
		}
		v.Below = append(v.Below, Pairs(lines)...)
	}
	return v
}

// PairsView shows facts and their values without a header or a count.
func PairsView(t answer.Table) View {
	var lines [][2]string
	for _, row := range t.Rows {
		lines = append(lines, [2]string{ValueString(row[0]), ValueText(t.Columns[1], row[1], "")})
	}
	return View{Below: Pairs(lines)}
}
