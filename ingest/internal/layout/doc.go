// Package layout classifies the files of a store by their names and places alone: live runs, sealed files, claims and
// their plans, packs, events, artifacts, temporary files, files that were set aside, and files that do not belong to a
// store. It also lists segments and claims. It opens no file; schema/FORMAT.md specifies their content.
package layout
