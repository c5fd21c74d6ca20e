//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// shellCases are lines at whose end the key for completion is pressed, in a folder with a store of runtest's sweep and a sweep file.
var shellCases = []struct {
	line   string
	offers string // what the shell offers, in whatever order; words of it where more is offered; ␣ is a space within one
	more   bool   // more is offered
	files  bool   // of the shell's own
	then   string // the line after it, where it is longer; a space at its end ends the word
	inZsh  string // the line in zsh, where that is another
}{
	{line: "neurolens ls --format js", offers: "json jsonl", then: "neurolens ls --format json"},
	{line: "neurolens ls --format=md", offers: "md", then: "neurolens ls --format=md "},
	{line: "neurolens ls backend=on", offers: "backend=onnxrt", then: "neurolens ls backend=onnxrt "},
	{line: "neurolens ls backend=torch,c", offers: "backend=torch,cpu", then: "neurolens ls backend=torch,cpu "},
	{line: "neurolens ls status=out", offers: "status=output_limit", then: "neurolens ls status=output_limit "},
	{line: "neurolens ls benchmark=bu", offers: "benchmark=builtin:tiny", then: "neurolens ls benchmark=builtin:tiny "},
	{line: "neurolens ls benchmark=builtin:t", offers: "benchmark=builtin:tiny", then: "neurolens ls benchmark=builtin:tiny "},
	{line: "neurolens ls ba", offers: "backend= backend_version= bandwidth< baseline= batch_size=", then: ""},
	{line: "neurolens ls di", offers: "digest= dim=", then: ""},
	{line: "neurolens ls dim=1", offers: "dim=1024 dim=128", then: ""},
	{line: "neurolens ls tag.", offers: "tag.branch=", then: "neurolens ls tag.branch="},
	{line: "neurolens ls tag.branch=", offers: "tag.branch=main", then: "neurolens ls tag.branch=main "},
	{line: "neurolens ls env.cpu.fact_1", offers: "env.cpu.fact_1= env.cpu.fact_10= env.cpu.fact_19=", more: true, then: ""},
	{line: "neurolens ls suite=", offers: "suite=nightly", then: "neurolens ls suite=nightly "},
	{line: "neurolens ls session=", offers: "session=last session=last~1 session=SESSION", then: ""},
	{line: "neurolens ls variant=", offers: "variant=fused variant=sort␣big.txt variant=wc␣-l␣a.txt variant=wc␣-l␣b.txt", then: ""},
	{line: "neurolens ls variant=so", offers: "variant=sort␣big.txt", then: `neurolens ls variant=sort\ big.txt `},
	{line: `neurolens ls variant=sort\ b`, offers: "variant=sort␣big.txt", then: `neurolens ls variant=sort\ big.txt `},
	{line: "neurolens ls variant=w", offers: "variant=wc␣-l␣a.txt variant=wc␣-l␣b.txt", then: `neurolens ls variant=wc\ -l\ `},
	{line: `neurolens ls variant=wc\ -l\ b`, offers: "variant=wc␣-l␣b.txt", then: `neurolens ls variant=wc\ -l\ b.txt `},
	{line: `neurolens ls variant=fused,\"s`, offers: `variant=fused,"sort␣big.txt"`, then: `neurolens ls variant=fused,\"sort\ big.txt\" `},
	{line: `neurolens compare variant=sort\ big.txt backend=on`, offers: "backend=onnxrt", then: `neurolens compare variant=sort\ big.txt backend=onnxrt `},
	{line: "neurolens compare --matrix variant=so", offers: "variant=sort␣big.txt", then: `neurolens compare --matrix variant=sort\ big.txt `},
	{line: "neurolens compare --matrix=variant=so", offers: "variant=sort␣big.txt", then: `neurolens compare --matrix=variant=sort\ big.txt `},
	{line: `neurolens bench 'sort {n}' -P `, offers: "n=", then: `neurolens bench 'sort {n}' -P n=`},
	{line: `neurolens ls "variant=so`, offers: "variant=sort␣big.txt", then: `neurolens ls "variant=sort big.txt" `},
	{line: `neurolens ls 'variant=so`, offers: "variant=sort␣big.txt", then: `neurolens ls 'variant=sort big.txt' `},
	{line: `neurolens ls variant='so`, offers: "variant=sort␣big.txt", then: `neurolens ls variant='sort big.txt' `, inZsh: `neurolens ls variant=sort\ big.txt `},
	{line: "neurolens ls --columns p9", offers: "p90 p95 p99", then: "neurolens ls --columns p9"},
	{line: "neurolens ls --columns run_id,bat", offers: "run_id,batch_size", then: "neurolens ls --columns run_id,batch_size"},
	{line: "neurolens ls --sort=-p9", offers: "-p90 -p95 -p99", then: ""},
	{line: "neurolens ls --sort=-metric.peak", offers: "-metric.peak_memory -metric.peak_memory_cgroup", then: "neurolens ls --sort=-metric.peak_memory"},
	{line: "neurolens ls metric.peak", offers: "metric.peak_memory< metric.peak_memory_cgroup<", then: "neurolens ls metric.peak_memory"},
	{line: "neurolens ls --by batch_size,di", offers: "batch_size,digest batch_size,dim", then: "neurolens ls --by batch_size,di"},
	{line: "neurolens ls --metric late", offers: "latency", then: "neurolens ls --metric latency"},
	{line: "neurolens show la", offers: "last", then: "neurolens show last "},
	{line: "neurolens show PREFIX", offers: "RUN", then: "neurolens show RUN "},
	{line: "neurolens compare backend=on", offers: "backend=onnxrt", then: "neurolens compare backend=onnxrt "},
	{line: "neurolens compare sw", offers: "sweep.yaml", files: true, then: "neurolens compare sweep.yaml "},
	{line: "neurolens bench sw", offers: "sweep.yaml", files: true, then: "neurolens bench sweep.yaml "},
	{line: "neurolens bench sweep.yaml -P s", offers: "size=", then: "neurolens bench sweep.yaml -P size="},
	{line: "neurolens bench sweep.yaml -P size=1", offers: "size=10 size=100", then: "neurolens bench sweep.yaml -P size=10"},
	{line: "neurolens bench sweep.yaml -P size=10,2", offers: "size=10,20", then: "neurolens bench sweep.yaml -P size=10,20"},
	{line: "neurolens bench sweep.yaml --preset ", offers: "quick thorough", then: ""},
	{line: "neurolens bench sweep.yaml --order r", offers: "random", then: "neurolens bench sweep.yaml --order random "},
	{line: "neurolens bench --set timeouts.me", offers: "timeouts.measure=", then: "neurolens bench --set timeouts.measure="},
	{line: "neurolens ingest --from go-b", offers: "go-bench", then: "neurolens ingest --from go-bench "},
	{line: "neurolens store rep", offers: "repair", then: "neurolens store repair "},
	// Where something cannot be read, less is offered and no error is printed.
	{line: "neurolens --store nowhere ls backend=t", offers: "", then: ""},
	{line: "neurolens --store damaged ls backend=t", offers: "", then: ""},
	{line: "neurolens --store damaged ls bat", offers: "batch_size=", then: "neurolens --store damaged ls batch_size="},
	{line: "neurolens bench broken.yaml -P s", offers: "", then: ""},
}

// completionFolder returns where the lines of shellCases are typed; names puts the ids of a run in their place.
func completionFolder(t *testing.T) (dir string, names *strings.Replacer) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"runs_store", "damaged"} {
		made, runs := runtest.NewSweep(1, 10), []schema.Run{}
		for i := range 24 {
			r := made.Next()
			if i < 3 {
				r.Variant = []string{"sort big.txt", "wc -l a.txt", "wc -l b.txt"}[i]
				r.PointID = schema.PointID(&r)
			}
			if i == 23 {
				r.Benchmark = "builtin:tiny"
				r.PointID = schema.PointID(&r)
				names = strings.NewReplacer("RUN", r.RunID, "PREFIX", r.RunID[:16], "SESSION", r.SessionID)
			}
			runs = append(runs, r)
		}
		programtest.NewStore(t, filepath.Join(dir, name), runs...)
	}
	files, err := filepath.Glob(filepath.Join(dir, "damaged", "runs", "*", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		valuetest.OK(t, os.WriteFile(file, []byte("PAR1 no more"), 0o666))
	}
	for name, text := range map[string]string{
		"sweep.yaml":  "command: [sort, \"{size}\"]\ngrid: {size: [10, 20, 100]}\npresets: {quick: {repeats: 1}, thorough: {repeats: 30}}\n",
		"broken.yaml": "command: [sort\ngrid: {size: [1",
	} {
		programtest.WriteFile(t, dir, name, text)
	}
	return dir, names
}

// shellEnviron is that of a shell in which neurolens is this program.
func shellEnviron(t *testing.T, home string) []string {
	t.Helper()
	programtest.Link(t, home)
	return append(programtest.Environ(t), "HOME="+home, "PATH="+home+":"+os.Getenv("PATH"), "TERM=xterm", "INPUTRC=/dev/null", "NEUROLENS_STORE=", "NEUROLENS_FORMAT=", "LC_ALL=C.UTF-8")
}

// checkOffers compares what a shell offered with what it has to.
func checkOffers(t *testing.T, line, want string, more bool, got []string) {
	t.Helper()
	slices.Sort(got)
	got = slices.Compact(got)
	got = slices.DeleteFunc(got, func(word string) bool { // fish is offered a second word where no space is to follow
		before, dot := strings.CutSuffix(word, ".")
		return dot && slices.Contains(got, before)
	})
	for _, word := range strings.Fields(want) {
		if !slices.Contains(got, strings.ReplaceAll(word, "␣", " ")) {
			t.Errorf("%s: offers %q, want %s among them", line, got, word)
		}
	}
	if n := len(strings.Fields(want)); !more && len(got) != n {
		t.Errorf("%s: offers %q, want %s", line, got, want)
	}
}

// TestFish: what fish offers.
func TestFish(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("fish")
	programtest.Needs(t, "fish", err)
	dir, names := completionFolder(t)
	environ := shellEnviron(t, t.TempDir())
	script := "neurolens completion fish | source\n"
	for _, c := range shellCases {
		script += "echo '== '\ncomplete -C " + fishQuoted(names.Replace(c.line)) + "\n"
	}
	cmd := exec.Command("fish", "--no-config")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, environ, strings.NewReader(script)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%v: %s", err, errs.String())
	}
	answers := strings.Split(string(out), "== \n")[1:]
	for i, c := range shellCases {
		var got []string
		for line := range strings.Lines(answers[i]) {
			word, about, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if strings.Contains(about, "`") {
				t.Errorf("%s: says %q", c.line, about)
			}
			// fish offers what follows the = of a flag with the flag.
			if flag, value, found := strings.Cut(word, "="); found && strings.HasPrefix(flag, "--") {
				word = value
			}
			got = append(got, word)
		}
		checkOffers(t, c.line, names.Replace(c.offers), c.more, got)
	}
}

func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// TestBash types the lines in an interactive bash.
func TestBash(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("bash")
	if err == nil {
		_, err = os.Stat(bashCompletion)
	}
	programtest.Needs(t, "bash-completion", err)
	typeLines(t, "bash --noprofile --rcfile ~/.bashrc -i", ".bashrc", "=:", fmt.Sprintf(`source %s
source <(neurolens completion bash)
offered() { __start_neurolens; printf '%%s\n' "${COMPREPLY[@]}" > "$HOME/offers"; }
complete -o default -F offered neurolens
told() { printf '== %%s\n' "$READLINE_LINE"; cat "$HOME/offers" 2>/dev/null; rm -f "$HOME/offers"; } >> "$HOME/told"
bind 'set bell-style none' 'set completion-query-items 0' 'set page-completions off' 'set enable-bracketed-paste off'
bind -x '"\C-t": told'
PS1='ready> '
`, bashCompletion))
}

// bashCompletion is the package that the script for bash stands on.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// TestZsh types them in an interactive zsh.
func TestZsh(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("zsh")
	programtest.Needs(t, "zsh", err)
	typeLines(t, "zsh -d -i", ".zshrc", "", `autoload -Uz compinit && compinit -u -D
source <(neurolens completion zsh)
compadd() {
	local -a hits
	if [[ ${*} != *'-O '* && ${*} != *'-A '* && ${*} != *'-D '* ]]; then
		builtin compadd -O hits "$@"
		print -rl -- $hits >> $HOME/offers
	fi
	builtin compadd "$@"
}
told() { { print -r -- "== $BUFFER"; cat $HOME/offers 2>/dev/null; rm -f $HOME/offers } >> $HOME/told }
zle -N told
bindkey '^T' told
setopt NO_BEEP LIST_AMBIGUOUS NO_ALWAYS_LAST_PROMPT
LISTMAX=10000
PS1='ready> '
`)
}

// afterBreaks returns words without what stands before the last break of the word at the end of a line.
func afterBreaks(line, words, breaks string) string {
	typed := strings.ReplaceAll(line, `\ `, "␣")
	typed = typed[strings.LastIndex(typed, " ")+1:]
	if strings.HasPrefix(typed, "--") {
		_, typed, _ = strings.Cut(typed, "=")
	}
	if strings.HasPrefix(typed, `"`) || strings.HasPrefix(typed, "'") {
		return words
	}
	before := typed[:strings.LastIndexAny(typed, breaks)+1]
	all := strings.Fields(words)
	for i := range all {
		all[i] = strings.TrimPrefix(all[i], before)
	}
	return strings.Join(all, " ")
}

// typeLines types the lines on a terminal, in a shell with a script, whose key Ctrl-T writes the line as it is then, and what was
// offered. The shell completes what follows the last of the breaks in a word.
func typeLines(t *testing.T, shell, rc, breaks, script string) {
	t.Helper()
	_, err := exec.LookPath("script")
	programtest.Needs(t, "script", err)
	dir, names := completionFolder(t)
	home := t.TempDir()
	valuetest.OK(t, os.WriteFile(filepath.Join(home, rc), []byte(script), 0o666))
	cmd := exec.Command("script", "-qec", shell, "/dev/null")
	cmd.Dir, cmd.Env = dir, append(shellEnviron(t, home), "ZDOTDIR="+home)
	in := valuetest.Must(cmd.StdinPipe())
	out := valuetest.Must(cmd.StdoutPipe())
	valuetest.OK(t, cmd.Start())
	var screen bytes.Buffer
	waitFor := func(what string) {
		t.Helper()
		from := screen.Len()
		b := make([]byte, 4096)
		for !strings.Contains(screen.String()[from:], what) {
			n, err := out.Read(b)
			screen.Write(b[:n])
			valuetest.OK(t, err, "waiting for", what, screen.String())
		}
	}
	waitFor("ready> ")
	for _, c := range shellCases {
		fmt.Fprintf(in, "%s\t\x14\x01\x0b", names.Replace(c.line)) // Tab, Ctrl-T, and the line is emptied
	}
	fmt.Fprint(in, "exit\r")
	rest, _ := io.ReadAll(out)
	screen.Write(rest)
	valuetest.OK(t, cmd.Wait(), screen.String())
	told, err := os.ReadFile(filepath.Join(home, "told"))
	valuetest.OK(t, err, screen.String())
	answers := strings.Split("\n"+string(told), "\n== ")[1:]
	valuetest.Equal(t, len(answers), len(shellCases), screen.String())
	for i, c := range shellCases {
		line, offers, _ := strings.Cut(answers[i], "\n")
		var got []string
		for offer := range strings.Lines(offers) {
			word, _, _ := strings.Cut(strings.TrimSpace(offer), "  ") // what follows is a description
			if word != "" {
				got = append(got, strings.ReplaceAll(word, `\`, ""))
			}
		}
		offers = names.Replace(c.offers)
		if breaks != "" {
			offers = afterBreaks(c.line, offers, breaks)
		}
		if !c.files || breaks == "" { // bash does not tell of them
			checkOffers(t, c.line, offers, c.more, got)
		}
		want := names.Replace(c.then)
		if rc == ".zshrc" && c.inZsh != "" {
			want = c.inZsh
		}
		if want == "" {
			want = c.line
		}
		valuetest.Equal(t, line, want, c.line, "becomes")
	}
	for _, bad := range []string{"neurolens: ", "`", "rror"} {
		if strings.Contains(screen.String(), bad) {
			t.Errorf("the terminal shows %q:\n%s", bad, screen.String())
		}
	}
}
