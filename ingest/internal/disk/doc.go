// Package disk has the few file operations that write a store. Their order makes files either durable and complete, or
// absent: content is fsynced before the file gets its name, and a name counts once its directory is fsynced. A name never
// gets other content.
//
// All writes go through Files, so that tests can make any operation fail.
//
// The package also classifies the files of a store by their names and places alone (Classify, Walk), and lists segments and claims;
// schema/FORMAT.md specifies what is in them.
package disk
