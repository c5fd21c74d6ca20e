package formats

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// goStampWords end the keys that say which commits a process is of, and when it ran: numerator_hash, experiment-commit-time.
var goStampWords = []string{"hash", "stamp", "commit", "branch", "date"}

// goRoles are the keys that name the commit of a process by its part in a comparison, where their values are commits.
var goRoles = []string{"tip", "base", "experiment", "baseline"}

var goCommit = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// isGoStamp reports whether a line of the form key: value says of which commit and when, and no axis: as a parameter it would
// make every commit another point.
func isGoStamp(key, value string) bool {
	if slices.Contains(goRoles, key) {
		return goCommit.MatchString(value)
	}
	words := strings.FieldsFunc(strings.TrimSuffix(key, "-time"), func(r rune) bool { return r == '-' || r == '_' })
	return len(words) > 1 && slices.Contains(goStampWords, words[len(words)-1])
}

// goOnlyColumns are the keys of the header that are columns, or about who stored a file: no facts.
var goOnlyColumns = []string{"goos", "pkg", "cpu", "commit", "branch", "machine", "hostname", "by", "upload", "upload-file", "upload-part"}

// setEnv gives a run what is known of where it ran.
func (p *goParser) setEnv(r *schema.Run, at string) {
	h := p.header
	r.Env = schema.Env{
		Machine: cmp.Or(h["machine"], h["hostname"], h["builder_id"]), Hostname: h["hostname"], OS: h["goos"], CPUModel: h["cpu"],
		GitCommit: p.commit(), GitBranch: p.branch(),
	}
	for name, text := range h {
		if !slices.Contains(goOnlyColumns, name) {
			foreign.SetFact(r, name, text)
		}
	}
	for _, text := range []string{at, h["runstamp"], h["date"]} {
		if text == "" {
			continue
		}
		if t, source, err := p.in.Time(text, goTimes...); err == nil {
			foreign.SetStart(r, t, source)
			return
		}
	}
}

var goTimes = append([]string{"20060102T150405", "2006-01-02"}, foreign.ISO...)

// goSides are the parts in a comparison, by what the line toolchain calls them, and how their keys begin.
var goSides = map[string]string{"Tip": "numerator_", "Base": "denominator_", "experiment": "experiment-", "baseline": "baseline-"}

// commit is the commit that a process measured: its own, or that of its part in a comparison.
func (p *goParser) commit() string {
	if commit := p.header["commit"]; commit != "" {
		return commit
	}
	for _, role := range goRoles {
		if commit := p.header[role]; commit != "" {
			return commit
		}
	}
	if side := goSides[p.config["toolchain"]]; side != "" {
		return cmp.Or(p.header[side+"hash"], p.header[side+"commit"])
	}
	return ""
}

func (p *goParser) branch() string {
	if branch := p.header["branch"]; branch != "" {
		return branch
	}
	if side := goSides[p.config["toolchain"]]; side != "" {
		return p.header[side+"branch"]
	}
	return ""
}

// goShared is what the runs of a process share: where they ran, with the facts about their units.
type goShared struct {
	kept       bool
	at         string
	units      []*goUnit
	env        schema.Env
	started    time.Time
	timeSource schema.TimeSource
}

// fits reports whether it is that of a run, too.
func (s *goShared) fits(b *goRun) bool {
	return s.kept && len(s.units) == b.used && s.at == b.at &&
		!slices.ContainsFunc(b.metrics[:b.used], func(m goMetric) bool { return !slices.Contains(s.units, m.unit) })
}

// share keeps what the following runs share with this one. A text with NUL characters is not kept, because they are
// removed from it, and each run says so.
func (p *goParser) share(r *schema.Run, b *goRun) {
	p.shared = goShared{}
	for name, text := range r.Env.Facts {
		if strings.IndexByte(name, 0) >= 0 || strings.IndexByte(text, 0) >= 0 {
			return
		}
	}
	p.shared = goShared{kept: true, at: b.at, env: r.Env, started: r.StartedAt, timeSource: r.TimeSource}
	for i := range b.metrics[:b.used] {
		p.shared.units = append(p.shared.units, b.metrics[i].unit)
	}
}
