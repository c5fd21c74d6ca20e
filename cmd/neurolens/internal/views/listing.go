package views

// Listing shows runs, or groups of them, to a reader.
type Listing struct {
	Reader   Reader
	By, Sort []string // keys, as they were asked for
	Metrics  []string // that were asked for; of several each has a column
	Whole    bool     // no filter leaves runs out
}
