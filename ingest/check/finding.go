package check

// Severity is how serious a finding is.
type Severity string

// The severities.
const (
	SeverityNotice     Severity = "notice"     // no data is affected
	SeverityDamage     Severity = "damage"     // data is lost or changed, or will be read wrongly
	SeverityUnreadable Severity = "unreadable" // the operating system cannot read it, so its content is unknown
	SeverityNewer      Severity = "newer"      // it has a later format, which this version does not know
)

// Finding is a problem, or a notice, about one file of a store.
type Finding struct {
	Severity Severity
	Path     string // in the store, slash-separated
	Problem  string
	Loss     Loss // what a repair of the file cannot save

	remedy   remedy
	complete []string // of remedyFound: the runs whose rows are there again
}

// remedy is what Repair can do about a finding.
type remedy int

const (
	remedyNone remedy = iota
	remedyAside
	remedySealed  // rewrite a sealed file with its intact rows
	remedyRestore // restore an event from a pack
	remedyFound   // record in an event that lost rows are there again
	remedyHeader  // restore the header
	remedyEmpty   // remove the empty folder of a claim
)

// Remedy says what Repair does about the finding. It is empty for a notice that Repair does nothing about.
func (f Finding) Remedy() string {
	switch {
	case f.remedy == remedyAside:
		return "store repair sets it aside in quarantine/"
	case f.remedy == remedyHeader:
		return "store repair restores it"
	case f.remedy == remedySealed:
		return "store repair sets it aside in quarantine/ and keeps its intact rows"
	case f.remedy == remedyFound:
		return "store repair records it in an event"
	case f.remedy == remedyEmpty:
		return "store repair removes it"
	case f.remedy == remedyRestore:
		return "store repair puts it back"
	case f.Severity == SeverityDamage:
		return "store repair leaves it unchanged"
	}
	return ""
}
