package termtest

import "strings"

// Hostile are texts that end what they stand in (an element, a section, a block of code, a string), that do what Nasty do, and that are far
// too long.
func Hostile() []string {
	return append(Nasty(),
		"</title></svg><img src=x onerror=alert(1)>", `"><g onload="alert(1)`, `' onclick='alert(1)`, "]]><!--", "-->", "</style><style>*{display:none}",
		"```", "~~~~", "``````", "</code></pre>", `"};alert(1);//`, `${alert(1)}`, "{{constructor.constructor('alert(1)')()}}", "&#0;&quot;", "\x00",
		`=HYPERLINK("https://example.org")`, "\r=1", "@SUM(A1:A9)", "名前", "e"+strings.Repeat("\u0301", 300), strings.Repeat("x", 10_000), strings.Repeat("<", 10_000))
}
