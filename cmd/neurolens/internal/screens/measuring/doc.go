// Package measuring is what people see of a session while it runs and at its end, and of a search for a commit.
//
// Progress is told every event of a session, and says it in one of three ways: in a view that is redrawn on a terminal, in a line a
// run elsewhere, in lines of JSON for programs. What cannot be written ends no measurement. Summary shows what the store has of the
// session when it has ended, and PlanView what would be launched. BisectProgress and BisectAnswer do the same for a search.
package measuring
