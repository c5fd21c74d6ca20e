package main

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// contrasts are lines about facts that some runs of a side have and others have not: a sentence for each that tells slow
// runs from fast ones, and how many were looked at.
func (w explainWriter) contrasts(rows [][]any) []string {
	var lines []string
	for _, row := range rows {
		switch v := judge.ContrastVerdict(textAt(w.x.Table, row, "verdict")); v {
		case judge.Explains, judge.Opposes, judge.Noisy:
			lines = append(lines, w.contrast(row, v), "")
		}
	}
	if looked := w.looked(len(lines) > 0); looked != "" {
		lines = append(lines, looked, "")
	}
	return lines
}

// looked says how many facts were looked at; empty where there are none.
func (w explainWriter) looked(found bool) string {
	facts, few := w.x.Facts, w.x.FewRuns
	const tooFew = "in too few runs or sessions"
	switch {
	case facts == 0 && few == 0:
		return ""
	case facts == 0:
		return differing(few) + " " + tooFew + " of one side to tell"
	}
	text := differing(facts) + " between runs of one side"
	if !found {
		text += ": none tells slow runs from fast ones"
	}
	if few > 0 {
		text += fmt.Sprintf("; %s more %s to tell", thousands(few), tooFew)
	}
	return text
}

func differing(facts int) string {
	if facts == 1 {
		return "1 fact that differs"
	}
	return count(facts, "fact") + " that differ"
}

// contrast is a sentence about a contrast.
func (w explainWriter) contrast(row []any, v judge.ContrastVerdict) string {
	t := w.x.Table
	within := "within " + textAt(t, row, "within")
	both := textAt(t, row, "within") == string(judge.WithinSides)
	if both {
		within += " sides"
	}
	text := fmt.Sprintf("%s, the %s with %s%s %s the %s others, p %s of %s looked at",
		within, w.contrastCount(row, "runs", "sessions"), factName(textAt(t, row, "name")), w.alike(row), w.factor(row),
		w.contrastCount(row, "others", "other_sessions"), chance(at(t, row, "p_adjusted")), count(w.x.Facts, "fact"))
	switch {
	case v == judge.Opposes:
		return text + "; this works against the difference"
	case v == judge.Noisy && both:
		return text + "; it splits the runs of both sides: noise, not the difference"
	case v == judge.Noisy:
		return text + "; both sides have about as many: noise, not the difference"
	}
	return text
}

// contrastCount is how many runs there are, and of how many sessions, where these are what is compared.
func (w explainWriter) contrastCount(row []any, runs, sessions string) string {
	number, _ := at(w.x.Table, row, runs).(int64)
	text := thousands(int(number))
	if runs == "runs" {
		text = count(int(number), "run")
	}
	if of, ok := at(w.x.Table, row, sessions).(int64); ok {
		text += " of " + count(int(of), "session")
		if runs != "runs" {
			text = count(int(number), "run") + " of the " + thousands(int(of))
		}
	}
	return text
}

// factor says by how much what a contrast names differs from the rest.
func (w explainWriter) factor(row []any) string {
	metric := textAt(w.x.Comparison.Table, w.c.Rows[0], "metric")
	value := func(column string) (string, bool) {
		v, ok := at(w.x.Table, row, column).(float64)
		if textAt(w.x.Table, row, "scale") == string(schema.ScaleRatio) {
			return fmt.Sprintf("%.2f", 1+v), ok
		}
		return signedQuantity(v, textAt(w.x.Table, row, "unit")), ok
	}
	change, known := value("change")
	if !known {
		return "differ in " + metric + " from"
	}
	low, bounded := value("low")
	high, above := value("high")
	interval := ""
	if bounded && above {
		interval = " (" + low + " " + high + ")"
	}
	switch {
	case textAt(w.x.Table, row, "scale") != string(schema.ScaleRatio):
		return "differ in " + metric + " by " + change + interval + " from"
	case textAt(w.x.Table, row, "unit") == "ns":
		return "took " + change + "×" + interval + " as long as"
	}
	return "had " + change + "×" + interval + " the " + metric + " of"
}

// mostAlike is how many facts are named that split the runs alike.
const mostAlike = 3

// alike says which other facts may be meant as well.
func (w explainWriter) alike(row []any) string {
	list, _ := at(w.x.Table, row, "alike").([]any)
	if len(list) == 0 {
		return ""
	}
	var names []string
	for _, other := range list[:min(len(list), mostAlike)] {
		name, _ := other.(string)
		names = append(names, cut(factName(name), explainText+explainText))
	}
	if more := len(list) - mostAlike; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return " (with " + strings.Join(names, ", ") + ")"
}

// factName is a fact, or a condition on one, as people read it.
func factName(name string) string { return strings.TrimPrefix(name, "env.") }
