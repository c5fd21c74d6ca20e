// Package bisect searches the first commit of a history from which on something is changed, as git bisect does: each
// commit that is tested halves those that are left, a commit that cannot be tested is skipped and another one near it
// taken. It is told what tests found, and neither measures nor asks git.
package bisect
