package layout

import (
	"time"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// failedDocument is the document of a run that is not ok. The harness's schema has no such document, so this is a format of NeuroLens, with
// those members of a run document that such a run has. Unknown members are null.
type failedDocument struct {
	CreatedAt *string        `json:"created_at"` // start of the run, RFC 3339, UTC
	Error     failure        `json:"error"`
	Meta      failedMeta     `json:"meta"`
	Model     failedModel    `json:"model"`
	RunID     string         `json:"run_id"` // a UUID
	Software  failedSoftware `json:"software"`
	Status    string         `json:"status"`
}

type failure struct {
	ExitCode *int64  `json:"exit_code"`
	Kind     *string `json:"kind"`
	Message  *string `json:"message"`
	Signal   *string `json:"signal"`
	Stage    *string `json:"stage"`
}

type failedMeta struct {
	Config failedConfig      `json:"config"`
	Env    environment       `json:"env"`
	Tags   map[string]string `json:"tags"`
}

type failedConfig struct {
	Backend        *string `json:"backend"`
	BatchSize      *int64  `json:"batch_size"`
	Precision      *string `json:"precision"`
	Repeat         *int64  `json:"repeat"` // from 0
	SequenceLength *int64  `json:"sequence_length"`
}

type failedModel struct {
	Name string `json:"name"`
}

type failedSoftware struct {
	Backend   *string `json:"backend"`
	Precision *string `json:"precision"`
	Version   string  `json:"version"`
}

func newFailedDocument(run *schema.Run, id schema.ULID) *failedDocument {
	backend, precision := files.Optional(run.Backend), files.Optional(precision(run))
	d := &failedDocument{
		RunID: ulidAsUUID(id), Status: string(run.Status),
		Error: failure{run.ExitCode, files.Optional(run.ErrorKind), files.Optional(run.Error), files.Optional(run.Signal), files.Optional(string(run.Stage))},
		Meta: failedMeta{
			Config: failedConfig{backend, batchSize(run), precision, run.RepeatIndex, seqLen(run)}, Env: environmentOf(run.Env), Tags: ownTags(run, id),
		},
		Model: failedModel{nameOf(run)}, Software: failedSoftware{backend, precision, orUnknownText(run.BackendVersion)},
	}
	if !run.StartedAt.IsZero() {
		d.CreatedAt = new(run.StartedAt.UTC().Format(time.RFC3339Nano))
	}
	return d
}
