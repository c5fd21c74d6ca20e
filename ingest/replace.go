package ingest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Replaced is a stored run, and the run that takes its place.
type Replaced struct{ Old, New string }

// replacedReason is the value of the event that removes replaced runs.
const replacedReason = "imported again with another start time"

// maxReplaced is how many runs an event of Replace names at most.
const maxReplaced = 50_000

// Replace lets stored runs take the place of others, which it removes. The state of the replaced run wins over that of the new one: its tags have
// the same values on the new run, and tags that were removed from it are removed there, too. The new run keeps other tags that it was stored with.
// Notes go over, and baselines name the new runs. Where a replaced run was removed for another reason than a replacement, as a user does, the new
// run is removed, too, unless it was removed or restored since.
//
// It gives the number of replaced runs: those that were already removed count no more. The removal comes last, so after an error or a crash
// both runs are there, and Replace can be called again: it adds nothing twice.
func (s *Store) Replace(all []Replaced) (n int, err error) {
	if n, err = s.replace(all); err != nil {
		err = fmt.Errorf("replacing runs in store %s: %w", s.dir, err)
	}
	return n, err
}

func (s *Store) replace(all []Replaced) (int, error) {
	said, err := s.annotations()
	if err != nil {
		return 0, err
	}
	taken := map[string]bool{}
	var shown []Replaced
	for _, r := range all {
		if !said.Removed[r.Old] && !taken[r.Old] {
			taken[r.Old], shown = true, append(shown, r)
		}
	}
	gone := Annotation{Kind: schema.EventRemove, Runs: said.goneWith(all, shown)}
	if err := s.annotateSome(gone); err != nil || len(shown) == 0 {
		return 0, err
	}
	all = shown
	stored, err := s.storedTags(all)
	if err != nil {
		return 0, err
	}
	var back []string // the start that they have was theirs before
	for _, r := range all {
		if said.Removed[r.New] {
			back = append(back, r.New)
		}
	}
	if err := s.annotateSome(Annotation{Kind: schema.EventRestore, Runs: back}); err != nil {
		return 0, err
	}
	for _, a := range slices.Concat(tagsOver(all, &said, stored), notesOver(all, &said.Annotations), baselinesOver(all, &said.Annotations)) {
		if err := s.annotateSome(a); err != nil {
			return 0, err
		}
	}
	var old []string
	for _, r := range all {
		old = append(old, r.Old)
	}
	return len(old), s.annotateSome(Annotation{Kind: schema.EventRemove, Runs: old, Value: replacedReason})
}

// Tag sets tags of runs, which are named by a key and a value. It leaves out runs of which the tag was set or removed already.
func (s *Store) Tag(runs map[[2]string][]string) error {
	if len(runs) == 0 {
		return nil
	}
	said, err := s.annotations()
	for _, tag := range slices.SortedFunc(maps.Keys(runs), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		if err != nil {
			break
		}
		lack := slices.DeleteFunc(slices.Clone(runs[tag]), func(run string) bool {
			_, is := said.Tags[run][tag[0]]
			return is || slices.Contains(said.Untagged[run], tag[0])
		})
		err = s.annotateSome(Annotation{Kind: schema.EventTag, Runs: lack, Key: tag[0], Value: tag[1]})
	}
	if err != nil {
		return fmt.Errorf("tagging runs in store %s: %w", s.dir, err)
	}
	return nil
}

// annotateSome is Annotate with as many events as the runs take. A baseline is one event, because it has no other runs.
func (s *Store) annotateSome(a Annotation) error {
	if a.Kind == schema.EventBless {
		_, err := s.Annotate(a)
		return err
	}
	for runs := range slices.Chunk(a.Runs, maxReplaced) {
		one := a
		one.Runs = runs
		if _, err := s.Annotate(one); err != nil {
			return err
		}
	}
	return nil
}

// events are what the events of a store say.
type events struct {
	schema.Annotations
	hidden map[string]schema.Event // by run id: its last removal or restoration
}

// goneWith are the new runs of which the replaced run was removed by a user. A run that takes the place of a shown one is not one of them.
func (e *events) goneWith(all, shown []Replaced) (runs []string) {
	keep := map[string]bool{}
	for _, r := range shown {
		keep[r.New] = true
	}
	for _, r := range all {
		old, was := e.hidden[r.Old], e.hidden[r.New]
		if !keep[r.New] && !e.Removed[r.New] && e.Removed[r.Old] && old.Value != replacedReason && was.EventID < old.EventID {
			keep[r.New], runs = true, append(runs, r.New)
		}
	}
	return runs
}

// annotations are what the events of the store say.
func (s *Store) annotations() (events, error) {
	listing, err := schema.List(s.files, schema.Scope{Newest: 1})
	if err != nil {
		return events{}, err
	}
	var all []schema.Event
	hidden := map[string]schema.Event{}
	for _, id := range listing.Events.Files {
		e, err := schema.ReadEvent(s.files, id)
		if errors.Is(err, schema.ErrDamaged) {
			continue // store check reports it
		}
		if err != nil {
			return events{}, err
		}
		all = append(all, e)
		if e.Kind == schema.EventRemove || e.Kind == schema.EventRestore {
			for _, run := range e.Runs {
				if hidden[run].EventID < e.EventID {
					hidden[run] = e
				}
			}
		}
	}
	return events{schema.Annotate(all), hidden}, nil
}

// storedTags are the tags with which runs were stored, by their ids.
func (s *Store) storedTags(all []Replaced) (map[string]map[string]string, error) {
	tags := map[string]map[string]string{}
	var ids []schema.ULID
	for _, r := range all {
		for _, text := range []string{r.Old, r.New} {
			id, err := schema.ParseULID(text)
			if err != nil {
				return nil, err
			}
			tags[text], ids = nil, append(ids, id)
		}
	}
	slices.SortFunc(ids, schema.ULID.Compare)
	files, err := runfile.Near(s.files, ids)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		err := runfile.EachRow(s.files, file, []string{runfile.RunIDColumn, tagsColumn}, func(row []any) error {
			id, _ := row[runfile.RunIDPlace].(string)
			if _, wanted := tags[id]; wanted {
				tags[id], _ = row[tagsPlace].(map[string]string)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return tags, nil
}

const tagsColumn = "tags"

var tagsPlace = schema.Runs.Place(tagsColumn)

// tagsOver give the new runs the tags of the others, and take those away that were taken away there. Where several are replaced by one, the first wins.
func tagsOver(all []Replaced, said *events, stored map[string]map[string]string) (over []Annotation) {
	effective := func(run string) map[string]string {
		tags := maps.Clone(stored[run])
		maps.DeleteFunc(tags, func(key, _ string) bool { return slices.Contains(said.Untagged[run], key) })
		if tags == nil {
			tags = map[string]string{}
		}
		maps.Copy(tags, said.Tags[run])
		return tags
	}
	set, unset := map[[2]string][]string{}, map[string][]string{}
	decided := map[[2]string]bool{} // by new run and key
	for _, r := range all {
		has := effective(r.New)
		for key, value := range effective(r.Old) {
			if now, is := has[key]; (!is || now != value) && !decided[[2]string{r.New, key}] {
				set[[2]string{key, value}] = append(set[[2]string{key, value}], r.New)
			}
			decided[[2]string{r.New, key}] = true
		}
		for _, key := range said.Untagged[r.Old] {
			if !slices.Contains(said.Untagged[r.New], key) && !decided[[2]string{r.New, key}] {
				unset[key] = append(unset[key], r.New)
			}
			decided[[2]string{r.New, key}] = true
		}
	}
	for _, tag := range slices.SortedFunc(maps.Keys(set), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		over = append(over, Annotation{Kind: schema.EventTag, Runs: set[tag], Key: tag[0], Value: tag[1]})
	}
	for _, key := range slices.Sorted(maps.Keys(unset)) {
		over = append(over, Annotation{Kind: schema.EventUntag, Runs: unset[key], Key: key})
	}
	return over
}

// notesOver are the notes that the new runs lack, in the order in which they were made.
func notesOver(all []Replaced, said *schema.Annotations) (events []Annotation) {
	runs, order := map[schema.Note][]string{}, []schema.Note(nil)
	for _, r := range all {
		for _, note := range said.Notes[r.Old] {
			if slices.ContainsFunc(said.Notes[r.New], func(n schema.Note) bool { return n.Text == note.Text }) {
				continue
			}
			if runs[note] == nil {
				order = append(order, note)
			}
			runs[note] = append(runs[note], r.New)
		}
	}
	slices.SortStableFunc(order, func(a, b schema.Note) int { return a.At.Compare(b.At) })
	for _, note := range order {
		events = append(events, Annotation{Kind: schema.EventNote, Runs: runs[note], Value: note.Text})
	}
	return events
}

// baselinesOver are the baselines with replaced runs, with the new ones in their place.
func baselinesOver(all []Replaced, said *schema.Annotations) (events []Annotation) {
	to := map[string]string{}
	for _, r := range all {
		to[r.Old] = r.New
	}
	for _, name := range slices.Sorted(maps.Keys(said.Baselines)) {
		runs, changed := slices.Clone(said.Baselines[name]), false
		for i, run := range runs {
			if to[run] != "" {
				runs[i], changed = to[run], true
			}
		}
		if changed {
			events = append(events, Annotation{Kind: schema.EventBless, Runs: runs, Key: name})
		}
	}
	return events
}
