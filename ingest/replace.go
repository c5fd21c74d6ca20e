package ingest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Replaced is a stored run, and the run that takes its place.
type Replaced struct{ Old, New string }

// replacedReason is the value of the event that removes replaced runs. That of earlier versions is its beginning, earlierReason.
const (
	earlierReason  = "imported again with another start time"
	replacedReason = earlierReason + " or machine"
)

// maxReplaced limits the runs of an event.
const maxReplaced = 50_000

// Replace removes stored runs, each of which another stored run replaces, the new run. The new run gets the annotations of the replaced
// run:
//
//   - the new run has the tags of the replaced run with their values, and lacks the tags that were removed from the replaced run;
//   - tags that only the new run was stored with stay;
//   - the notes of the replaced run are added, and baselines with the replaced run name the new run;
//   - if a user removed the replaced run, the new run is removed too, unless it was removed or restored later.
//
// Replace returns the number of runs that it removed. It removes them last, so after an error or a crash both runs exist, and Replace
// can be called again: it adds nothing twice.
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
	var back []string // new runs that an earlier correction replaced
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

// Tag sets tags. runs has the ids of runs by the key and the value of the tag. A run on which an event set or removed that key before is
// left out.
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

// annotateSome annotates with one event for each maxReplaced runs, and none without runs. A baseline is always one event, because each
// event with its name replaces the one before.
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

// events is the state of the runs of a store after its events.
type events struct {
	schema.Annotations
	hidden map[string]schema.Event // by run id: its last removal or restoration
}

// goneWith lists the new runs to remove because a user removed the run that they replace. A new run that also replaces a shown run stays.
func (e *events) goneWith(all, shown []Replaced) (runs []string) {
	keep := map[string]bool{}
	for _, r := range shown {
		keep[r.New] = true
	}
	for _, r := range all {
		old, was := e.hidden[r.Old], e.hidden[r.New]
		if !keep[r.New] && !e.Removed[r.New] && e.Removed[r.Old] && !strings.HasPrefix(old.Value, earlierReason) && was.EventID < old.EventID {
			keep[r.New], runs = true, append(runs, r.New)
		}
	}
	return runs
}

// annotations reads the events of the store.
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

// storedTags returns the tags with which runs were stored, by their ids.
func (s *Store) storedTags(all []Replaced) (map[string]map[string]string, error) {
	tags := map[string]map[string]string{}
	for _, r := range all {
		tags[r.Old], tags[r.New] = nil, nil
	}
	ids, err := schema.ParseULIDs(slices.Collect(maps.Keys(tags)))
	if err != nil {
		return nil, err
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

// tagsOver returns the events after which the new runs have the tags of the replaced runs. If one new run replaces several, the first
// decides.
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

// notesOver returns the events that add the notes of the replaced runs to the new runs without them, oldest first.
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

// baselinesOver returns the events after which baselines have the new runs in place of the replaced runs.
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
