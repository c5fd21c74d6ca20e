package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/bits"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// hostSalt keeps the id of a host from being looked up elsewhere by its machine-id.
const hostSalt = "neurolens host 1\n"

// hostID returns the identity of the installed system, in 32 hexadecimal digits.
func hostID(root fs.FS) (string, error) {
	var first error
	for _, path := range []string{"etc/machine-id", "var/lib/dbus/machine-id"} {
		id, err := readText(root, path)
		if _, notHex := hex.DecodeString(id); err == nil && notHex == nil && id != "" {
			sum := sha256.Sum256([]byte(hostSalt + id))
			return hex.EncodeToString(sum[:16]), nil
		} else if err == nil {
			err = fs.ErrNotExist // empty or the word uninitialized, in an image
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// readMachine names the machine: as the user does, else by what its hardware is. Where a part of the hardware is
// not known, neither is the machine: a name that comes and goes would split its history in two.
func readMachine(name string, f *facts) {
	if name != "" {
		f.set("machine", name)
		f.set("machine.source", "user")
		return
	}
	for _, part := range []string{"cpu.model", "cpu.cores", "memory.total"} {
		if why, ok := f.missing[part]; ok {
			f.miss("machine", why)
			return
		}
	}
	if why := f.unknownDevices(); why != "" {
		f.miss("machine", why)
		return
	}
	f.set("machine", fingerprint(f.known["cpu.model"], f.known["cpu.cores"], *f.integer("memory.total"), f.deviceNames()))
	f.set("machine.source", "fingerprint")
}

// fingerprint names hardware: epyc-7b13-64c-512g-8xa100-sxm4-80gb-1f0c22a9. The digits at the end are of the
// full names.
func fingerprint(cpu, cores string, memory int64, devices []string) string {
	class := memoryClass(memory)
	words := []string{slug(cpu), cores + "c", fmt.Sprintf("%dg", class)}
	for i := 0; i < len(devices); {
		n := 1
		for i+n < len(devices) && devices[i+n] == devices[i] {
			n++
		}
		words = append(words, fmt.Sprintf("%dx%s", n, slug(devices[i])))
		i += n
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{"v1", cpu, cores, fmt.Sprint(class)}, devices...), "\n")))
	return strings.Join(append(words, hex.EncodeToString(sum[:4])), "-")
}

// memoryClass returns the memory that was built in, in GiB: what the system sees is always some percent less.
// Rounding is upwards to three binary digits after the first, so that another kernel on the same machine, which keeps
// more or less for itself, makes no other machine of it.
func memoryClass(visible int64) int64 {
	const gib = 1 << 30
	n := max(1, (visible+gib-1)/gib)
	step := int64(1) << max(0, bits.Len64(uint64(visible/gib))-4)
	return (n + step - 1) / step * step
}

var (
	noise    = regexp.MustCompile(`(?i)\((r|tm)\)|\d+(st|nd|rd|th) gen|\b(amd|intel|nvidia|cpu|processor|\d+-core)\b|@.*|\bwith .*`)
	nonAlnum = regexp.MustCompile(`[^a-z0-9]+`)
)

// slug shortens the name of a part to what tells it from others.
func slug(name string) string {
	short := nonAlnum.ReplaceAllString(strings.ToLower(noise.ReplaceAllString(name, " ")), "-")
	if short = strings.Trim(short, "-"); short != "" {
		return short
	}
	return "unknown"
}
