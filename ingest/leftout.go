package ingest

// LeftOut is a file of another store, or a run of one, that a merge or a compaction does not take.
type LeftOut struct {
	Path    string // in the other store, slash-separated
	Problem string
	Damaged bool // the other store is; else a run is here with another digest
	Loss    Loss // what goes with it
}
