package probe

import "testing"

// TestRedact: what is shown to anybody does not tell whose machine it is, and tells the rest.
func TestRedact(t *testing.T) {
	t.Parallel()
	facts := map[string]string{
		"host.name": "kestrel", "host.id": "31e0", "machine": "kestrel-lab", "os.cmdline": "root=UUID=1", "os.boot_id": "a5", "gpu.0.uuid": "GPU-1",
		"gpu.0.serial": "42", "gpu.0.name": "NVIDIA H100", "git.remote": "https://host/me/x", "git.branch": "mine", "cpu.model": "AMD EPYC",
		"env.LD_LIBRARY_PATH": "/home/alice/lib:/opt/lib", "env.NCCL_SOCKET": "10.1.2.3:99", "env.X": "built by alice on kestrel", "os.kernel": "6.1.0-17",
	}
	want := map[string]string{
		"gpu.0.name": "NVIDIA H100", "cpu.model": "AMD EPYC", "env.LD_LIBRARY_PATH": "/home/(redacted)/lib:/opt/lib", "env.NCCL_SOCKET": "(redacted):99",
		"env.X": "built by (redacted) on (redacted)", "os.kernel": "6.1.0-17",
	}
	for fact, got := range Redact(facts, "kestrel", "alice", "root", "it") {
		expected, kept := want[fact]
		if !kept {
			expected = redacted
		}
		if got != expected {
			t.Errorf("%s: %q, want %q", fact, got, expected)
		}
	}
}
