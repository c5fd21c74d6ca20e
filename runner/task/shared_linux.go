package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// newShared makes the files; nil if this system cannot, or cannot detect other openers of a file. Then each run has its own files, by
// name.
func newShared() *shared {
	s := &shared{}
	memory, err := unix.MemfdCreate("neurolens-"+samplesFile, unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	s.samples = os.NewFile(uintptr(memory), samplesFile)
	for _, file := range []**os.File{&s.stdout, &s.stderr, &s.events, &s.kept} {
		if *file, err = os.OpenFile(os.TempDir(), os.O_RDWR|os.O_APPEND|unix.O_TMPFILE, 0o600); err != nil {
			s.close()
			return nil
		}
	}
	for i, f := range s.written() {
		if s.before[i], err = conditionOf(f); err != nil {
			s.close()
			return nil
		}
	}
	if err := s.renew(); err != nil {
		s.close()
		return nil
	}
	return s
}

func (s *shared) written() [written]*os.File { return [written]*os.File{s.stdout, s.stderr, s.events} }

// condition is the state of a file, besides its content, that a process which may write to it can change.
type condition struct {
	mode, uid, gid uint32
	links          uint64
	flags          int // as chattr sets them
	attributes     int // size of the list of their names, in B
}

func conditionOf(f *os.File) (condition, error) {
	fd := int(f.Fd())
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return condition{}, err
	}
	c := condition{mode: st.Mode, uid: st.Uid, gid: st.Gid, links: uint64(st.Nlink)}
	c.flags, _ = unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS) // a file system need not have any
	c.attributes, _ = unix.Flistxattr(fd, nil)
	return c, nil
}

// renew restores the files to their state before the first run. It fails if that is impossible, or if another process still has one of
// the written files open: a process outside of the run may have got it, and would write into the next run.
func (s *shared) renew() error {
	for i, f := range s.written() {
		now, err := conditionOf(f)
		if err != nil {
			return err
		}
		if now != s.before[i] {
			return fmt.Errorf("%s is in another condition: %+v, before %+v", sharedNames[1+i], now, s.before[i])
		}
		if err := alone(f); err != nil {
			return fmt.Errorf("%s: %w", sharedNames[1+i], err)
		}
		if err := empty(f); err != nil {
			return err
		}
	}
	return empty(s.kept)
}

// alone fails if the file is open elsewhere or mapped: the kernel grants a write lease (fcntl F_SETLEASE) only to the sole opener.
func alone(f *os.File) error {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		if errors.Is(err, unix.EAGAIN) {
			return fs.ErrExist
		}
		return err
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return err
}

// empty truncates a file that is not empty.
func empty(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil || st.Size == 0 && st.Blocks == 0 {
		return err
	}
	return f.Truncate(0)
}

// sharing is the first message to a supervisor. The shared files, if there are any, travel with it (SCM_RIGHTS).
const sharing = "\n"

// newOrders makes the channel for orders, a pair of sockets. Files can be sent through it, so that they take no
// number in the supervisor that a process of a command has from the runner's own parent.
func newOrders() (read, write *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making a pair of sockets: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "orders"), os.NewFile(uintptr(fds[1]), "orders"), nil
}

// send sends the files to a supervisor that is not started yet.
func (s *shared) send(orders *os.File) error {
	var rights []byte
	if s != nil {
		var fds []int
		for _, f := range s.all() {
			fds = append(fds, int(f.Fd()))
		}
		rights = unix.UnixRights(fds...)
	}
	if err := unix.Sendmsg(int(orders.Fd()), []byte(sharing), rights, nil, 0); err != nil {
		return fmt.Errorf("sending files to a supervisor: %w", err)
	}
	return nil
}

// receiveShared receives the files, by their usual names; nil if there are none.
func receiveShared(orders int) map[string]int {
	first, rights := make([]byte, len(sharing)), make([]byte, unix.CmsgSpace(4*len(sharedNames)))
	for {
		_, n, _, _, err := unix.Recvmsg(orders, first, rights, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil // the runner is gone, which the end of its orders shows
		}
		return descriptorsOf(rights[:n])
	}
}

func descriptorsOf(rights []byte) map[string]int {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != len(sharedNames) {
		return nil
	}
	given := map[string]int{}
	for i, name := range sharedNames {
		given[name] = fds[i]
	}
	return given
}
