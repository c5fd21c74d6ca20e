// Package worktree gives a comparison of two commits its two sides: the base, a commit that the user names, and the
// head, what the user's working tree holds or another commit. Both are linked working trees in folders of equally long paths, for a
// side that ran in place would differ from the other in caches, path length and what is edited meanwhile.
//
// Between tells which commits lead from one to another.
//
// The head of a clean tree is its commit. What is not committed, new files that git does not ignore included, becomes
// a commit of its own, to which no reference points: git removes its objects in time. Ignored files are on no side
// unless they are shared, which links them into both. Submodules, nested ones too, are checked out from the
// repositories that are on this machine; one that is not checked out for the user is empty on both sides.
//
// Nothing else of the user's repository changes: not the index, no reference, no configuration. No hook runs, nothing
// asks for a password, and git connects to nowhere: what is not on this machine is an error. Filters run as in any
// checkout; Git LFS, where it is installed, takes files from its store in the repository and is kept from
// downloading others.
//
// Close removes the sides. A process that was killed leaves them to Clean, which sees from a lock who is still alive.
//
// Refused: a folder without a repository, a bare one, one that git does not trust, a commit that is not here, a place
// for the sides inside the repository, shared paths that leave the tree or that git knows.
package worktree
