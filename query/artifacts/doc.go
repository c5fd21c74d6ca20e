// Package artifacts lists the files that runs produced, with the state and the content of each, and finds the files that runs still need.
package artifacts
