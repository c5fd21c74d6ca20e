// Package check reads every file of a store and says what is wrong with any; repairs what can be repaired, which means to
// set damaged files aside, to keep what is left of them, and to say what is lost; and counts what is there.
//
// It stands beside ingest, on what both are made of, and needs no store that can be opened: a header may be damaged.
package check
