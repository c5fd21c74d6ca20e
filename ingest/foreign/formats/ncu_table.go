package formats

import (
	"slices"
	"strings"
)

// ncuTable is what the columns of a table are.
type ncuTable struct {
	columns []string
	index   map[string]int // from 1, by name
	units   []string       // of a raw page
	raw     bool           // a row is a launch, else a metric of one
	plain   bool           // cells have no quotation marks, once another program wrote the table
}

// ncuLaunch are the columns that say of which launch a row is.
var ncuLaunch = []string{
	"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream", "Block Size", "Grid Size", "Device",
	"CC", "Invocations", "Section Name", "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
	"Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
}

func newNCUTable(header []string) *ncuTable {
	t := &ncuTable{columns: slices.Clone(header), index: map[string]int{}}
	for i, c := range t.columns {
		if t.index[c] == 0 {
			t.index[c] = i + 1
		}
	}
	t.raw = t.index["Metric Name"] == 0
	return t
}

// isMetric reports whether a column of a raw page is a metric.
func (t *ncuTable) isMetric(i int) bool { return !slices.Contains(ncuLaunch, t.columns[i]) }

// cell is the cell of a column; empty if there is none.
func (t *ncuTable) cell(cells []string, column string) string {
	if i := t.index[column]; i > 0 && i <= len(cells) {
		return strings.TrimSpace(cells[i-1])
	}
	return ""
}

// key is what a row says of the kernel that it is about.
func (t *ncuTable) key(cells []string) ncuKey {
	return ncuKey{
		pid: t.cell(cells, "Process ID"), process: t.cell(cells, "Process Name"), name: t.cell(cells, "Kernel Name"),
		grid: t.cell(cells, "Grid Size"), block: t.cell(cells, "Block Size"), device: t.cell(cells, "Device"),
	}
}

// value is the metric of a row.
func (t *ncuTable) value(cells []string) ncuValue {
	return ncuValue{
		section: t.cell(cells, "Section Name"), name: t.cell(cells, "Metric Name"), unit: t.cell(cells, "Metric Unit"),
		text: t.cell(cells, "Metric Value"),
	}
}
