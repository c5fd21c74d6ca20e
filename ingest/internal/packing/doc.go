// Package packing writes again, in one file, what many small files of a store hold: the rows of small sealed files of
// runs, and events. Packs are for readers, who open few files instead of many; nothing depends on them, and whoever
// removes them loses nothing but time.
package packing
