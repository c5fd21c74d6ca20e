package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/schema"
)

// modelOptions are the flags of gen.
type modelOptions struct {
	precision string
	out       string
	force     bool
}

// newModelCommand is model.
func newModelCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Generate tiny ONNX models for tests",
		Long: `Generate tiny ONNX models, to try sweeps and backends without a model of your
own.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newModelGenCommand(a))
	return cmd
}

// newModelGenCommand is model gen.
func newModelGenCommand(a *app) *cobra.Command {
	o := modelOptions{precision: "fp32"}
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
		Args:    arguments(1, 1, "the name of one model"),
		RunE: a.printing(func(_ *cobra.Command, args []string, format string) error {
			if o.out == "" {
				return usageError{errors.New("model gen: want --out FILE")}
			}
			model, err := onnx.Generate(args[0], o.precision)
			if err != nil {
				return usageError{fmt.Errorf("model gen: %w", err)}
			}
			precision, err := schema.CanonicalPrecision(o.precision)
			if err != nil {
				return usageError{fmt.Errorf("model gen: %w", err)}
			}
			if err := term.WriteNew(o.out, model, o.force); err != nil {
				err = fmt.Errorf("model gen: writing %s: %w", o.out, err)
				if export.NotTheName(err) {
					return err
				}
				return usageError{err}
			}
			sum := sha256.Sum256(model)
			t := answer.Table{
				Columns: views.TextColumns("model", "precision", "path", "bytes", "sha256"),
				Rows:    [][]any{{args[0], precision, filepath.ToSlash(o.out), int64(len(model)), hex.EncodeToString(sum[:])}},
			}
			t.Columns[3] = answer.Column{Name: "bytes", Unit: "B", Type: answer.TypeInteger}
			return a.print(format, t, func() term.View { return term.RecordsView(t) })
		}),
	}
	cmd.Flags().StringVar(&o.out, "out", "", "write to `FILE`; missing folders are created")
	cmd.Flags().StringVar(&o.precision, "precision", o.precision, "the number format of the weights")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing file")
	return cmd
}
