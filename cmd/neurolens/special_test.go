//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// specials are what an untrusted store can have in the place of a file or a directory.
var specials = map[string]func(name string) error{
	"pipe":      func(name string) error { return syscall.Mkfifo(name, 0o666) },
	"directory": func(name string) error { return os.Mkdir(name, 0o777) },
	"device":    func(name string) error { return os.Symlink("/dev/zero", name) },
	"dangling":  func(name string) error { return os.Symlink("not there", name) },
	"link":      func(name string) error { return os.Symlink("/etc", name) },
	"sparse":    func(name string) error { return errors.Join(os.WriteFile(name, nil, 0o666), os.Truncate(name, 10<<30)) },
}

// everyPlace makes a store and gives the names in it of every kind, those that it has and others.
func everyPlace(t *testing.T) (dir string, places []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	programtest.FillStore(t, dir, 9, 10) // which seals
	programtest.FillStore(t, dir, 1, 10) // which does not
	store := valuetest.Must(ingest.Open(dir, "test"))
	list := valuetest.Must(schema.List(schema.Dir(dir), schema.Scope{}))
	valuetest.Equal(t, len(list.Live), 1, "the store", list)
	valuetest.Equal(t, len(list.Sealed), 1, "the store", list)
	live, sealed := list.Live[0], list.Sealed[0]
	event, err := store.Annotate(ingest.Annotation{Kind: schema.EventTag, Runs: []string{live.Run.String()}, Key: "k", Value: "v"})
	valuetest.OK(t, errors.Join(err, store.Close()))
	id := schema.NewULID(time.Now())
	claim := schema.Claim{ID: id}.Path()
	return dir, []string{
		schema.HeaderFile, live.Path(), path.Join(path.Dir(live.Path()), schema.OwnerFile), "events/" + event.EventID + ".json",
		schema.PackedEvents(id), path.Join(claim, schema.PlanFile), path.Join(claim, schema.OwnerFile), sealed.Path(schema.RunsDir),
		sealed.Path(schema.SamplesDir), sealed.Path(schema.OpsDir), sealed.Path(schema.PacksDir), "tmp/" + id.String() + ".part",
		"artifacts/aa/" + strings.Repeat("a", 64) + ".log", schema.LiveDir, schema.ClaimsDir, schema.RunsDir, path.Dir(sealed.Path(schema.RunsDir)),
		schema.SamplesDir, schema.OpsDir, schema.PacksDir, schema.EventsDir, schema.ArtifactsDir, schema.TmpDir, schema.TrashDir, ingest.QuarantineDir,
	}
}

// TestSpecialFiles puts pipes, devices, links, directories and very long files in every place of a store: every command
// comes to an end, says what it found and takes little memory. With NEUROLENS_LONG=1 each place meets a third of the commands, and each command
// every third place; with NEUROLENS_LONG=all all meet all.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	whole, places := everyPlace(t)
	third, torture := 3, os.Getenv("NEUROLENS_LONG") == "all"
	if torture {
		third = 1
	}
	few := []string{schema.HeaderFile, places[1], places[3], places[8]}
	for kind, make := range specials {
		for p, place := range places {
			if !programtest.Long() && !torture && (kind != "pipe" || !slices.Contains(few, place)) {
				continue
			}
			dir := filepath.Join(t.TempDir(), "store")
			name := filepath.Join(dir, place)
			valuetest.OK(t, errors.Join(os.CopyFS(dir, os.DirFS(whole)), os.MkdirAll(filepath.Dir(name), 0o777), os.RemoveAll(name), make(name)))
			for c, command := range specialCommands(t, (programtest.Long() || torture) && kind == "pipe") {
				if (programtest.Long() || torture) && (p+c)%third != 0 {
					continue
				}
				valuetest.NoError(t, endsSoon(dir, command), kind, "in the place of", place, command)
			}
		}
	}
}

// specialCommands returns the commands that are run: all, or those that open most.
func specialCommands(t *testing.T, all bool) [][]string {
	some := [][]string{{"ls"}, {"query", "SELECT count(*) FROM samples"}, {"store", "verify"}}
	if !all {
		return some
	}
	other := filepath.Join(t.TempDir(), "other")
	programtest.FillStore(t, other, 1, 1)
	return append(slices.Concat(some, reading(t.TempDir())),
		[]string{"store", "compact", "--into", filepath.Join(t.TempDir(), "new")}, []string{"store", "merge", other}, []string{"store", "seal", "--now"},
		[]string{"bench", filepath.Join(programtest.Fixtures(t), "sweeps", "quickstart.yaml"), "--dry-run"}, []string{"store", "repair", "--dry-run"},
		[]string{"store", "repair"}, []string{"note", "precision=fp32", "text"}, []string{"ls"})
}

// hang is after how long a command is taken to hang: no outcome but that depends on it.
const hang = 2 * time.Minute

// endsSoon runs a command on a store.
func endsSoon(dir string, command []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, append([]string{self, "--store", dir}, command...)...)
	cmd.Env, cmd.WaitDelay = append(os.Environ(), peakRole+"=1"), time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, _ := cmd.Output()
	code := cmd.ProcessState.ExitCode()
	switch peak, err := strconv.Atoi(strings.TrimSpace(string(out))); {
	case ctx.Err() != nil:
		return errors.New("it hangs")
	case err != nil:
		return fmt.Errorf("its peak of memory: %w: %s", err, stderr.String())
	case peak > 600<<10:
		return fmt.Errorf("it takes %d KiB", peak)
	case code != exitOK && code != exitRunsFailed && code != exitStore:
		return fmt.Errorf("exit %d: %s", code, stderr.String())
	}
	return nil
}
