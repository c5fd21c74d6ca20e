package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// headingParam is the parameter with the heading of a result in a text.
const headingParam = "heading"

// headings are the headings of a text. If the text has equal points under different headings, headings distinguish points: then the
// heading is a parameter of all results of the text.
type headings struct {
	real  titles // each after the headings above it
	other titles // lines that people may mean as headings, or as anything else
	apart bool   // headings distinguish points

	under map[string]string // during find: the last heading of each point; otherwise nil
}

// titles are lines of a text, each of which applies up to the next one.
type titles struct {
	lines []int    // ascending, from 1
	texts []string // of the lines; an empty text ends the title before
}

func (t *titles) add(line int, text string) {
	t.lines, t.texts = append(t.lines, line), append(t.texts, text)
}

// Limits of headings.
const (
	maxHeadings      = 10_000 // if a text has more, none is used
	maxHeadingLength = 200    // bytes
)

var (
	markdownHeading = regexp.MustCompile("^(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
	// A title between lines of signs, as scripts print it, or in bold type.
	bannerHeading = regexp.MustCompile(`^[ \t]*(?:={2,}|-{3,}|\*{3,}|#{2,}|~{3,})[ \t]*([^-=*#~\s].*?)[ \t]*(?:={2,}|-{3,}|\*{3,}|#{2,}|~{3,})[ \t]*$|^\*\*([^*]+)\*\*:?[ \t]*$`)

	// Lines that scripts print above results: GPU 0 only:, >>> A <<<, [A] and, with set -x, + ./llama-bench -t 4.
	otherTitle = regexp.MustCompile(`^(?:[A-Za-z][^|]{0,99}:|>{2,}.*<{2,}|\[[^][]+\]|[+$] \S.*)[ \t]*$`)

	// A counter of repeats in a heading, or its time, does not distinguish points. Any other number does, such as 512, driver 2024.1.0,
	// batch 16:32 and +1000 MHz.
	headingCount = regexp.MustCompile(`(?i)(^|[\s([,;:])(?:(?:run|rep|repeat|repetition|iteration|iter|trial|try|pass|attempt|round|take)[ :_-]*#?|#)\d+(?: *(?:/|of) *\d+)?($|[\s)\],;:])`)
	headingTime  = regexp.MustCompile(`(?i)(^|[\s([,;:])(?:` + dateText + `(?:(?:T|,? +)` + clockText + zoneText + `)?|` + wordedDate + `|` + secondText + zoneText + `)($|[\s)\],;:])`)
	emptyPair    = regexp.MustCompile(`\([\s,;:-]*\)|\[[\s,;:-]*\]`)
)

// Times in headings: 2026-11-01 10:11, 2026-11-01T10:11:12Z, Sun Nov 29 10:11:12 UTC 2026, 29 Nov 2026 and 10:11:12. A time of
// day without seconds is one only after a date, and a zone only after a time of day.
const (
	dateText   = `\d{4}(?:-(?:0[1-9]|1[0-2])-|/(?:0[1-9]|1[0-2])/)(?:0[1-9]|[12]\d|3[01])`
	secondText = `(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d+)?`
	clockText  = `(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?`
	zoneText   = `(?: *(?:UTC|GMT|Z|[AP]M|CES?T|[ECMP][SD]T|[-+](?:0\d|1[0-4]):?(?:00|15|30|45)))?`
	monthText  = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*`
	wordedDate = `(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +)?(?:\d\d? ` + monthText + `|` + monthText + ` +\d\d?),?(?: +` + secondText + zoneText + `)? +\d{4}(?: +` + clockText + zoneText + `)?`
)

// headingText returns the part of a heading that distinguishes points.
func headingText(text string) string {
	for _, repeat := range []*regexp.Regexp{headingTime, headingCount} {
		text = repeat.ReplaceAllString(text, "$1 $2")
	}
	text = strings.Join(strings.Fields(emptyPair.ReplaceAllString(text, " ")), " ")
	text = strings.TrimRight(strings.TrimLeft(text, ":,; "), "-:,; ")
	return clipped(strings.TrimPrefix(text, "- "), maxHeadingLength)
}

// bannerLevel is the level of a heading that is not Markdown, below all that are.
const bannerLevel = 7

// mayBeTitle reports whether a line may be one of the titles that the regular expressions match. Nearly no result line may be, and the
// expressions take longer than the results take to read.
func mayBeTitle(line string) bool {
	return line != "" && (strings.Contains("#=-*~` \t>[+$", line[:1]) || strings.HasSuffix(strings.TrimRight(line, " \t"), ":"))
}

// headingsOf finds the headings of a text. own matches the lines of the tool that look like headings. It returns nil if
// there are none.
func headingsOf(in *Input, own *regexp.Regexp) (*headings, error) {
	if own == nil || in.Head.JSONAt == 0 {
		return nil, nil
	}
	again, err := in.Ahead()
	if err != nil {
		return nil, err
	}
	defer again.Close()
	h, fenced := &headings{}, false
	var open [bannerLevel + 1]string
	for n, line := range again.Lines() {
		text := line.Text
		if line.Err != nil || max(len(h.real.lines), len(h.other.lines)) > maxHeadings {
			return nil, nil // the error comes again
		}
		if !mayBeTitle(text) || own.MatchString(text) {
			continue
		}
		if !strings.Contains("#=-*~` \t", text[:1]) {
			if otherTitle.MatchString(text) {
				h.other.add(n, headingText(text))
			}
			continue
		}
		if strings.HasPrefix(text, "```") {
			fenced = !fenced
			continue
		}
		level, title := bannerLevel, ""
		if m := markdownHeading.FindStringSubmatch(text); m != nil && !fenced {
			level, title = len(m[1]), m[2]
		} else if m := bannerHeading.FindStringSubmatch(text); m != nil {
			title = m[1] + m[2]
		} else {
			continue
		}
		open[level] = headingText(title)
		clear(open[level+1:])
		above := slices.DeleteFunc(slices.Clone(open[:]), func(s string) bool { return s == "" })
		h.real.add(n, strings.Join(above, " / "))
	}
	if len(h.real.lines)+len(h.other.lines) == 0 {
		return nil, nil
	}
	return h, nil
}

// at returns the title that applies to a record, given as in Output.Run; empty if the record is not a line.
func (t *titles) at(where string) string {
	line, err := strconv.Atoi(strings.TrimPrefix(where, "line "))
	if err != nil {
		return ""
	}
	return t.atLine(line)
}

// atLine returns the title that applies to a line.
func (t *titles) atLine(line int) string {
	i, found := slices.BinarySearch(t.lines, line)
	if !found {
		i-- // the line before
	}
	if i < 0 {
		return ""
	}
	return t.texts[i]
}

// set makes the heading a parameter of a run, if headings distinguish points.
func (h *headings) set(where string, r *schema.Run) {
	if h != nil && h.apart && !HasAxis(r, headingParam) {
		SetParam(r, headingParam, h.real.at(where))
	}
}

// Heading returns the heading of a line of a text, if headings distinguish points or this is being determined; otherwise it is empty. A
// reader that makes a run of several lines ends the run where the heading changes.
func (o *Output) Heading(line int) string {
	if h := o.headings; h != nil && (h.apart || h.under != nil) {
		return h.real.atLine(line)
	}
	return ""
}

// note sets apart if a point is below a second heading.
func (h *headings) note(where, point string) {
	if h == nil || h.under == nil {
		return
	}
	text := h.real.at(where)
	if before, known := h.under[point]; known && before != text {
		h.apart = true
	}
	h.under[point] = text
}

// find reads a file to set apart. It stores nothing, and ends at the first point below a second heading.
func (h *headings) find(in *Input, format *Format) {
	if len(h.real.lines) == 0 {
		return
	}
	again, err := in.Ahead()
	if err != nil {
		return
	}
	defer again.Close()
	h.under = map[string]string{}
	o := &Output{in: again, yield: func(schema.Valid) bool { return !h.apart }, headings: h, identity: identity{place: place{chain: newChain("")}, known: newKnown(nil)}}
	_ = format.Read(again, o) // its errors come again
	h.under = nil
}
