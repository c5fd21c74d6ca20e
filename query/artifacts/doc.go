// Package artifacts answers what files runs have left: what became of each, their contents, and which of them runs still
// keep.
package artifacts
