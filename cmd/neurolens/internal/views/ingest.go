package views

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/schema"
)

// IngestReport is what came of the files that were read.
type IngestReport struct {
	Files  []ingest.FileReport
	Known  int // runs that the store had before
	DryRun bool
	Tagged bool // tags were to be added
	Stored ingest.Appended

	Dir      string   // the store, if it was named; empty: the usual one
	Again    string   // the command line as it was typed, without --at; empty: it cannot be typed again
	Drafts   []string // commands that draft mappings for tables of no known format and store their runs
	Replaced int      // earlier runs without a start or a machine, or with another start, that were removed
}

// Summary returns the lines below the runs that would be stored: what was left out, what they lack, and what counts everything.
func (r IngestReport) Summary() []string {
	return slices.Concat(r.leftOut(), r.notes(), r.Times(), []string{r.total()})
}

// Explain names on standard error what was refused, with its place.
func (r IngestReport) Explain(w io.Writer) {
	const most = 20
	said := 0
	say := func(line string) {
		if said++; said <= most {
			fmt.Fprintln(w, "neurolens: ingest: "+term.OneLine(line))
		}
	}
	for _, one := range r.Files {
		if one.Why != "" && (one.State == ingest.FilePartly || one.State == ingest.FileFailed || one.State == ingest.FileUnknown && one.Named) {
			say(one.Name + ": " + one.Why)
		}
		for _, refusal := range one.Refusals {
			say(one.Name + ": " + refusal.String())
		}
		if more := one.Unnamed(); more > 0 {
			say(fmt.Sprintf("%s: %s more refused", one.Name, term.Thousands(more)))
		}
	}
	r.sayUnmatched(w)
	if said > most {
		fmt.Fprintf(w, "neurolens: ingest: … %s (--format plain has them, one row per file)\n", term.Count(said-most, "more line"))
	}
	const shown = 8
	if len(r.Drafts) > 0 {
		fmt.Fprintf(w, "%s:\n", term.Verb(len(r.Drafts), "this shows a mapping of the columns and stores the runs by it", "each of these shows a mapping of the columns and stores the runs by it"))
		for _, command := range r.Drafts[:min(len(r.Drafts), shown)] {
			fmt.Fprintln(w, "  "+term.OneLine(command))
		}
		if more := len(r.Drafts) - shown; more > 0 {
			fmt.Fprintf(w, "  … and %s of tables\n", term.Count(more, "more kind"))
		}
		return
	}
	if slices.ContainsFunc(r.Files, func(one ingest.FileReport) bool { return one.State == ingest.FileUnknown }) {
		fmt.Fprintln(w, "--list-formats lists the known formats; ingest --guess FILE drafts a mapping for any other table of CSV or JSON lines")
	}
}

// sayUnmatched says of how many files --param-from-path makes no parameters.
func (r IngestReport) sayUnmatched(w io.Writer) {
	n, first := 0, ""
	for _, one := range r.Files {
		if one.NoParams && one.Runs > 0 {
			if n++; n == 1 {
				first = one.Name
			}
		}
	}
	if n > 0 {
		fmt.Fprintf(w, "neurolens: ingest: --param-from-path does not match the path of %s: %s\n", term.Count(n, "file"), term.OneLine(first))
	}
}

// maxFiles is the number of files from which a terminal shows the formats instead.
const maxFiles = 20

// View has a row a file where there are few, else one a format; below it what was not stored, and why.
func (r IngestReport) View() term.View {
	v := term.View{Columns: []term.Column{
		{Header: "FILE"},
		{Header: "FORMAT"},
		{Header: "VERSION", Drop: 2},
		{Header: "RUNS", Right: true},
		{Header: "SESSIONS", Right: true, Drop: 1},
		{Header: "SAMPLES", Right: true},
		{Header: "NOT STORED", Drop: 1},
	}}
	folder := r.folder()
	if folder != "" {
		v.Above = []string{"in " + folder}
	}
	several := slices.ContainsFunc(r.Files, func(one ingest.FileReport) bool { return one.Sessions > 1 })
	for _, l := range r.lines() {
		sessions := "" // usually a file is one
		if several {
			sessions = term.Thousands(l.sessions)
		}
		cells := term.Cells(strings.TrimPrefix(l.name, folder), l.format, l.version, term.Thousands(l.runs), sessions, term.Thousands(int(l.samples)))
		v.Rows = append(v.Rows, append(cells, term.Cell{Text: l.rest, Failed: l.failed}))
	}
	v = withoutEmptyColumns(v, 0)
	v.Below = append(v.Below, r.leftOut()...)
	v.Below = append(v.Below, r.notes()...)
	v.Below = append(v.Below, r.Times()...)
	if names := r.passedOver(folder, ingest.FileUnknown); names != "" {
		v.Below = append(v.Below, "not recognised: "+names)
		v.Below = append(v.Below, r.resembling(folder)...)
	}
	if names := r.passedOver(folder, ingest.FileIsStore); names != "" {
		v.Below = append(v.Below, "stores, not read (use store merge to copy their runs): "+names)
	}
	v.Below = append(v.Below, r.total())
	if r.Stored.Added > 0 {
		v.Next = []string{""}
		for i, command := range r.next() {
			label := "next  "
			if i > 0 {
				label = "      "
			}
			v.Next = append(v.Next, label+command)
		}
	}
	return v
}

// nextSources is the maximum number of sources for each of which a command is printed.
const nextSources = 4

// next returns the commands to type after runs were stored: what gives them a start time, if the names of their files have it, or of each
// source what nextOf returns.
func (r IngestReport) next() []string {
	undated, dated := 0, r.Again != ""
	var sources []string
	bySource := map[string][]ingest.FileReport{}
	for _, one := range r.Files {
		if one.Runs == 0 {
			continue
		}
		if bySource[one.Source] == nil {
			sources = append(sources, one.Source)
		}
		bySource[one.Source] = append(bySource[one.Source], one)
		if one.Undated > 0 {
			undated++
			_, err := foreign.StartOfName(&foreign.Input{Name: one.Name})(nil)
			dated = dated && err == nil
		}
	}
	store := ""
	if r.Dir != "" {
		store = " --store " + term.ShellWord(r.Dir)
	}
	switch {
	case undated > 0 && dated:
		return []string{r.Again + " --at name"}
	case len(sources) > nextSources:
		return []string{"neurolens ls --by source" + store}
	}
	var commands []string
	for _, source := range sources {
		list := "neurolens ls source=" + source + store
		command := nextOf(bySource[source], store)
		commands = append(commands, cmp.Or(command, list))
		if len(sources) == 1 && strings.HasPrefix(command, "neurolens compare ") {
			commands = append(commands, list)
		}
	}
	return commands
}

// nextOf returns the command for the files of one source: what shows enough sessions over time, or compares the newest two that have a point
// in common. It is empty if there is none.
func nextOf(files []ingest.FileReport, store string) string {
	if slices.ContainsFunc(files, func(one ingest.FileReport) bool { return one.Undated > 0 }) {
		return compareUndated(files, store)
	}
	points := map[string]string{}
	for _, one := range files {
		for id, point := range one.PointOf {
			points[id] = cmp.Or(points[id], point)
		}
	}
	delete(points, "")
	ids := slices.Sorted(maps.Keys(points)) // they ascend with the start
	sessions := map[time.Time]int{}         // by start: sessions of one start have no order
	for _, id := range ids {
		sessions[startOf(id)]++
	}
	if len(sessions) >= history.MinSessions {
		return "neurolens history source=" + files[0].Source + store
	}
	for i := len(ids) - 2; i >= 0; i-- {
		base, head := ids[i], ids[len(ids)-1]
		from, to := startOf(base), startOf(head)
		if points[base] != points[head] || from.Equal(to) && len(sessions) > 1 {
			continue
		}
		if days := []string{from.Format(time.DateOnly), to.Format(time.DateOnly)}; sessions[from]+sessions[to] > 2 && days[0] != days[1] {
			return "neurolens compare when=" + days[0] + " when=" + days[1] + store
		}
		return "neurolens compare session=" + ShortRun(base) + " session=" + ShortRun(head) + store
	}
	return ""
}

// startOf returns when a session began, in UTC, by its id.
func startOf(session string) time.Time {
	id, _ := schema.ParseULID(session) // an id of another form counts as the earliest
	return id.Time().UTC()
}

// compareUndated returns the command that compares two files whose runs have no start: the only two in the order in which the user named them,
// or else the two that were changed last; or the last two commits of one file. It is empty if no two have a point in common.
func compareUndated(files []ingest.FileReport, store string) string {
	files = slices.DeleteFunc(slices.Clone(files), func(one ingest.FileReport) bool { return one.Undated == 0 || len(one.PointOf) != 1 })
	if len(files) != 2 || !files[0].Named || !files[1].Named {
		slices.SortStableFunc(files, func(a, b ingest.FileReport) int {
			return cmp.Or(a.Changed.Truncate(time.Second).Compare(b.Changed.Truncate(time.Second)), Age(a.Path)-Age(b.Path))
		})
	}
	for i := len(files) - 2; i >= 0; i-- {
		base, head := &files[i], &files[len(files)-1]
		if sides := [2]string{runsOf(base), runsOf(head)}; sides[0] != sides[1] && slices.Equal(slices.Collect(maps.Values(base.PointOf)), slices.Collect(maps.Values(head.PointOf))) {
			return term.ShellLine("neurolens", "compare", sides[0], sides[1]) + store
		}
	}
	if len(files) == 1 && len(files[0].Commits) == 2 {
		commits := term.Texts(files[0].Commits, func(commit string) string { return "commit=" + filter.QuoteWord(ShortCommit(commit)) })
		return term.ShellLine(append([]string{"neurolens", "compare"}, commits...)...) + store
	}
	return ""
}

// Age returns -1 if a word in the path of a file of results, the last that says so, calls it the older one of two, 1 if the newer one, else 0.
// Age orders files that were changed at the same time, as in a fresh clone.
func Age(file string) int {
	words := strings.FieldsFunc(strings.ToLower(file), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range slices.Backward(words) {
		switch word {
		case "old", "base", "baseline", "before":
			return -1
		case "new", "head", "after":
			return 1
		}
	}
	return 0
}

// runsOf returns the filter of the runs of a file with one session, which may be unknown: then its path.
func runsOf(one *ingest.FileReport) string {
	for id := range one.PointOf {
		if id != "" {
			return "session=" + ShortRun(id)
		}
	}
	return "env." + schema.FactPath + "=" + filter.QuoteWord(one.Path)
}

// passedOver names the first that came to this in folders.
func (r IngestReport) passedOver(folder string, state ingest.FileState) string {
	const most = 5
	var names []string
	for _, one := range r.Files {
		if one.State == state && !one.Named {
			names = append(names, strings.TrimPrefix(one.Name, folder))
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], term.Thousands(more)+" more")
	}
	return strings.Join(names, ", ")
}

// resembling says of files in folders that no format recognises what they look like: a line for the first file of each kind.
func (r IngestReport) resembling(folder string) []string {
	var said, lines []string
	for _, one := range r.Files {
		if one.State == ingest.FileUnknown && !one.Named && foreign.IsResemblance(one.Why) && !slices.Contains(said, one.Why) {
			said = append(said, one.Why)
			lines = append(lines, strings.TrimPrefix(one.Name, folder)+": "+one.Why)
		}
	}
	return lines
}

// folder returns the one that all files are in, with its slash; empty where there is none, or one file.
func (r IngestReport) folder() string {
	if len(r.Files) < 2 {
		return ""
	}
	common := r.Files[0].Name
	for _, one := range r.Files {
		for !strings.HasPrefix(one.Name, common) {
			common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "/"), '/')+1]
		}
	}
	return common[:strings.LastIndexByte(common, '/')+1]
}

// FormatFields returns the columns of a list of formats.
func FormatFields() []answer.Field[foreign.Format] {
	return []answer.Field[foreign.Format]{
		text("format", "the name for --from", func(f *foreign.Format) string { return f.Name }),
		text("about", "the tool, and which of its files are read", func(f *foreign.Format) string { return f.About }),
		text("level", "what becomes a run, and what a sample", func(f *foreign.Format) string { return f.Level }),
	}
}

// Readable returns the formats that can be read.
func Readable(all []foreign.Format) []foreign.Format {
	return slices.DeleteFunc(slices.Clone(all), func(f foreign.Format) bool { return f.Level == "" })
}

// Formats names each format, says what it is of, and what of it becomes a run.
func Formats(all []foreign.Format) term.View {
	v := term.View{Below: []string{term.Count(len(all), "format") + "; --from NAME reads a file in that format"}}
	for _, f := range all {
		v.Above = append(v.Above, f.Name, "  "+f.About, "  "+f.Level)
	}
	return v
}

// reportLine is a row of what people see: a file, or all files of a format.
type reportLine struct {
	name, format, version string
	runs, sessions        int
	samples               int64
	rest                  string
	failed                bool
}

// lines returns one a file where there are few, else one a format.
func (r IngestReport) lines() []reportLine {
	var all []reportLine
	var shown []ingest.FileReport
	for _, one := range r.Files {
		// What stands in a folder beside results is counted below the table, and named by the formats for programs.
		if one.State != ingest.FileSide && one.State != ingest.FileIsStore && (one.State != ingest.FileUnknown || one.Named) {
			shown = append(shown, one)
		}
	}
	if len(shown) <= maxFiles {
		for _, one := range shown {
			all = append(all, lineOf(one))
		}
		return all
	}
	place, files := map[string]int{}, map[string]int{}
	for _, one := range shown {
		l := lineOf(one)
		key := l.format + "\x00" + l.rest
		i, ok := place[key]
		if !ok {
			i = len(all)
			place[key] = i
			all = append(all, reportLine{format: l.format, rest: l.rest, failed: l.failed})
		}
		all[i].runs, all[i].sessions, all[i].samples = all[i].runs+l.runs, all[i].sessions+l.sessions, all[i].samples+l.samples
		files[key]++
		all[i].name = term.Count(files[key], "file")
	}
	return all
}

func lineOf(r ingest.FileReport) reportLine {
	l := reportLine{name: r.Name, format: r.Format, version: r.Version, runs: r.Runs, sessions: r.Sessions, samples: r.Samples}
	left := 0
	for _, n := range r.LeftOut {
		left += n
	}
	switch {
	case r.State == ingest.FileUnknown:
		l.format, l.rest, l.failed = term.Unknown, "not recognised", true
	case r.State == ingest.FileFailed:
		l.format, l.rest, l.failed = term.Unknown, "not read", true
	case r.Refused > 0:
		l.rest, l.failed = term.Thousands(r.Refused)+" refused", true
	case r.State == ingest.FilePartly:
		l.rest, l.failed = "ends early", true
	case r.Known > 0:
		l.rest = term.Thousands(r.Known) + " already there"
	case left > 0:
		l.rest = term.Thousands(left) + " left out"
	}
	return l
}

// withoutEmptyColumns leaves out the columns, from a first one on, in which no row has a text other than those for nothing.
func withoutEmptyColumns(v term.View, first int, nothing ...string) term.View {
	nothing = append(nothing, "")
	for c := len(v.Columns) - 1; c >= first; c-- {
		if slices.ContainsFunc(v.Rows, func(row []term.Cell) bool { return !slices.Contains(nothing, row[c].Text) }) {
			continue
		}
		v.Columns = slices.Delete(v.Columns, c, c+1)
		for i := range v.Rows {
			v.Rows[i] = slices.Delete(v.Rows[i], c, c+1)
		}
	}
	return v
}

// IngestProgress says on a terminal how far a long reading is: one line that is drawn over.
type IngestProgress struct {
	now     func() time.Time
	screen  *term.Screen // nil where nobody watches
	sources []foreign.Source
	total   int64 // bytes of all sources
	before  int64 // bytes of the sources that are done
	current int
	input   *foreign.Input
	runs    int
	drawn   time.Time
}

// Nothing is drawn before progressDelay, for most readings are done then; and again after progressEvery.
const (
	progressDelay = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

// NewIngestProgress is shown on a screen; nil: nobody watches.
func NewIngestProgress(sources []foreign.Source, screen *term.Screen, now func() time.Time) *IngestProgress {
	p := &IngestProgress{screen: screen, now: now, drawn: now().Add(progressDelay - progressEvery)}
	for _, s := range sources {
		p.Add(s)
	}
	return p
}

// Add says that a source will be read.
func (p *IngestProgress) Add(s foreign.Source) {
	p.sources = append(p.sources, s)
	p.total += s.Bytes
}

// File says which source is read now.
func (p *IngestProgress) File(i int) {
	if p.input != nil {
		p.before += p.sources[p.current].Bytes
	}
	p.current, p.input = i, nil
	p.draw()
}

// Reading says how much of the source is read.
func (p *IngestProgress) Reading(input *foreign.Input) { p.input = input }

// Run counts a run.
func (p *IngestProgress) Run() {
	p.runs++
	p.draw()
}

func (p *IngestProgress) draw() {
	if p.screen == nil || p.now().Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn = p.now()
	p.screen.Draw(nil, func(columns int) []string {
		done := p.before
		if p.input != nil {
			done += p.input.Consumed()
		}
		line := fmt.Sprintf("file %s of %s · %s", term.Thousands(p.current+1), term.Thousands(len(p.sources)), schema.ForPeople(float64(done), "B"))
		if p.total > 0 {
			line += " of " + schema.ForPeople(float64(p.total), "B")
		}
		return []string{term.Cut(line+" · "+term.Count(p.runs, "run")+" · "+p.sources[p.current].Name, columns)}
	})
}

// End leaves the terminal ready for the result.
func (p *IngestProgress) End() {
	if p.screen != nil {
		p.screen.Clear()
	}
}

// IngestTable has a row for each file.
func IngestTable(reports []ingest.FileReport) answer.Table {
	return answer.TableOf(IngestFields(), reports)
}

// IngestFields returns the columns of ingest.
func IngestFields() []answer.Field[ingest.FileReport] {
	field := answer.NewField[ingest.FileReport]
	return []answer.Field[ingest.FileReport]{
		field("file", answer.TypeText, "path of the file", func(r *ingest.FileReport) any { return r.Name }),
		field("state", answer.TypeText, "read, partly (some entries were refused), side (read only together with another file), unknown (no format), store (it is a store) or failed (it cannot be read)", func(r *ingest.FileReport) any { return string(r.State) }),
		field("source", answer.TypeText, "format of the file, as ingest --list-formats names it", func(r *ingest.FileReport) any { return answer.Text(r.Format) }),
		field("version", answer.TypeText, "version of the tool that wrote the file, if the file has it", func(r *ingest.FileReport) any { return answer.Text(r.Version) }),
		field("runs", answer.TypeInteger, "runs that were stored", func(r *ingest.FileReport) any { return int64(r.Runs) }),
		field("sessions", answer.TypeInteger, "sessions of the stored runs", func(r *ingest.FileReport) any { return int64(r.Sessions) }),
		field("samples", answer.TypeInteger, "samples of the stored runs", func(r *ingest.FileReport) any { return r.Samples }),
		field("undated", answer.TypeInteger, "new runs without a start time: they have no place in history, gates and session=last; --at gives it", func(r *ingest.FileReport) any { return int64(r.Undated) }),
		field("replaced", answer.TypeInteger, "runs that were stored before without a start time or a machine, or with another start time, and now have those of --at and --machine", func(r *ingest.FileReport) any { return int64(len(r.Replaced)) }),
		field("left_out", answer.TypeInteger, "entries of the file that are no measurements of their own, such as means of repetitions; reason names them", func(r *ingest.FileReport) any {
			left := 0
			for _, n := range r.LeftOut {
				left += n
			}
			return int64(left)
		}),
		field("refused", answer.TypeInteger, "entries of the file that cannot be stored; reason names the first", func(r *ingest.FileReport) any { return int64(r.Refused) }),
		field("reason", answer.TypeText, "what was not stored and why, and notes about the file", func(r *ingest.FileReport) any { return answer.Text(reasonOf(*r)) }),
	}
}

// reasonOf says in one line what was not stored of a file, and why.
func reasonOf(r ingest.FileReport) string {
	var parts []string
	if r.Why != "" {
		parts = append(parts, r.Why)
	}
	for _, refusal := range r.Refusals {
		parts = append(parts, refusal.String())
	}
	if more := r.Unnamed(); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more refused", more))
	}
	if r.NoParams && r.Runs > 0 {
		parts = append(parts, "--param-from-path does not match its path")
	}
	if r.Known > 0 {
		there := fmt.Sprintf("%d already there", r.Known)
		if name := otherName(r); name != "" {
			there += ": its content is already stored under " + name
		}
		parts = append(parts, there)
	}
	for _, left := range foreign.LeftOuts(&r.Report) {
		parts = append(parts, left.String())
	}
	parts = append(parts, noted(&r.Report)...)
	return strings.Join(parts, "; ")
}

// noted returns the notes of a report, each with how often it is true.
func noted(r *foreign.Report) []string {
	return term.Texts(r.Noted(), func(what string) string {
		return fmt.Sprintf("note (%s): %s", term.Count(r.Notes[what], "time"), what)
	})
}

// leftOut explains once why things were left out.
func (r IngestReport) leftOut() []string {
	files := make([]*foreign.Report, len(r.Files))
	for i := range r.Files {
		files[i] = &r.Files[i].Report
	}
	var lines []string
	for _, left := range foreign.LeftOuts(files...) {
		lines = append(lines, fmt.Sprintf("%s left out: %s", term.Thousands(left.N), left.Why))
	}
	return lines
}

// notes says once what runs of the files lack.
func (r IngestReport) notes() []string {
	all := foreign.Report{Notes: map[string]int{}}
	for _, one := range r.Files {
		for what, n := range one.Notes {
			all.Notes[what] += n
		}
	}
	return noted(&all)
}

// Times returns lines about runs without a start, about runs that got one, and about files that count as equal for want of one.
func (r IngestReport) Times() (lines []string) {
	runs, files, known, example := 0, 0, 0, ""
	for _, one := range r.Files {
		if one.Undated > 0 {
			runs, files = runs+one.Undated, files+1
		}
		if name := otherName(one); name != "" {
			if known++; known == 1 {
				example = fmt.Sprintf("%s is stored as %s", one.Name, name)
			}
		}
	}
	if known > 0 {
		lines = append(lines, fmt.Sprintf("%s stored under another name: %s; --at keeps equal files of different times apart", term.Count(known, "file")+" already", term.OneLine(example)))
	}
	if line := r.onOtherMachines(); line != "" {
		lines = append(lines, line)
	}
	if r.Replaced > 0 {
		lines = append(lines, term.Count(r.Replaced, "run")+" replaced: the same runs are stored with their start time and machine now")
	}
	if runs > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s without a start time: history, gates and session=last leave them out; give it with --at TIME, name, path, mtime or commit",
			term.Count(runs, "run"), term.Count(files, "file")))
	}
	return lines
}

// onOtherMachines says that files were imported before with another machine, and how to remove those runs; empty if none was.
func (r IngestReport) onOtherMachines() string {
	files, text := 0, ""
	for _, one := range r.Files {
		for _, machine := range slices.Sorted(maps.Keys(one.OnMachines)) {
			if files++; files == 1 {
				selection := "machine=" + filter.QuoteWord(machine) + " env." + schema.FactPath + "=" + filter.QuoteWord(one.Path)
				text = fmt.Sprintf("the runs of %s are stored with machine %s too; neurolens rm %s removes those", one.Name, machine, term.ShellWord(selection))
			}
		}
	}
	if files > 1 {
		text += fmt.Sprintf("; so are those of %s", term.Count(files-1, "other file"))
	}
	return term.OneLine(text)
}

// otherName returns the name under which the whole content of a file is already stored; empty if there is no other.
func otherName(r ingest.FileReport) string {
	if !r.AllKnown() || r.Path == "" || r.KnownName == r.Path {
		return ""
	}
	return r.KnownName
}

// total returns the line that counts everything.
func (r IngestReport) total() string {
	states := map[ingest.FileState]int{}
	samples, runs, refused := int64(0), 0, 0
	for _, one := range r.Files {
		states[one.State]++
		runs += one.Runs
		samples += one.Samples
		refused += one.Refused
	}
	line := term.Count(len(r.Files)-states[ingest.FileIsStore], "file")
	for _, p := range []struct {
		state ingest.FileState
		words string
	}{{ingest.FileSide, "beside others"}, {ingest.FileUnknown, "not recognised"}, {ingest.FileFailed, "not read"}} {
		if n := states[p.state]; n > 0 {
			line += fmt.Sprintf(", %s %s", term.Thousands(n), p.words)
		}
	}
	if r.DryRun {
		line += fmt.Sprintf(" · %s; nothing was stored (--dry-run)", term.Count(runs-r.Known, "run"))
	} else {
		line += " · " + r.StoredText()
	}
	line += " · " + term.Count(int(samples), "sample")
	if sessions := r.sessions(); len(sessions) > 0 {
		line += " · " + sessionsText(sessions)
	}
	if refused > 0 {
		line += fmt.Sprintf(" · %s refused", term.Count(refused, "record"))
	}
	return line
}

// sessions returns how many runs of each were read.
func (r IngestReport) sessions() map[string]int {
	all := map[string]int{}
	for _, one := range r.Files {
		for id, n := range one.RunsOf {
			all[id] += n
		}
	}
	return all
}

// sessionsText counts sessions, of which the runs are given; those of the empty one are of none that is known.
func sessionsText(runs map[string]int) string {
	homeless, known := runs[""], len(runs)
	if homeless == 0 {
		return term.Count(known, "session")
	}
	unknown := "unknown for " + term.Count(homeless, "run")
	if known == 1 {
		return "session " + unknown
	}
	return term.Count(known-1, "session") + ", " + unknown
}

// StoredText says what came of the runs of files.
func (r IngestReport) StoredText() string {
	text := term.Count(r.Stored.Added, "run") + " stored"
	if r.Stored.Skipped > 0 {
		text += fmt.Sprintf(", %s already there", term.Thousands(r.Stored.Skipped))
	}
	if r.Stored.Differing > 0 {
		text += fmt.Sprintf(" (%s differ in values or session, and were not changed)", term.Thousands(r.Stored.Differing))
	}
	if r.Known > 0 && r.Tagged {
		text += " (with their old tags: neurolens tag adds others)"
	}
	return text
}
