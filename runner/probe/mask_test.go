package probe

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestMaskArguments: secrets are hidden however they are given, and what only looks like one stays.
func TestMaskArguments(t *testing.T) {
	t.Parallel()
	mask := NewMask([]string{"MY_SECRET=correct-horse-battery", "TOKEN=12345678", "HOME=/home/somebody"})
	for _, c := range []struct{ given, want []string }{
		{[]string{"./x", "--token=sk-live-SECRETTOKEN123"}, []string{"./x", "--token=<hidden>"}},
		{[]string{"./x", "--token", "abc-def"}, []string{"./x", "--token", "<hidden>"}},
		{[]string{"./x", "password=hunter2secret"}, []string{"./x", "password=<hidden>"}},
		{[]string{"./x", "--api-key", "abcdef"}, []string{"./x", "--api-key", "<hidden>"}},
		{[]string{"curl", "https://host/password=hunter2secret"}, []string{"curl", "https://host/password=<hidden>"}},
		{[]string{"./x", "--hfToken=abcdefgh"}, []string{"./x", "--hfToken=<hidden>"}},
		{[]string{"./x", "key=sk-abc123def456ghi789"}, []string{"./x", "key=<hidden>"}},
		{[]string{"./x", "sk-abcdefghijklmnop1234"}, []string{"./x", "<hidden>"}},
		{[]string{"./x", "ghp_0123456789abcdefghij"}, []string{"./x", "<hidden>"}},
		{[]string{"./x", "hf_abcdefghijklmnopqrst"}, []string{"./x", "<hidden>"}},
		{[]string{"./x", "AKIAIOSFODNN7EXAMPLE"}, []string{"./x", "<hidden>"}},
		{[]string{"git", "clone", "https://me:pw@host/x"}, []string{"git", "clone", "https://<hidden>@host/x"}},
		{[]string{"curl", "-H", "Authorization: Bearer abcdefghij.klm"}, []string{"curl", "-H", "Authorization: Bearer <hidden>"}},
		{[]string{"curl", "-H", "X-Api-Key: abcdef"}, []string{"curl", "-H", "X-Api-Key: <hidden>"}},
		{[]string{"sh", "-c", "prog --password hunter2 --size 3"}, []string{"sh", "-c", "prog --password <hidden> --size 3"}},
		{[]string{"curl", "-u", "me:pw", "https://host/x"}, []string{"curl", "-u", "me:<hidden>", "https://host/x"}},
		{[]string{"curl", "--user=me:pw1", "-H", "Cookie: session=abcd; a=b"}, []string{"curl", "--user=me:<hidden>", "-H", "Cookie: <hidden>"}},
		{[]string{"sh", "-c", "curl -u me:pw -H 'Cookie: a=b' https://host/x"}, []string{"sh", "-c", "curl -u me:<hidden> -H 'Cookie: <hidden>' https://host/x"}},
		{[]string{"./x", "correct-horse-battery"}, []string{"./x", "<hidden>"}},
	} {
		valuetest.DeepEqual(t, mask.Arguments(c.given), c.want, c.given)
	}
	for _, line := range []string{
		"--tokens 128", "--max-tokens=256", "--max-token 12", "--key-size 8", "tokenizer=gpt2", "--tokenizer gpt2", "--pad-token <pad>", "--eos_token=</s>",
		"--token 128", "--password-stdin --size 4", "--token-dim=64", "--key=a", "--num-keys 4", "key=value", "--secretary x", "--monkey=a",
		"sk-learn-random-forest-classifier", "task-0123456789abcdef0123", "if=/dev/zero of=/dev/null bs=4096 count=64", "12345678", "/home/somebody/x",
		"https://host/x@y", "--per-token latency", "--first-token-timeout 3s", "basic block", "basic optimization", "unexpected token: x",
		"metric a: /etc/passwd: the process did not write it", "docker run -u 1000:1000 image", "python3 -u x.py", "--user name", "fortune cookie",
	} {
		given := strings.Fields(line)
		valuetest.DeepEqual(t, mask.Arguments(given), given)
		valuetest.DeepEqual(t, mask.Text(line), line)
	}
}

// FuzzMask: a secret that is given by its name is never stored, and masking again changes nothing.
func FuzzMask(f *testing.F) {
	f.Add("--password=", "hunter2secret", " --size 3")
	f.Add("a b ", "x", "=")
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		if !utf8.ValidString(before + secret + after) {
			return
		}
		var mask Mask
		if once := mask.Text(before + secret + after); mask.Text(once) != once {
			t.Errorf("%q became %q, then %q", before+secret+after, once, mask.Text(once))
		}
		const word = "Zq9hunter2Zq9"
		for _, line := range [][]string{{before, "--password=" + word, after}, {before, "--api-key", word, after}} {
			got := mask.Arguments(line)
			if strings.Contains(strings.Join(got[1:], " "), word) {
				t.Errorf("%q became %q", line, got)
			}
		}
	})
}

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
		valuetest.DeepEqual(t, got, expected, fact)
	}
}

// TestMaskIn: a report that is no text has a secret variable or argument, or it has none.
func TestMaskIn(t *testing.T) {
	m := NewMask([]string{"MY_API_TOKEN=hunter2hunter2", "HOME=/home/me"})
	arguments := []string{"prog", "--password=swordfish", "-n", "8"}
	for content, want := range map[string]bool{
		"\x00/home/me prog -n 8\xff": false, "\x00hunter2hunter2\xff": true, "\x00prog\x00--password=swordfish": true, "--password=<hidden>": false,
	} {
		valuetest.DeepEqual(t, m.In([]byte(content), arguments), want, content)
	}
}
