package check

// Severity says what a finding means.
type Severity string

// The severities.
const (
	SeverityNotice     Severity = "notice"     // what is there is read as it was stored
	SeverityDamage     Severity = "damage"     // something is lost or changed, or will be read wrongly
	SeverityUnreadable Severity = "unreadable" // the system does not let it be read: nothing is known about it
	SeverityNewer      Severity = "newer"      // of a later format, which this version does not know
)

// Finding is what there is to say about one file of a store.
type Finding struct {
	Severity Severity
	Path     string // in the store, slash-separated
	Problem  string
	Loss     Loss // what goes when the file is repaired

	remedy remedy
	found  []string // of remedyFound: the runs whose rows are there again
}

// remedy is what Repair can do about a finding.
type remedy int

const (
	remedyNone remedy = iota
	remedyAside
	remedySealed  // a sealed file is written anew, of what is left of it
	remedyRestore // an event, from the pack that has it
	remedyFound   // an event says that lost rows are there again
	remedyHeader  // the header is made whole
)

// Remedy is what Repair does about it, in words; empty where it is a notice and stays.
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
	case f.remedy == remedyRestore:
		return "store repair puts it back"
	case f.Severity == SeverityDamage:
		return "store repair leaves it unchanged"
	}
	return ""
}
