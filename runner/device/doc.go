// Package device names the devices that a sweep measures (the processor, each GPU), and lets only one process at a time measure
// on each of them.
//
// A device is locked with flock on a file of its own, in a directory that all users of the machine share. The kernel releases
// the lock when its owner exits for any reason. The files are never removed: if one were removed while another process waits for
// it, two processes could measure at once. The content of a file names its owner, for people to read. Locks only keep NeuroLens
// from disturbing itself, because other programs do not check them. Containers that do not share the directory do not see each
// other's locks.
package device
