// Package prepare finds out, before a point is launched, what its launch needs and what it is of: the program, the
// interpreter or the model and their hashes, what builds have made, the settings. What is missing, or cannot be, is a
// reason not to launch it. A session asks it for targets, and for what a run was of: see Targets.
package prepare
