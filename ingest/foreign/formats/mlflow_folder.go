package formats

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// mlflowNumbers are the numbers of statuses in meta.yaml.
var mlflowNumbers = map[string]string{"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}

// readMLflowFolder reads the run of a meta.yaml.
func readMLflowFolder(in *foreign.Input, out *foreign.Output) error {
	const limit = 1 << 20
	content, err := io.ReadAll(io.LimitReader(in.Text(), limit))
	if err != nil {
		return err
	}
	var meta, experiment struct {
		RunID      string `yaml:"run_id"`
		RunUUID    string `yaml:"run_uuid"`
		Experiment string `yaml:"experiment_id"`
		Name       string `yaml:"name"`
		Start      string `yaml:"start_time"`
		Status     string `yaml:"status"`
		Stage      string `yaml:"lifecycle_stage"`
	}
	if err := yaml.Load(content, &meta); err != nil {
		return fmt.Errorf("reading meta.yaml: %w", err)
	}
	above, err := in.Side("../meta.yaml")
	if err == nil {
		err = yaml.Load(above, &experiment)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.Refuse("meta.yaml of the experiment", err)
	}
	if meta.RunID == "" {
		meta.RunID = meta.RunUUID
	}
	run := &mlflowRun{id: meta.RunID, experiment: experiment.Name, status: mlflowNumbers[meta.Status], stage: meta.Stage, start: foreign.Number(meta.Start)}
	if run.experiment == "" {
		run.experiment = meta.Experiment
	}
	if run.status == "" {
		run.status = meta.Status
	}
	run.params, run.tags = mlflowFiles(in, out, "params"), mlflowFiles(in, out, "tags")
	for _, metric := range mlflowFiles(in, out, "metrics") {
		for line := range strings.Lines(metric.text) {
			words := strings.Fields(line)
			if len(words) < 2 {
				out.Refuse("metrics/"+metric.name, fmt.Errorf("%q is no time and value", foreign.Brief(line)))
				continue
			}
			v := mlflowValue{value: foreign.Number(words[1])}
			v.at, _ = strconv.ParseInt(words[0], 10, 64)
			if len(words) > 2 {
				v.step, _ = strconv.ParseInt(words[2], 10, 64)
			}
			run.add(metric.name, v)
		}
	}
	return run.yield(out)
}

// mlflowFiles returns the files of a folder beside meta.yaml, with their content, in the order of their names. Names can have slashes.
func mlflowFiles(in *foreign.Input, out *foreign.Output, folder string) (files []param) {
	if in.Folder == nil {
		return nil
	}
	root := path.Join(path.Dir(in.Path), folder)
	err := fs.WalkDir(in.Folder, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := in.Side(path.Join(folder, strings.TrimPrefix(name, root+"/")))
		if err != nil {
			return err
		}
		files = append(files, param{strings.TrimPrefix(name, root+"/"), strings.ToValidUTF8(string(content), "�")})
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.Refuse(folder, err)
	}
	slices.SortFunc(files, func(a, b param) int { return strings.Compare(a.name, b.name) })
	return files
}
