// Package layout tells what the files of a store are by their names and places alone: runs of their own, sealed files,
// claims and their plans, packs, events, artifacts, what is being written, what was set aside, and what no store has. It
// lists what is not sealed yet. It opens no file; schema/FORMAT.md says what is in them.
package layout
