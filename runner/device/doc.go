// Package device names what a sweep measures (the processor, each GPU) and lets one process at a time measure it.
//
// A device is locked by flock on a file of its own in a directory that all users of the machine share. The kernel
// releases the lock when its owner exits, however that happens. The files are never removed, since removing one while
// another process waits for it would let two measure at once; what they hold says who measures, for people only. A
// lock keeps NeuroLens from disturbing itself: other programs do not ask for it. Containers that do not share the
// directory do not see each other's locks.
package device
