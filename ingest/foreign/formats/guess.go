package formats

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// Guess drafts a mapping that reads a table without changes. It lists every column with the role that its name and its values suggest:
// numbers with a unit or with the name of a metric are metrics, and other columns are axes, because an axis that is left out would make
// one point of several. table is csv or jsonl; if it is empty, the content decides.
func Guess(in *foreign.Input, table string) (draft Draft, err error) {
	g := &guessed{in: in, mapping: mapping{Decimal: ".", Rows: rowsRuns, Fields: map[string]string{}, Metrics: map[string]mappedMetric{}}}
	if table == "" {
		table = CSV
		if in.Head.JSONAt == 0 {
			table = jsonl
		}
	}
	switch table {
	case CSV:
		err = g.readCSV()
	case jsonl:
		err = g.readJSON()
	default:
		return Draft{}, fmt.Errorf("a mapping needs --from csv or jsonl, got %q", table)
	}
	if err != nil {
		return Draft{}, err
	}
	if g.rows == 0 {
		return Draft{}, errors.New("want a table: CSV with a heading, or JSON lines")
	}
	if err := g.decide(); err != nil {
		return Draft{}, err
	}
	return Draft{Table: table, Text: g.text(), Sure: g.sure(), Kind: fmt.Sprint(table, g.Fields, g.Metrics, g.Long, g.Time, g.Ignore)}, nil
}

// Draft is a mapping that was drafted for a table.
type Draft struct {
	Table string // csv or jsonl
	Text  string // the file of the mapping
	Sure  bool   // every metric has a unit or a fixed meaning, and no column is doubtful
	Kind  string // equal for tables whose columns have the same names and roles
}

// sure reports whether the names and values of the columns leave no doubt about the draft.
func (g *guessed) sure() bool {
	isKnown := func(m mappedMetric) bool {
		_, fixed := schema.KindOfMetric(m.Metric)
		return m.Unit != "" || fixed
	}
	for _, c := range g.columns {
		m, is := g.Metrics[c.name]
		if g.doubts[c.name] != "" && c.filled+c.lists > 0 || is && !isKnown(m) {
			return false
		}
	}
	if g.Long == nil || g.Long.Unit != "" {
		return true
	}
	for _, m := range g.Long.Names {
		if !isKnown(m) {
			return false
		}
	}
	return len(g.Long.Names) > 0
}

// guessed is a table, and the mapping that is drafted for it.
type guessed struct {
	mapping
	in        *foreign.Input
	separator rune
	columns   []*guessedColumn
	rows      int
	first     []map[string]string // the first rows
	doubts    map[string]string   // by column: what to check
	failures  bool                // metrics have words of failed runs in place of numbers
}

// Limits of the memory for a table.
const (
	maxGuessed  = 1000 // columns
	maxDistinct = 50   // values of a column
	maxFirst    = 1000 // rows that are kept
)

// guessedColumn counts the cells of a column by their kinds.
type guessedColumn struct {
	name     string
	words    []string       // of the name, in lower case
	filled   int            // number of cells with a value
	lists    int            // number of cells that are arrays of numbers
	opaque   bool           // it has arrays of something else
	distinct map[string]int // values, with the number of cells
	more     bool           // there are more values than distinct has
	order    []string       // the values of distinct as they come
	falls    bool           // a number is less than the one before
	resets   int            // how often a number is not greater than the one before
	last     float64
	read     []guessedNumbers // with each of guessedNumerals
	units    []string         // words after numbers
	texts    map[string]int   // values that are no number
}

// guessedNumbers are the numbers of a column, read in one way.
type guessedNumbers struct {
	count, integers, infinite int
	min, max                  float64
}

// guessedNumerals are the ways in which numbers may be written.
var guessedNumerals = []numerals{{decimal: "."}, {decimal: ".", thousands: ","}, {decimal: ","}, {decimal: ",", thousands: "."}}

func newGuessedColumn(name string) *guessedColumn {
	return &guessedColumn{
		name: name, words: wordsOf(name), distinct: map[string]int{}, texts: map[string]int{}, read: make([]guessedNumbers, len(guessedNumerals)),
	}
}

// absent are words in cells without a value, in lower case.
var absent = []string{
	"n/a", "#n/a", "n.a.", "k.a.", "na", "nan", "null", "none", "nil", "-", "--", "—", "–", "?", "[n/a]", "[not supported]", "not supported",
}

// isAbsent reports whether a text says that a cell has no value.
func isAbsent(text string) bool { return slices.Contains(absent, strings.ToLower(text)) }

// isFailure reports whether a text in place of a number says how its run failed.
func isFailure(text string) bool {
	status := statusOf(text)
	return status != "" && status != schema.StatusOK && !isAbsent(text)
}

// add counts a cell.
func (c *guessedColumn) add(cell string) {
	if cell == "" {
		return
	}
	c.filled++
	if c.distinct[cell] > 0 || len(c.distinct) < maxDistinct {
		if c.distinct[cell]++; c.distinct[cell] == 1 {
			c.order = append(c.order, cell)
		}
	} else {
		c.more = true
	}
	isNumber := false
	for i, n := range guessedNumerals {
		number, unit, err := n.read(cell)
		if err != nil || unit != "" && unitSpelled(unit) == "" || isAbsent(cell) {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			continue
		}
		isNumber = true
		r := &c.read[i]
		if math.IsInf(v, 0) { // a number that is no size of anything
			r.infinite++
			continue
		}
		if r.count == 0 {
			r.min, r.max = v, v
		}
		r.count, r.min, r.max = r.count+1, min(r.min, v), max(r.max, v)
		if v == math.Trunc(v) {
			r.integers++
		}
		if unit != "" && !slices.Contains(c.units, unit) {
			c.units = append(c.units, unit)
		}
		if i == 0 {
			if v <= c.last && r.count > 1 {
				c.resets++
				c.falls = c.falls || v < c.last
			}
			c.last = v
		}
	}
	if !isNumber && (c.texts[cell] > 0 || len(c.texts) < maxDistinct) {
		c.texts[cell]++
	}
}

func (g *guessed) readCSV() error {
	g.Comment = commentOf(g.in.Head)
	c, separator := g.csv(g.in)
	g.separator = separator
	header, err := c.Record()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	if len(header) > maxGuessed {
		return fmt.Errorf("%d columns: want at most %d", len(header), maxGuessed)
	}
	for _, name := range header {
		name = strings.TrimSpace(name)
		if slices.ContainsFunc(g.columns, func(c *guessedColumn) bool { return c.name == name }) {
			return fmt.Errorf("column %q appears twice", name)
		}
		g.columns = append(g.columns, newGuessedColumn(name))
	}
	for record, err := range c.Records() {
		if err != nil {
			return err
		}
		if len(record) != len(g.columns) { // which is refused when it is read
			continue
		}
		g.rows++
		cells := map[string]string{}
		for i, cell := range record {
			cell = strings.TrimSpace(cell)
			g.columns[i].add(cell)
			cells[g.columns[i].name] = cell
		}
		if len(g.first) < maxFirst {
			g.first = append(g.first, cells)
		}
	}
	return nil
}

// commentOf returns the sign of the comments above the heading; empty if there are none. A heading may begin with the sign, too: then it
// has as many separators as the line below.
func commentOf(head *foreign.Head) string {
	separators := func(line string) (n int) {
		for _, s := range separators {
			n = max(n, strings.Count(line, string(s)))
		}
		return n
	}
	first, below := "", ""
	for line := range strings.Lines(string(head.Bytes)) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case first == "":
			first = line
		case below == "" && !strings.HasPrefix(line, "#"):
			below = line
		}
	}
	if strings.HasPrefix(first, "#") && separators(first) != separators(below) {
		return "#"
	}
	return ""
}

func (g *guessed) readJSON() error {
	named := map[string]*guessedColumn{}
	column := func(name string) *guessedColumn {
		if named[name] == nil {
			named[name] = newGuessedColumn(name)
			g.columns = append(g.columns, named[name])
		}
		return named[name]
	}
	return eachObject(g.in, func(_ int, text jsontext.Value) error {
		row := mappedRow{cells: map[string]string{}, lists: map[string]jsontext.Value{}}
		if row.flatten("", text, 0) != nil { // which is refused when it is read
			return nil
		}
		g.rows++
		if len(g.first) < maxFirst {
			g.first = append(g.first, row.cells)
		}
		for _, name := range slices.Sorted(maps.Keys(row.cells)) {
			column(name).add(row.cells[name])
		}
		for _, name := range slices.Sorted(maps.Keys(row.lists)) {
			var numbers []foreign.Number
			c := column(name)
			if foreign.Decode(row.lists[name], &numbers) != nil {
				c.opaque = true
			} else if len(numbers) > 0 {
				c.lists++
			}
		}
		if len(g.columns) > maxGuessed {
			return fmt.Errorf("more than %d columns", maxGuessed)
		}
		return nil
	})
}

// decide assigns a role to each column.
func (g *guessed) decide() error {
	g.doubts = map[string]string{}
	g.chooseNumerals()
	for _, c := range g.columns {
		for _, word := range slices.Sorted(maps.Keys(c.texts)) {
			if g.isNumeric(c) && isAbsent(word) && !slices.Contains(g.Missing, word) {
				g.Missing = append(g.Missing, word)
			}
		}
		for _, unit := range c.units {
			if _, _, known := schema.StoredUnit(unit); !known {
				foreign.Put(&g.Units, unit, unitSpelled(unit))
			}
		}
	}
	g.takeUnits()
	var numbers []*guessedColumn
	for _, c := range g.columns {
		switch {
		case slices.Contains(g.Ignore, c.name):
		case c.filled+c.lists == 0 || c.opaque || len(c.name) == 0:
			g.Ignore = append(g.Ignore, c.name)
			switch {
			case c.opaque:
				g.doubts[c.name] = "its values are lists"
			case c.filled == 0:
				g.doubts[c.name] = "it has no value"
			}
		case c.lists > 0 || g.isNumeric(c) && !g.decideNumber(c):
			numbers = append(numbers, c)
		case !g.isNumeric(c):
			g.decideText(c)
		}
	}
	g.decideLong(&numbers)
	g.decideMetrics(numbers)
	if len(g.Metrics) == 0 && g.Long == nil {
		return errors.New("no column of numbers looks like a metric")
	}
	for _, c := range g.columns {
		for _, word := range slices.Sorted(maps.Keys(c.texts)) {
			_, is := g.Metrics[c.name]
			switch is = is || g.Long != nil && g.Long.Value == c.name; {
			case !is || isAbsent(word):
			case isFailure(word):
				foreign.Put(&g.Statuses, word, string(statusOf(word)))
				g.failures = true
			default:
				g.doubts[c.name] = fmt.Sprintf("texts such as %q are refused: list them under missing, or under statuses if the run failed", foreign.Brief(word))
			}
		}
	}
	g.decideBenchmark()
	g.decidePrimary()
	return nil
}

// takeUnits gives a column the unit that another column names for all rows: time_unit names the unit of time, latency.unit of
// latency.value.
func (g *guessed) takeUnits() {
	for _, c := range g.columns {
		measured, is := strings.CutSuffix(c.name, "unit")
		if measured = strings.TrimRight(measured, "._ "); !is || measured == "" || len(c.order) != 1 || c.more {
			continue
		}
		of := slices.IndexFunc(g.columns, func(other *guessedColumn) bool {
			return g.isNumeric(other) && (other.name == measured || other.name == measured+".value" || other.name == measured+"_value")
		})
		if of >= 0 && unitSpelled(c.order[0]) != "" && len(g.columns[of].units) == 0 {
			g.columns[of].units = c.order
			g.Ignore = append(g.Ignore, c.name)
		}
	}
}

// chooseNumerals chooses how numbers are written: so that most columns are numbers. Where it makes no difference, semicolons between the
// values suggest decimal commas.
func (g *guessed) chooseNumerals() {
	order := []int{0, 1, 2, 3}
	if g.separator == ';' {
		order = []int{0, 2, 3, 1}
	}
	best, most := 0, -1
	for _, style := range order {
		count := 0
		for _, c := range g.columns {
			if c.isNumeric(style) {
				count++
			}
		}
		if count > most {
			best, most = style, count
		}
	}
	g.Decimal, g.Thousands = guessedNumerals[best].decimal, guessedNumerals[best].thousands
	for _, c := range g.columns {
		c.read[0] = c.read[best]
	}
}

// isNumeric reports whether a column has numbers of a style, and nothing else but words for a missing value. Where its name has a unit, less than half of
// its cells may be other texts, which are refused by their line.
func (c *guessedColumn) isNumeric(style int) bool {
	count, others := c.read[style].count+c.read[style].infinite, 0
	for text, n := range c.texts {
		count += n
		if !isAbsent(text) && !isFailure(text) {
			others += n
		}
	}
	_, unit := c.unitOf()
	return c.read[style].count > 0 && count == c.filled && (others == 0 || unit != "" && len(c.units) == 0 && 2*others < c.filled)
}

// isNumeric reports whether a column has numbers, and nothing else but words for a missing value.
func (g *guessed) isNumeric(c *guessedColumn) bool { return c.isNumeric(0) }

// repeats reports whether the values of a column repeat, as the values of an axis do.
func (g *guessed) repeats(c *guessedColumn) bool { return !c.more && 2*len(c.order) <= c.filled }

// decideBenchmark gives the runs a benchmark: the file, if no column has it.
func (g *guessed) decideBenchmark() {
	if !slices.Contains(slices.Collect(maps.Values(g.Fields)), "benchmark") {
		name := path.Base(cmp.Or(g.in.Given, g.in.Name))
		name, _, _ = strings.Cut(name, ".")
		g.Benchmark = cmp.Or(strings.Trim(name, "-"), "table")
	}
}

// decidePrimary names the primary metric where the default is none, or would be another one in rows without a value of latency. If a benchmark
// has another metric in all of its rows, it is none for all.
func (g *guessed) decidePrimary() {
	var names []string
	for _, c := range g.columns {
		if m, is := g.Metrics[c.name]; is {
			names = append(names, m.Metric)
		}
	}
	if len(names) == 0 {
		return
	}
	primary := names[0]
	for _, name := range []string{schema.PrimaryMetric, "throughput", "bandwidth", "compute"} {
		if slices.Contains(names, name) {
			primary = name
			break
		}
	}
	lacks, has, hasOther := primary != schema.PrimaryMetric, map[string]bool{}, map[string]bool{} // a row; by benchmark
	for _, row := range g.first {
		benchmark, named, measured, other := "", false, false, false
		for _, c := range g.columns {
			cell, m := row[c.name], g.Metrics[c.name].Metric
			isNumber := cell != "" && !isAbsent(cell) && !isFailure(cell)
			switch {
			case g.Fields[c.name] == "benchmark":
				benchmark = cell
			case m == primary:
				named, measured = named || cell != "" || c.lists > 0, measured || isNumber || c.lists > 0
			case m != "":
				other = other || isNumber
			}
		}
		lacks = lacks || other && !measured
		has[benchmark], hasOther[benchmark] = has[benchmark] || named, hasOther[benchmark] || other
	}
	for benchmark := range hasOther {
		lacks = lacks && (has[benchmark] || !hasOther[benchmark])
	}
	if lacks {
		g.Primary = primary
	}
}
