// Package prepare finds out what a launch needs before it starts: the program, interpreter or model and their hashes, the results
// of builds, the settings. If something is missing or impossible, the launch does not happen, with that reason. A session asks
// for targets, and for what identifies its runs: see Targets.
package prepare
