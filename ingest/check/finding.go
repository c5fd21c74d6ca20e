package check

// Severity is how serious a finding is.
type Severity string

// The severities.
const (
	SeverityNotice     Severity = "notice"     // no data is affected
	SeverityDamage     Severity = "damage"     // data is lost or changed, or will be read wrongly
	SeverityUnreadable Severity = "unreadable" // the operating system cannot read it, so its content is unknown
	SeverityNewer      Severity = "newer"      // it has a later format, which this version cannot read
)

// Finding is a problem, or a notice, about one file of a store.
type Finding struct {
	Severity Severity
	Path     string // in the store, slash-separated
	Problem  string
	Loss     Loss // lost even after a repair of the file

	remedy   remedy
	complete []string // of remedyFound: the runs whose rows were found again
}

// remedy is the action of Repair on a finding.
type remedy int

const (
	remedyNone remedy = iota
	remedyAside
	remedySealed  // rewrite a sealed file with its intact rows
	remedyRestore // restore an event from a pack
	remedyFound   // record in an event that lost rows were found again
	remedyHeader  // restore the header
	remedyEmpty   // remove the empty folder of a claim
)

// Remedy describes the action of Repair on the finding. It is empty for a notice without an action.
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
