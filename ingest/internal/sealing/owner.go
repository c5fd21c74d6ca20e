package sealing

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// Owner identifies the process that works on a segment or a claim, so that others can find out whether it is alive.
// Containers share a boot id, so a process id is only valid in its namespace, which is identified by its inode. Unknown
// facts are left out.
type Owner struct {
	HostID       string    `json:"host_id,omitempty"`
	PID          int       `json:"pid"`
	PIDNamespace string    `json:"pid_namespace,omitempty"`
	BootID       string    `json:"boot_id,omitempty"`
	Started      time.Time `json:"started"`
}

// Self returns this process. hostID is the id of this machine, if it is known.
func Self(hostID string, now time.Time) Owner {
	o := Owner{HostID: hostID, PID: os.Getpid(), Started: now.UTC()}
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	o.PIDNamespace = strings.Trim(namespace, "pid:[]")
	bootID, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	o.BootID = strings.TrimSpace(string(bootID))
	return o
}

// dead reports whether the process is certainly gone. A process of another boot or pid namespace is never taken for dead,
// because its number means nothing here.
func (o Owner) dead() bool {
	here := Self("", time.Time{})
	if o.PID <= 0 || o.BootID == "" || o.BootID != here.BootID || o.PIDNamespace == "" || o.PIDNamespace != here.PIDNamespace {
		return false
	}
	return errors.Is(syscall.Kill(o.PID, 0), syscall.ESRCH) || zombie(o.PID)
}

// zombie reports whether a process has ended but still has its number, because its parent has not waited for it.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	afterName := stat[bytes.LastIndexByte(stat, ')')+1:]
	return bytes.HasPrefix(afterName, []byte(" Z"))
}

// Encode prints the owner as JSON that ends with its SHA-256, like the header of a store.
func (o Owner) Encode() ([]byte, error) {
	text, err := schema.SignJSON(o)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", schema.OwnerFile, err)
	}
	return text, nil
}

// ReadOwner reads the owner of a directory. A file that does not match its hash names no owner, because its process id
// may be wrong.
func ReadOwner(f fs.FS, dir string) (Owner, error) {
	name := path.Join(dir, schema.OwnerFile)
	text, err := schema.ReadSmall(f, name)
	if err != nil {
		return Owner{}, err
	}
	var o Owner
	if err := schema.ReadSignedJSON(text, &o); err != nil {
		return Owner{}, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

// lastChange returns when a directory last changed: names in it, or the content of one of its files.
func lastChange(f fs.FS, dir string) (time.Time, error) {
	info, err := fs.Stat(f, dir)
	if err != nil {
		return time.Time{}, err
	}
	latest := info.ModTime()
	entries, err := fs.ReadDir(f, dir)
	if err != nil {
		return latest, err
	}
	for _, e := range entries {
		// Finished runs do not change. Other files may be files that are being written.
		if _, isRun := disk.ParseRunName(e.Name()); e.IsDir() || isRun {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(latest) {
			latest = info.ModTime()
		}
	}
	return latest, nil
}
