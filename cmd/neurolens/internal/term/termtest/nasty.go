package termtest

// Nasty are texts that steer a terminal, turn the text around them, make formulas, elements, links, or mention somebody.
func Nasty() []string {
	return []string{
		"\x1b]0;title\a", "\u009b31m", "\x7f", "a\u202eb\u202c", "\u2066x\u2069", "\u061c\u200e\u200f", "one\ntwo\tthree\rfour", `back\slash`,
		"=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "-2+3", "\t=1", "-1.5e3", "<script>alert(1)</script>", "[a](javascript:1)", "`code`", "@name", "#12",
		"https://example.org", "www.example.org", "**bold**", "![x](y)", "a|b", "&lt;", "~~gone~~", "$x$",
	}
}
