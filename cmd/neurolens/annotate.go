package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// annotation is what a command says about the runs of a selection.
type annotation struct {
	selection string
	removed   bool // the selection is one of removed runs
	baseline  bool // at least one run has to be ok, and no run may have failed requests
	events    []ingest.Annotation
}

const selectionHelp = `
SELECTION is the id of a run, its beginning or end, last (the run that started
last), or a filter as for ls. Quote a filter of several words.`

func newTagCommand(a *app) *cobra.Command {
	var untag []string
	cmd := &cobra.Command{
		Use:   "tag SELECTION [KEY=VALUE...]",
		Short: "Set or remove tags of stored runs",
		Long:  "Set or remove tags of stored runs. Filters and queries see the change at once.\nThe stored runs themselves are not modified.\n" + selectionHelp,
		Example: `  neurolens tag last cooling=water
  neurolens tag 7QX4M2ZK --remove cooling`,
		Args: arguments(1, 100, "a selection and tags"),
		RunE: func(cmd *cobra.Command, args []string) error {
			tags, err := tagEvents(args[1:], untag)
			if err != nil {
				return err
			}
			return withSelectionHint(annotate(a, cmd, annotation{selection: args[0], events: tags}), args)
		},
	}
	cmd.Flags().StringArrayVar(&untag, "remove", nil, "remove the tag `KEY`; repeatable")
	return cmd
}

// withSelectionHint adds to an error about the selection of tag that it comes first: a tag that was typed in its place looks like a filter.
func withSelectionHint(err error, args []string) error {
	if err == nil || len(args) < 2 || !strings.HasPrefix(err.Error(), "filter: ") {
		return err
	}
	return fmt.Errorf("%w; the selection comes first: neurolens tag session=last %s", err, term.ShellLine(args...))
}

// tagEvents reads the tags to set and the keys of those to take away.
func tagEvents(set, untag []string) ([]ingest.Annotation, error) {
	var events []ingest.Annotation
	for _, text := range set {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" || filter.StandsForIDs(key) {
			return nil, usageErrorf("tag: want KEY=VALUE, got %q; quote a selection of several words", text)
		}
		events = append(events, ingest.Annotation{Kind: schema.EventTag, Key: key, Value: value})
	}
	for _, key := range untag {
		if key == "" {
			return nil, usageErrorf("tag: --remove: the key is empty")
		}
		events = append(events, ingest.Annotation{Kind: schema.EventUntag, Key: key})
	}
	if len(events) == 0 {
		return nil, usageErrorf("tag: want runs and KEY=VALUE, as in neurolens tag last note=x, or --remove KEY")
	}
	return events, nil
}

func newNoteCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "note SELECTION TEXT",
		Short:   "Add a note to runs; show prints it",
		Long:    "Add a note to stored runs, such as a reason for odd values. show prints it.\n" + selectionHelp,
		Example: `  neurolens note last 'the fan was broken'`,
		Args:    arguments(2, 2, "a selection and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return usageErrorf("note: the text is empty")
			}
			return annotate(a, cmd, annotation{selection: args[0], events: []ingest.Annotation{{Kind: schema.EventNote, Value: args[1]}}})
		},
	}
}

func newRmCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "rm SELECTION",
		Short: "Hide runs from all results; restore brings them back",
		Long: `Remove runs from all results. The data stays in the files, and restore brings
the runs back, until store compact makes a store without them. Until then, a
notebook that reads the files directly still sees removed runs.
` + selectionHelp,
		Example: `  neurolens rm 'machine=lab3 status!=ok'`,
		Args:    arguments(1, 1, "a selection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return annotate(a, cmd, annotation{selection: args[0], events: []ingest.Annotation{{Kind: schema.EventRemove}}})
		},
	}
}

func newRestoreCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "restore SELECTION",
		Short:   "Bring back runs that rm removed",
		Long:    "Bring back runs that rm removed. SELECTION is matched against removed runs only.\n" + selectionHelp,
		Example: `  neurolens restore machine=lab3`,
		Args:    arguments(1, 1, "a selection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return annotate(a, cmd, annotation{
				selection: args[0], removed: true, events: []ingest.Annotation{{Kind: schema.EventRestore}},
			})
		},
	}
}

// selectionFilter returns the filter that a selection stands for: a single word without an operator is a run's id.
func selectionFilter(selection string) string {
	if strings.ContainsAny(selection, "=<>~() ") {
		return filter.JoinArguments(selection)
	}
	return "run=" + selection
}

// annotate says something about the runs of a selection, of which there has to be one, and prints what it did.
func annotate(a *app, cmd *cobra.Command, o annotation) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	for _, event := range o.events {
		if text := event.Key + event.Value; !utf8.ValidString(text) {
			return usageErrorf("%s: %q is not UTF-8", cmd.Name(), text)
		}
	}
	dir, err := a.writeStore()
	if err != nil {
		return err
	}
	if err := selected(cmd, dir, o); err != nil {
		return err
	}
	store, err := ingest.Open(dir, version)
	if err != nil {
		return storeError{err}
	}
	t := answer.Table{Columns: append(views.TextColumns("event_id", "kind", "key", "value"), answer.Column{Name: "runs", Type: answer.TypeInteger})}
	for _, event := range o.events {
		said, err := store.Annotate(event)
		if err != nil {
			return storeError{err}
		}
		t.Rows = append(t.Rows, []any{said.EventID, string(said.Kind), answer.Text(said.Key), answer.Text(said.Value), int64(len(event.Runs))})
	}
	if err := store.Close(); err != nil {
		return storeError{err}
	}
	return a.print(format, t, func() term.View { return views.Annotations(t) })
}

// lastOf returns the id of the run that started last, or of the removed one that did.
func lastOf(ctx context.Context, db *query.DB, removed bool) (string, error) {
	if !removed {
		return runNamed(ctx, db, lastRun)
	}
	all, err := db.RemovedIDs(ctx, "")
	if err == nil && len(all) == 0 {
		err = usageErrorf("restore: no run of this store is removed")
	}
	if err != nil {
		return "", err
	}
	return all[len(all)-1], nil
}

// selected sets the runs of each event, oldest first: the runs of the selection; for a tag to remove, the runs with the tag.
func selected(cmd *cobra.Command, dir string, o annotation) error {
	if strings.TrimSpace(o.selection) == "" {
		return usageErrorf("%s: the selection is empty; status=ok,error and the like select by a column", cmd.Name())
	}
	db, err := query.Open(cmd.Context(), []string{dir}, query.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	find := db.RunIDs
	if o.removed {
		find = db.RemovedIDs
	}
	if o.selection == lastRun {
		if o.selection, err = lastOf(cmd.Context(), db, o.removed); err != nil {
			return err
		}
	}
	runs, err := find(cmd.Context(), selectionFilter(o.selection))
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		what := "run"
		if o.removed {
			what = "removed run"
		}
		hint := ""
		if strings.HasPrefix(o.selection, lastRun) {
			hint = "; session=" + o.selection + " names a session"
		}
		return usageErrorf("%s: no %s matches %q%s", cmd.Name(), what, o.selection, hint)
	}
	if o.baseline {
		ok, err := find(cmd.Context(), "("+selectionFilter(o.selection)+") status=ok")
		if err != nil {
			return err
		}
		if len(ok) == 0 {
			return usageErrorf("%s: none of %s of %q is ok, and nothing can be compared with failed runs: repeat them with bench --rerun failed", cmd.Name(), term.Count(len(runs), "run"), o.selection)
		}
		if err := compare.CheckRequests(cmd.Context(), db, selectionFilter(o.selection)); err != nil {
			return err
		}
	}
	for i := range o.events {
		event := &o.events[i]
		if event.Runs = runs; event.Kind != schema.EventUntag {
			continue
		}
		if event.Runs, err = db.TaggedIDs(cmd.Context(), selectionFilter(o.selection), event.Key); err != nil {
			return err
		}
		if len(event.Runs) == 0 {
			return usageErrorf("%s --remove: no run of %q has the tag %s", cmd.Name(), o.selection, event.Key)
		}
	}
	return nil
}
