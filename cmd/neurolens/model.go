package main

import (
	"crypto/sha256"
	"encoding/hex"
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

type modelOptions struct {
	name, precision string
	out             string
	force           bool
}

func newModelCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Make the tiny ONNX models",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newModelGenCommand(a))
	return cmd
}

func newModelGenCommand(a *app) *cobra.Command {
	o := modelOptions{precision: "fp32"}
	cmd := &cobra.Command{
		Use:   "gen NAME --out FILE",
		Short: "Write a tiny ONNX model; no Python is needed",
		Long: fmt.Sprintf(`Write a tiny model, one of %s, as an ONNX file
(IR version 8, operator set 13). Its first two dimensions are free and called
batch_size and seq_len:

  add          y = a + b       a, b and y are [batch_size, seq_len]
  tiny_linear  y = x W + bias  x and y are [batch_size, seq_len, 64]

--precision is one of %s. The bytes are always the
same for the same name and precision.`, strings.Join(onnx.Names(), ", "), strings.Join(onnx.Precisions(), " ")),
		Example: "  neurolens model gen add --out ./tmp/add.onnx\n  neurolens model gen tiny_linear --out tiny.onnx --precision fp16",
		Args:    arguments(1, 1, "the name of one model"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.name = args[0]
			return runModelGen(a, o)
		},
	}
	cmd.Flags().StringVar(&o.out, "out", "", "the `FILE` to write; its directory is made where there is none")
	cmd.Flags().StringVar(&o.precision, "precision", o.precision, "number format of the weights")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace a file that exists")
	return cmd
}

func runModelGen(a *app, o modelOptions) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	if o.out == "" {
		return usageErrorf("model gen: want --out FILE")
	}
	model, err := onnx.Generate(o.name, o.precision)
	if err != nil {
		return usageErrorf("model gen: %w", err)
	}
	precision, err := schema.CanonicalPrecision(o.precision)
	if err != nil {
		return usageErrorf("model gen: %w", err)
	}
	if err := output.WriteNew(o.out, model, o.force); err != nil {
		err = fmt.Errorf("model gen: writing %s: %w", o.out, err)
		if export.NotTheName(err) {
			return err
		}
		return usageError{err}
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
	return a.print(format, t, func() term.View { return output.RecordsView(t) })
}
