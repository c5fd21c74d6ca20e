// Package packing copies the content of many small files of a store into one file, a pack: the rows of small sealed files
// of runs, and events. With packs, readers open few files instead of many. Nothing depends on packs, and removing them
// only costs time.
package packing
