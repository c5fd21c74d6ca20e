package probe

import (
	"io/fs"
	"slices"
	"strings"
)

// readContainer detects the container engine, and the evidence for it. A virtual machine made from an image may have the same marks.
func readContainer(opts Options, f *facts) {
	engine, evidence := container(opts)
	f.set("container", engine)
	f.set("container.evidence", evidence)
}

func container(opts Options) (engine, evidence string) {
	if slices.ContainsFunc(opts.Environ, func(v string) bool { return strings.HasPrefix(v, "KUBERNETES_SERVICE_HOST=") }) {
		return "kubernetes", "KUBERNETES_SERVICE_HOST"
	}
	if name, err := readText(opts.Root, "run/systemd/container"); err == nil && name != "" {
		return name, "/run/systemd/container"
	}
	if _, err := fs.Stat(opts.Root, "run/.containerenv"); err == nil {
		return "podman", "/run/.containerenv"
	}
	groups, _ := readText(opts.Root, "proc/self/cgroup")
	for _, mark := range [][2]string{
		{"kubepods", "kubernetes"},
		{"libpod", "podman"},
		{"docker", "docker"},
		{"containerd", "containerd"},
		{"lxc", "lxc"},
	} {
		if strings.Contains(groups, mark[0]) {
			return mark[1], "/proc/self/cgroup"
		}
	}
	if _, err := fs.Stat(opts.Root, ".dockerenv"); err == nil {
		return "docker", "/.dockerenv"
	}
	return "", ""
}

// hypervisors are words in the names that virtual machines give themselves.
var hypervisors = [][2]string{
	{"KVM", "kvm"},
	{"QEMU", "qemu"},
	{"VMware", "vmware"},
	{"VirtualBox", "virtualbox"},
	{"Amazon EC2", "amazon"},
	{"Google", "google"},
	{"Microsoft", "microsoft"},
	{"Xen", "xen"},
	{"HVM domU", "xen"},
	{"Parallels", "parallels"},
}

// readVirtualization tells whose virtual machine this is: none, or vm where it does not say whose. Only x86 has a
// flag for it; the names alone may be those of a maker of real machines. It needs system.vendor and
// system.product.
func readVirtualization(root fs.FS, f *facts) {
	info, err := cpuinfo(root)
	if err != nil {
		f.put("virtualization")("", err)
		return
	}
	flags, ok := info["flags"]
	if !ok {
		f.miss("virtualization", unsupported)
		return
	}
	if !slices.Contains(strings.Fields(flags), "hypervisor") {
		f.set("virtualization", "none")
		return
	}
	names := f.known["system.vendor"] + " " + f.known["system.product"]
	for _, known := range hypervisors {
		if strings.Contains(names, known[0]) {
			f.set("virtualization", known[1])
		}
	}
	f.set("virtualization", "vm")
}
