// Package worktree creates the two sides of a comparison of two commits: the base, which is a commit that the user names, and the
// head, which is the user's working tree or another commit. Both are in folders with paths of equal length. A side that ran in place
// would differ from the other in caches, path length and edits made in the meantime.
//
// Between lists the commits that lead from one commit to another.
//
// Each side is a repository of its own. It borrows the objects of the user's repository (objects/info/alternates, which git only
// reads) and has copies of the references but for the stash, of the configuration, of the patterns of ignored files, attributes and
// sparse checkouts, and of the end of a shallow history. HEAD is the commit itself. The remotes are those of the user, and the hooks are
// left out. Submodules, also nested ones, are cloned in the same way from the repositories on this machine, to the places where git
// submodule expects them. A submodule that the user has not checked out is empty on both sides. So a build may do with git whatever it
// wants. In linked working trees (git worktree) it would share configuration, references, stash, hooks and submodules with the user, and
// git submodule update would write the side's path into the user's configuration. A clone costs no more, because the files of the
// working trees take the time: two sides of 5,000 files took 7.4 s of processor time, and two linked working trees 7.3 s (BenchmarkOpen).
//
// If the working tree is clean, the head is its commit. Otherwise the uncommitted state, including new files that git does not
// ignore, becomes a commit in the folder of the sides. Ignored files are on neither side unless they are shared, which links
// them into both: these links are the only way from a side to the user's files.
//
// The package writes nothing into the user's repository, except that Git LFS notes the version of its format in the configuration, if it
// has not done so before. No hook runs, nothing asks for a password, and git makes no network connection: content that is not on this
// machine is an error. Filters run as in any checkout. Git LFS, if it is installed, takes files from its store in the repository and is
// prevented from downloading others.
//
// Nothing in the user's repository keeps the objects of the sides either. While they exist, git gc --prune=now in the user's repository
// breaks a side whose commit no reference leads to.
//
// Close removes the sides. If a process was killed, Clean removes its sides: a lock shows which owners are still alive.
//
// Refused are: a folder without a repository, a bare repository, one that git does not trust, an unknown commit, a folder for the
// sides inside the repository, and shared paths that leave the tree or that git tracks.
package worktree
