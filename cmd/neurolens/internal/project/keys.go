package project

// key is a key of a project file.
type key struct {
	name     string
	variable string // of the environment, which wins over it; empty: there is none
	flag     string // which wins over both; empty: there is none, or each command has its own
	without  string // what holds where nobody says anything; empty: it is computed
}

// variablePython names the interpreter of Python benchmarks.
const variablePython = "NEUROLENS_PYTHON"

// keys are all that a project file may have. What would start a program is none of them, but for the interpreter of
// benchmarks: the file may be anybody's, and to list runs is safe everywhere.
var keys = []key{
	{"store", "NEUROLENS_STORE", "store", ""},
	{"format", "NEUROLENS_FORMAT", "format", "table"},
	{"machine", "NEUROLENS_MACHINE", "", "a name made from its hardware"},
	{"python", variablePython, "python", "that of the active virtual environment, else python3"},
	{"thresholds", "", "threshold", "2% for metrics that are compared as ratios"},
	{"defaults", "", "", "those in the help of each command"},
}

// keyOf is the key of a name; nil: there is none.
func keyOf(name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func keyNames() []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}
