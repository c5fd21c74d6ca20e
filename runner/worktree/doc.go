// Package worktree creates the two sides of a comparison of two commits: the base, which is a commit that the user names, and the
// head, which is the user's working tree or another commit. Both are linked git working trees in folders with paths of equal
// length. A side that ran in place would differ from the other in caches, path length and edits made in the meantime.
//
// Between lists the commits that lead from one commit to another.
//
// If the working tree is clean, the head is its commit. Otherwise the uncommitted state, including new files that git does not
// ignore, becomes a commit that no reference points to; git removes its objects in time. Ignored files are on neither side unless
// they are shared, which links them into both. Submodules, also nested ones, are checked out from the repositories on this
// machine. A submodule that the user has not checked out is empty on both sides.
//
// Nothing else in the user's repository changes: not the index, no reference, no configuration. No hook runs, nothing asks for a
// password, and git makes no network connection: content that is not on this machine is an error. Filters run as in any checkout.
// Git LFS, if it is installed, reads files from its store in the repository and is prevented from downloading others.
//
// Close removes the sides. If a process was killed, Clean removes its sides: a lock shows which owners are still alive.
//
// Refused are: a folder without a repository, a bare repository, one that git does not trust, an unknown commit, a folder for the
// sides inside the repository, and shared paths that leave the tree or that git tracks.
package worktree
