// Package bucket copies runs between stores and a bucket of an S3 object store, as schema/BUCKET.md specifies.
//
// A push puts the sealed runs, events and artifacts of a store that no earlier push has into few objects, and a manifest last. A pull
// reads the manifests that it does not know, and merges what the store lacks. Any number of machines may push at the same time without
// coordination: a manifest is put only if its number is free, and the bucket decides who is first.
//
// What is in the bucket is not trusted: manifests, keys, sizes and hashes are checked before anything is stored.
package bucket
