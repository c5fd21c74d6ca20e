package ingest

// LeftOut is a file or a run of another store that a merge or a compaction does not take.
type LeftOut struct {
	Path    string // in the other store, with slashes
	Problem string
	Damaged bool // the file is damaged; otherwise the run is already stored with another digest
	Loss    Loss // lost with it
}
