// Package models is the command model, which writes tiny ONNX models.
package models

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/schema"
)

// Host is the program that the command is part of.
type Host struct {
	Formatted func() (string, error) // the format of what is printed
	Print     func(format string, t answer.Table, view func() term.View) error
	Wrong     func(error) error // makes an error one of the command line
	None, One cobra.PositionalArgs
}

// options are the flags of gen.
type options struct {
	name, precision string
	out             string
	force           bool
}

// Command is model.
func Command(h Host) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Generate tiny ONNX models for tests",
		Long: `Generate tiny ONNX models, to try sweeps and backends without a model of your
own.`,
		Args: h.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(gen(h))
	return cmd
}

// gen is model gen.
func gen(h Host) *cobra.Command {
	o := options{precision: "fp32"}
	cmd := &cobra.Command{
		Use:   "gen NAME --out FILE",
		Short: "Write a tiny ONNX model; Python is not needed",
		Long: fmt.Sprintf(`Write a tiny ONNX model, to try a sweep without a model of your own. NAME is
%s. The first two dimensions are free, and are called
batch_size and seq_len (IR version 8, operator set 13):

  add          y = a + b       a, b and y are [batch_size, seq_len]
  tiny_linear  y = x W + bias  x and y are [batch_size, seq_len, 64]

--precision is one of %s. The same name and
precision always give the same bytes.`, strings.Join(onnx.Names(), " or "), strings.Join(onnx.Precisions(), " ")),
		Example: "  neurolens model gen add --out ./tmp/add.onnx\n  neurolens model gen tiny_linear --out tiny.onnx --precision fp16",
		Args:    h.One,
		RunE: func(_ *cobra.Command, args []string) error {
			o.name = args[0]
			return h.generate(o)
		},
	}
	cmd.Flags().StringVar(&o.out, "out", "", "write to `FILE`; missing folders are created")
	cmd.Flags().StringVar(&o.precision, "precision", o.precision, "the number format of the weights")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing file")
	return cmd
}

// generate writes a model and says what it wrote.
func (h Host) generate(o options) error {
	format, err := h.Formatted()
	if err != nil {
		return err
	}
	if o.out == "" {
		return h.Wrong(errors.New("model gen: want --out FILE"))
	}
	model, err := onnx.Generate(o.name, o.precision)
	if err != nil {
		return h.Wrong(fmt.Errorf("model gen: %w", err))
	}
	precision, err := schema.CanonicalPrecision(o.precision)
	if err != nil {
		return h.Wrong(fmt.Errorf("model gen: %w", err))
	}
	if err := output.WriteNew(o.out, model, o.force); err != nil {
		err = fmt.Errorf("model gen: writing %s: %w", o.out, err)
		if export.NotTheName(err) {
			return err
		}
		return h.Wrong(err)
	}
	sum := sha256.Sum256(model)
	t := answer.Table{
		Columns: []answer.Column{
			{Name: "model", Type: answer.TypeText},
			{Name: "precision", Type: answer.TypeText},
			{Name: "path", Type: answer.TypeText},
			{Name: "bytes", Unit: "B", Type: answer.TypeInteger},
			{Name: "sha256", Type: answer.TypeText},
		},
		Rows: [][]any{{o.name, precision, filepath.ToSlash(o.out), int64(len(model)), hex.EncodeToString(sum[:])}},
	}
	return h.Print(format, t, func() term.View { return output.RecordsView(t) })
}
