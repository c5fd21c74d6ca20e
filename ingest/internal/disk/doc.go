// Package disk is how a store is written: the few operations of a file system that it takes, and what is durable, whole
// or not there at all because of their order. Content is fsynced before it has a name, and a name counts from the fsync
// of its directory on. No name is ever given to other content.
//
// All writing goes through Files, so that tests can let any of the operations fail.
package disk
