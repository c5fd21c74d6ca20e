// Package progress shows a session while it runs and when it ends, and the search for a commit.
//
// Progress receives every event of a session, and shows it in one of three ways: a view that is redrawn on a terminal, one
// line per run elsewhere, or JSON lines for programs. A write error does not end a measurement. Summary shows what the
// store has of the session at its end, and PlanView what would be measured. BisectProgress and BisectAnswer do the same
// for a search.
package progress
