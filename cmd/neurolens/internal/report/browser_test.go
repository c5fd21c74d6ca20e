//go:build linux

package report

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/query/summary"
)

var (
	shots = flag.String("shots", "", "write screenshots of a page into this `folder`, for people to look at")
	shown = flag.String("page", "", "the `file` of that page; without it a small one")
)

// tried returns the page that is looked at.
func tried(t testing.TB, points int) string {
	t.Helper()
	if *shown == "" {
		return written(t, rows(points))
	}
	b, err := os.ReadFile(*shown)
	ok(t, err)
	return string(b)
}

// TestLook writes screenshots of each section of a page: in light, in dark, 360 pixels wide, and printed.
func TestLook(t *testing.T) {
	if *shots == "" {
		t.Skip("-shots names no folder")
	}
	ctx, address := browser(t), file(t, tried(t, 300))
	keep := func(name string, b []byte, err error) {
		if err == nil {
			err = os.WriteFile(filepath.Join(*shots, name), b, 0o644)
		}
		if err != nil {
			t.Error(name, err)
		}
	}
	for name, width := range map[string]int64{"light": 1280, "dark": 1280, "narrow": 360} {
		v := open(t, ctx, address+"#?theme="+name)
		v.do(chromedp.EmulateViewport(width, 900))
		v.all()
		for _, id := range strings.Fields(v.text(`[...document.querySelectorAll("main>section")].map((s) => s.id).join(" ")`)) {
			v.text(`document.getElementById("` + id + `").scrollIntoView()`)
			b, err := chromedp.Run(v.ctx, chromedp.Screenshot(chromedp.ID(id)))
			keep(name+"-"+id+".png", b, err)
		}
		b, err := chromedp.Run(v.ctx, chromedp.FullScreenshot(100))
		keep(name+".png", b, err)
	}
	v := open(t, ctx, address)
	v.do(chromedp.EmulateViewport(794, 1123)) // a page of A4
	media(v, "print", "light")
	v.text(`dispatchEvent(new Event("beforeprint"))`)
	b, err := chromedp.Run(v.ctx, chromedp.FullScreenshot(100))
	keep("print.png", b, err)
	b, err = chromedp.Run(v.ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPreferCSSPageSize()))
	keep("print.pdf", b, err)
}

// needs skips a test for the lack of something, unless NEUROLENS_TEST_REQUIRE names it.
func needs(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("NEUROLENS_TEST_REQUIRE"), ","), what) {
		t.Fatalf("%s is required: %v", what, err)
	}
	t.Skipf("%s: %v", what, err)
}

// visit is a page in a browser, with what it wrote and asked for.
type visit struct {
	testing.TB
	ctx      context.Context
	mu       sync.Mutex
	messages []string
	requests []string
}

// browser starts a browser.
func browser(t testing.TB) context.Context {
	t.Helper()
	if _, measures := t.(*testing.B); !measures && *shots == "" && os.Getenv("NEUROLENS_LONG") == "" {
		t.Skip("left out: NEUROLENS_LONG is not set")
	}
	path, err := exec.LookPath("chromium")
	needs(t, "chromium", err)
	// The folder of its data is chromedp's, which removes it when all processes of the browser are gone.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WSURLReadTimeout(5*time.Minute), chromedp.WindowSize(1280, 900))
	if os.Getuid() == 0 { // its sandbox is not for root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ok(t, chromedp.Do(ctx))
	return ctx
}

// file writes a page into a file, and gives its address.
func file(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	ok(t, os.WriteFile(path, []byte(text), 0o644))
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// open opens an address in a window of its own.
func open(t testing.TB, browser context.Context, address string) *visit {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute) // a page that hangs
	t.Cleanup(cancel)
	v := &visit{TB: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(e any) {
		v.mu.Lock()
		defer v.mu.Unlock()
		switch e := e.(type) {
		case *runtime.EventConsoleAPICalled:
			v.messages = append(v.messages, fmt.Sprint(e.Type))
		case *runtime.EventExceptionThrown:
			v.messages = append(v.messages, e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
		case *log.EventEntryAdded:
			v.messages = append(v.messages, e.Entry.Text)
		case *network.EventRequestWillBeSent:
			v.requests = append(v.requests, e.Request.URL)
		}
	})
	ok(t, err)
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, struct{}{}); err != nil {
		t.Fatal(err)
	}
	v.do(chromedp.Navigate(address))
	return v
}

func (v *visit) do(steps ...chromedp.Action[chromedp.Void]) {
	v.Helper()
	if err := chromedp.Do(v.ctx, steps...); err != nil {
		v.Fatal(err)
	}
}

// text returns what an expression gives.
func (v *visit) text(expression string) string {
	v.Helper()
	got, err := chromedp.Run(v.ctx, chromedp.Evaluate[any](expression))
	if err != nil {
		v.Fatalf("%s: %v", expression, err)
	}
	return fmt.Sprint(got)
}

// click clicks an element.
func (v *visit) click(selector string) {
	v.Helper()
	v.text("document.querySelector(" + strconv.Quote(selector) + ").click()")
}

// all unfolds the page, and lays out what is out of sight.
func (v *visit) all() {
	v.Helper()
	v.text(`document.querySelectorAll("main>section").forEach((s) => { s.style.contentVisibility = "visible"; }), document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
}

// until waits for an expression to be true: what a page does, it does when it comes to it.
func (v *visit) until(expression string) {
	v.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		if v.text(expression) == "true" {
			return
		}
	}
	v.Fatalf("never true: %s", expression)
}

// quiet fails where the page wrote something, or asked for anything but itself.
func (v *visit) quiet() {
	v.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.messages) > 0 {
		v.Errorf("messages: %q", v.messages)
	}
	for i, r := range v.requests {
		if i > 0 && !strings.HasPrefix(r, "data:,") && r != v.requests[0] {
			v.Errorf("request: %s", r)
		}
	}
}

// htmlColumn are the texts of the rows that are shown.
const htmlColumn = `(i) => [...document.querySelectorAll("#t1 tbody tr:not([hidden])")].map((r) => r.cells[i].textContent).join()`

// TestInBrowser: a page writes nothing to the console and asks for nothing; its tables are sorted, filtered and copied, by keys too.
func TestInBrowser(t *testing.T) {
	names := []string{"b10", "b9", "a=1", "c fp16", "zz fp16", "-x", "e,f"}
	for i := range 10 { // only a table of some rows has a filter
		names = append(names, fmt.Sprintf("y%d", i))
	}
	v := open(t, browser(t), file(t, written(t, small(names...))))
	shows := func(i int, want string) {
		t.Helper()
		v.until("(" + htmlColumn + ")(" + strconv.Itoa(i) + ") === " + strconv.Quote(want))
	}
	shows(0, "b10,b9,a=1,c fp16,zz fp16,-x,e,f,y0,y1,y2,y3,y4,y5,y6,y7,y8,y9")
	v.do(chromedp.Focus(chromedp.CSS("#t1 th:nth-child(1) button")), chromedp.KeyEvent(kb.Enter))
	v.until(`document.querySelector("#t1 th").getAttribute("aria-sort") === "ascending"`)
	shows(0, "-x,a=1,b9,b10,c fp16,e,f,y0,y1,y2,y3,y4,y5,y6,y7,y8,y9,zz fp16")
	v.click("#t1 th:nth-child(2) button")
	shows(1, numbered(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17))
	v.click("#t1 th:nth-child(2) button")
	shows(1, numbered(17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1))
	v.do(chromedp.SendKeys(chromedp.CSS("#points input"), "FP16 -zz"))
	shows(0, "c fp16")
	v.until(`location.hash.includes("sort.points=-2") && location.hash.includes("find.points=FP16+-zz")`)

	// What was done stands in the address.
	address := v.text("location.href")
	again := open(t, v.ctx, address)
	again.until(`document.querySelectorAll("#t1 tbody tr:not([hidden])").length === 1`)
	if got := again.text(`document.querySelector("#points input").value + document.querySelector("#t1 th:nth-child(2)").getAttribute("aria-sort")`); got != "FP16 -zzdescending" {
		t.Error(got)
	}
	again.quiet()
	v.quiet()
}

// numbered returns values of a column.
func numbered(all ...int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = fmt.Sprintf("%d ms", n)
	}
	return strings.Join(texts, ",")
}

// copied is what the page wrote to the clipboard last, which a test must not read of the machine.
const copied = `navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }`

// TestCopy: a table is copied as CSV with stored values, units, ids and commands; no cell is a formula.
func TestCopy(t *testing.T) {
	v := open(t, browser(t), file(t, written(t, small("=1+1", `a "b", c`))))
	v.text(copied)
	v.do(chromedp.Focus(chromedp.CSS("#points .tools button")), chromedp.KeyEvent(kb.Enter))
	v.until("!!window.copied")
	want := "id,benchmark,latency (ns),vs base (ratio),notes,command\n" +
		"9f3c1d20,'=1+1,2.0000005e+06,1.5,'=1+1,neurolens ls point_id=9f3c1d20\n" +
		`9f3c1d21,"a ""b"", c",1.0000005e+06,1.5,"a ""b"", c",neurolens ls point_id=9f3c1d21` + "\n"
	if got := v.text("window.copied"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	v.quiet()
}

// TestLongTable: of a long table the first rows stand in the page, in the order and of the filter that were chosen, until all are asked
// for, or printed. All rows that match are copied.
func TestLongTable(t *testing.T) {
	v := open(t, browser(t), file(t, written(t, rows(1200))))
	shown := func(want string) {
		t.Helper()
		v.until(`document.querySelectorAll("#t1 tbody tr").length === ` + want)
	}
	shown("500")
	v.click("#t1 th:nth-child(4) button")
	v.click("#t1 th:nth-child(4) button") // the largest first
	shown("500")
	if got := v.text(`Math.max(...[...document.querySelectorAll("#t1 tbody tr")].map((r) => Number(r.dataset.v.split(";")[1]))) === Number(document.querySelector("#t1 tbody tr").dataset.v.split(";")[1])`); got != "true" {
		t.Error("the first row is not the one with the largest value")
	}
	if got := v.text(`document.querySelector("#points .tools [role=status]").textContent`); got != "1,200 rows, the first 500 are shown" {
		t.Error(got)
	}
	v.text(copied)
	v.click(`#points .tools button[aria-label^="Copy"]`)
	v.until("!!window.copied")
	if got := v.text(`window.copied.trim().split("\n").length`); got != "1201" {
		t.Error(got, "lines are copied")
	}
	v.text(`dispatchEvent(new Event("beforeprint"))`)
	shown("1200")
	v.text(`dispatchEvent(new Event("afterprint"))`)
	shown("500")
	v.click(`#points .tools button:not([aria-label])`)
	shown("1200")
	v.until(`location.hash.includes("rows.points=all")`)
	open(t, v.ctx, v.text("location.href")).until(`document.querySelectorAll("#t1 tbody tr").length === 1200`)
	v.do(chromedp.SendKeys(chromedp.CSS("#points input"), "fp16"))
	shown("600")
	v.quiet()
}

// TestMarks: marks are gone through by keys and read out; one that is chosen is shown with its rows, and its command stands below.
func TestMarks(t *testing.T) {
	v := open(t, browser(t), file(t, written(t, small("matmul", "softmax"))))
	v.do(chromedp.Focus(chromedp.CSS("#c1 .chart")), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	v.until(`document.querySelector(".tip").textContent === "softmax" && document.querySelector(".said").textContent === "softmax"`)
	v.do(chromedp.KeyEvent(kb.Enter))
	if got := v.text(`[...document.querySelectorAll(".picked")].map((e) => e.localName + e.textContent.slice(0, 7)).join()`); got != "circle,trsoftmax" {
		t.Error(got)
	}
	if got := v.text(`document.querySelector(".bar code").textContent`); got != "neurolens show softmax" {
		t.Error(got)
	}
	v.do(chromedp.KeyEvent("+"))
	v.until(`location.hash.includes("zoom.c1") && document.querySelector("#c1 svg").getAttribute("viewBox") === "60 12 480 96"`)
	v.do(chromedp.KeyEvent("0"), chromedp.KeyEvent(kb.Escape))
	v.until(`document.querySelector("#c1 svg").getAttribute("viewBox") === "0 0 600 120" && !location.hash.includes("zoom") && !document.querySelector(".picked") && document.querySelector(".bar").hidden`)
	v.click("#t1 tbody tr:nth-child(1) td")
	v.until(`document.querySelectorAll(".picked").length === 2 && document.querySelector(".bar code").textContent === "neurolens ls point_id=9f3c1d20"`)
	v.quiet()
}

// TestTheme: the page is as the system has it, or as it was told to be, which the address keeps.
func TestTheme(t *testing.T) {
	v := open(t, browser(t), file(t, written(t, small("matmul"))))
	paper := `getComputedStyle(document.body).backgroundColor`
	light := v.text(paper)
	media(v, "", "dark")
	dark := v.text(paper)
	if light == dark {
		t.Error("a dark system has a light page")
	}
	v.click("header button")
	if got := v.text(paper); got != light {
		t.Error("light was chosen:", got)
	}
	v.click("header button")
	media(v, "", "light")
	if got := v.text(paper + " + location.hash"); got != dark+"#?theme=dark" {
		t.Error("dark was chosen:", got)
	}
	media(v, "print", "dark")
	if got := v.text(paper); got != light {
		t.Error("print is dark:", got)
	}
	v.quiet()
}

// media says what the page is shown on.
func media(v *visit, kind, scheme string) {
	v.Helper()
	_, err := chromedp.Call(v.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: kind, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		v.Fatal(err)
	}
}

// TestHostileInBrowser: no name runs a script or makes the page ask for something.
func TestHostileInBrowser(t *testing.T) {
	ctx := browser(t)
	v := open(t, ctx, file(t, written(t, small(hostile()...))))
	if got := v.text("document.title"); got != "Benchmark report" {
		t.Error(got)
	}
	if got := v.text(`document.querySelectorAll("#t1 tbody tr").length`); got != strconv.Itoa(len(hostile())) {
		t.Error(got, "rows")
	}
	v.quiet()
}

// TestWithoutScript: with scripts off, every text is there to be read.
func TestWithoutScript(t *testing.T) {
	ctx := browser(t)
	v := open(t, ctx, "about:blank")
	if _, err := chromedp.Call(v.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	v.do(chromedp.Navigate(file(t, written(t, small("matmul", "softmax")))))
	text := v.text(`document.querySelector("main").textContent`)
	for _, want := range []string{"What changed", "All points", "1.5x improved", "100 samples a run.", "neurolens show matmul"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Copy") {
		t.Error("a button that does nothing is there")
	}
}

// TestNarrow: at 360 pixels nothing is wider than the page, whatever things are called.
func TestNarrow(t *testing.T) {
	v := open(t, browser(t), file(t, written(t, small(hostile()...))))
	v.do(chromedp.EmulateViewport(360, 800))
	if got := v.text("document.documentElement.scrollWidth"); got != "360" {
		t.Errorf("the page is %s pixels wide", got)
	}
}

// TestNarrowAnswers: on a narrow screen each cell that says something and each mark of a chart is seen without scrolling sideways, behind
// the name of its column, and texts of charts are large enough to be read.
func TestNarrowAnswers(t *testing.T) {
	v := open(t, browser(t), file(t, writtenPage(t, storedRuns(t, nightlyRuns(20, 3), nil))))
	v.all()
	for _, width := range []int64{400, 360} {
		v.do(chromedp.EmulateViewport(width, 800))
		for what, outside := range map[string]string{
			"page":              `[document.documentElement].filter((e) => e.scrollWidth > innerWidth)`,
			"cells":             `[...document.querySelectorAll("td")].filter((td) => td.textContent && (td.getBoundingClientRect().left < 0 || td.getBoundingClientRect().right > innerWidth || td.scrollWidth > td.offsetWidth))`,
			"boxes that scroll": `[...document.querySelectorAll(".box,.chart")].filter((box) => box.scrollWidth > box.clientWidth)`,
			"marks":             `[...document.querySelectorAll(".mark")].filter((mark) => mark.getBoundingClientRect().left < 0 || mark.getBoundingClientRect().right > innerWidth)`,
			"small letters":     `[...document.querySelectorAll(".chart text")].filter((text) => parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a < (innerWidth < 400 ? 8.5 : 9.5))`,
			"names of columns":  `[...document.querySelectorAll("tbody tr")].flatMap((row) => [...row.cells].filter((td, i) => i > 0 && td.textContent && getComputedStyle(td, "::before").content !== JSON.stringify(td.closest("table").tHead.rows[0].cells[i].textContent + " ")))`,
			"empty cells":       `[...document.querySelectorAll("td")].filter((td) => !td.textContent && td.offsetWidth)`,
			"gaps after names": `[...document.querySelectorAll("td:first-child")].filter((td) => {
				const range = document.createRange();
				range.selectNodeContents(td);
				return range.getClientRects().length === 1 && td.offsetWidth > range.getBoundingClientRect().width + 20;
			})`,
		} {
			if got := v.text(outside + ".length"); got != "0" {
				t.Errorf("%s at %d pixels: %s", what, width, got)
			}
		}
	}
	if v.text(`document.querySelectorAll("td").length * document.querySelectorAll(".mark").length`) == "0" {
		t.Error("the page has no cells or no marks")
	}
}

// TestTallChartOnPaper: a chart of many panels is no taller than a page, with room for its title and command.
func TestTallChartOnPaper(t *testing.T) {
	v := open(t, browser(t), file(t, written(t, small("example.com/vec/dot/Dot"))))
	v.do(chromedp.EmulateViewport(794, 1123))
	media(v, "print", "light")
	height := v.text(`(() => {
		const chart = document.querySelector(".chart svg")
		chart.setAttribute("viewBox", "0 0 600 3000")
		return String(Math.round(chart.getBoundingClientRect().height / innerHeight * 100))
	})()`)
	if height != "80" {
		t.Errorf("the chart takes %s %% of a page, want 80", height)
	}
}

// TestWideTable: at 1280 pixels a table of 16 columns, as three tools have them, is not cut, and a column that says nothing is not there.
func TestWideTable(t *testing.T) {
	p := small("example.com/vec/dot/Dot")
	table := p.Sections[1].Tables[0]
	table.Columns, table.Rows[0].Cells = nil, nil
	for i, column := range [][2]string{
		{"benchmark", "example.com/vec/dot/Dot"},
		{"bs", "16"},
		{"prec", "fp16"},
		{"machine", ""},
		{"parameters", "gomaxprocs=2 kind=f-16 n=256 note=before"},
		{"metric", "latency"},
		{"empty", "–"},
		{"value", "1.37 µs"},
		{"p99", "29.1 ns"},
		{"spread", "12.7 %"},
		{"device_memory_used", "2.26 GB"},
		{"B/op", "7 B"},
		{"allocs/op", "4"},
		{"p99-ns", "12.5 ns"},
		{"rows/op", "4.00 rows/op"},
		{"vs base", "1.5x improved"},
		{"runs × n", "2 × 1…20"},
		{"notes", "drift, spread"},
	} {
		table.Columns = append(table.Columns, Column{Header: column[0], Right: i > 6})
		table.Rows[0].Cells = append(table.Rows[0].Cells, Cell{Text: column[1]})
	}
	v := open(t, browser(t), file(t, written(t, p)))
	if got := v.text(`[...document.querySelectorAll(".box")].map((box) => box.scrollWidth - box.clientWidth).join()`); got != "0" {
		t.Errorf("the table is cut by %s pixels", got)
	}
	v.do(chromedp.EmulateViewport(1016, 600)) // the height of A4 within its margins: the page is turned
	media(v, "print", "light")
	if got := v.text(`document.documentElement.scrollWidth`); got != "1016" {
		t.Errorf("in print the page is %s pixels wide", got)
	}
	const sheet = `[getComputedStyle(document.querySelector("#t1").closest("section")).page, parseFloat(getComputedStyle(document.querySelector("#t1")).fontSize) * .75 >= 6.5].join()`
	if got := v.text(sheet); got != "wide,true" {
		t.Errorf("page, and letters of 6.5 points: %s", got)
	}
	if got := v.text(`[...document.querySelectorAll("#t1 th")].map((th) => th.textContent).join()`); strings.Contains(got, "empty") || !strings.HasSuffix(got, "device_memory_used,B/op,allocs/op,p99-ns,rows/op,vs base,runs × n,notes") {
		t.Error("columns:", got)
	}
}

// TestNarrowCells: at 360 pixels the last cell of a row keeps its words whole, so that rows stay low.
func TestNarrowCells(t *testing.T) {
	v := open(t, browser(t), file(t, written(t, small("a", "b"))))
	v.do(chromedp.EmulateViewport(360, 800))
	const height = `(() => { const td = [...document.querySelectorAll("td:last-child")].find((td) => td.offsetHeight); td.textContent = "inconclusive (too much noise)";
return td.offsetHeight <= 70 ? "low" : String(td.offsetHeight) })()`
	if got := v.text(height); got != "low" {
		t.Errorf("a cell of four words is %s pixels high", got)
	}
}

// TestLongNames: a name that is wider than its column is whole, in several lines.
func TestLongNames(t *testing.T) {
	const name = "module_with_a_long_name.sub.bench_with_a_suffix_"
	v := open(t, browser(t), file(t, written(t, small(name+"0", name+"1"))))
	const cut = `[...document.querySelectorAll("td:first-child")].filter((td) => td.scrollWidth > td.clientWidth).length`
	if got := v.text(cut); got != "0" || v.text(`document.querySelectorAll("td:first-child").length`) == "0" {
		t.Errorf("%s names are cut", got)
	}
}

// TestNarrowTiles: at 360 pixels a tile breaks no word in two.
func TestNarrowTiles(t *testing.T) {
	p := small("one")
	p.Tallies = []Tally{{"1", "pair inconclusive", ""}, {"2", "pairs unsupported", ""}, {"3", "runs", ""}}
	v := open(t, browser(t), file(t, written(t, p)))
	v.do(chromedp.EmulateViewport(360, 800))
	const broken = `[...document.querySelectorAll(".tallies li")].filter((li) => {
		const range = document.createRange(), text = li.lastChild, at = text.data.search(/\S+$/);
		range.setStart(text, at);
		range.setEnd(text, text.data.trimEnd().length);
		return range.getClientRects().length > 1;
	}).length`
	if got := v.text(broken); got != "0" {
		t.Errorf("the words of %s tiles are broken", got)
	}
}

// axe returns the script of axe-core, which npm gives.
func axe(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	needs(t, "npm", err)
	dir := t.TempDir()
	cmd := exec.Command(npm, "pack", "axe-core@4.14.1", "--silent")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		needs(t, "axe-core", fmt.Errorf("npm pack: %w: %s", err, text))
	}
	text, err := exec.Command("tar", "-xzOf", filepath.Join(dir, "axe-core-4.14.1.tgz"), "package/axe.min.js").Output()
	ok(t, err)
	return string(text)
}

// TestAccessible: axe-core finds nothing to complain about, in light, in dark and in a narrow window, of a page that has everything, of one
// over sessions, and of one about two selections. No page writes to the console or asks for anything.
func TestAccessible(t *testing.T) {
	ctx, text := browser(t), axe(t)
	nights := storedRuns(t, nightlyRuns(20, 3), nil)
	for name, page := range map[string]string{
		"everything": tried(t, 300), "sessions": writtenPage(t, nights),
		"two selections": writtenOf(t, nights, summary.Request{Base: "started_at<2026-10-15", Filter: "started_at>2026-10-25"}),
	} {
		address := file(t, page)
		for _, at := range []struct {
			theme string
			width int64
		}{{"light", 1280}, {"dark", 1280}, {"light", 360}} {
			v := open(t, ctx, address+"#?theme="+at.theme)
			v.do(chromedp.EmulateViewport(at.width, 900))
			v.all()
			v.quiet()
			if _, err := chromedp.Run(v.ctx, chromedp.Evaluate[any](text+";0")); err != nil {
				t.Fatal(err)
			}
			v.text(`axe.run().then((r) => { window.found = r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.any.map((a) => a.message).join("; ")).join(" | ")).join("\n"); }), 0`)
			v.until("window.found !== undefined")
			if found := v.text("window.found"); found != "" {
				t.Errorf("%s, %s, %d wide:\n%s", name, at.theme, at.width, found)
			}
		}
	}
}

// rows returns a page with a table of so many rows, as a report of so many points has it.
func rows(n int) *Page {
	p := small("matmul", "softmax")
	p.Sections[1].Title = "All points" // as that of the table
	t := p.Sections[1].Tables[0]
	t.Columns = slices.Insert(t.Columns, 1, Column{Header: "bs", Right: true}, Column{Header: "precision"}, Column{Header: "p99", Unit: "ns", Right: true, Stored: true}, Column{Header: "spread", Unit: "ratio", Right: true, Stored: true})
	t.Rows = nil
	for i := range n {
		value := strconv.FormatFloat(float64(i*7919%100_003)+.5, 'g', -1, 64)
		t.Rows = append(t.Rows, Row{fmt.Sprintf("%016x%016x", uint64(i+1)*0x9e3779b97f4a7c15, i), []Cell{
			{Text: "resnet50"},
			{Text: strconv.Itoa(1 << (i % 8))},
			{Text: []string{"fp32", "fp16"}[i%2]},
			{Text: value + " ns", Stored: value},
			{Text: "1.2 %", Stored: "0.012"},
			{Text: value + " ns", Stored: value},
			{Text: "1.5x regressed", Stored: value, Tone: chart.Regressed},
			{Text: ""},
		}})
	}
	return p
}

// BenchmarkFirstPaint: how long a page takes from its address to its first paint: an empty one, and one of 5,000 points. The metric
// ratio is that of the medians; 3 is what it may be.
func BenchmarkFirstPaint(b *testing.B) {
	ctx := browser(b)
	const paints = 9
	empty, full := file(b, written(b, &Page{Title: "empty", Made: "now"})), file(b, tried(b, 5000))
	for b.Loop() {
		first := func(address string) float64 {
			var all []float64
			for range paints {
				v := open(b, ctx, address)
				v.until(`performance.getEntriesByName("first-contentful-paint").length > 0`)
				ms, err := strconv.ParseFloat(v.text(`performance.getEntriesByName("first-contentful-paint")[0].startTime`), 64)
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, ms)
			}
			slices.Sort(all)
			return all[len(all)/2]
		}
		nothing, much := first(empty), first(full)
		b.ReportMetric(nothing, "ms/empty")
		b.ReportMetric(much, "ms/5000")
		b.ReportMetric(much/nothing, "ratio")
	}
}

// BenchmarkInteraction: how long sorting and filtering of 5,000 rows takes, with the layout after it.
func BenchmarkInteraction(b *testing.B) {
	v := open(b, browser(b), file(b, written(b, rows(5000))))
	v.text(`document.querySelector("#points").scrollIntoView()`)
	took := func(act string) float64 {
		ms, err := strconv.ParseFloat(v.text(`(() => { const from = performance.now(); `+act+`; document.body.offsetHeight; return performance.now() - from; })()`), 64)
		if err != nil {
			b.Fatal(err)
		}
		return ms
	}
	for b.Loop() {
		b.ReportMetric(took(`document.querySelector("#t1 th:nth-child(4) button").click()`), "ms/sort")
		b.ReportMetric(took(`document.querySelector("#t1 th:nth-child(4) button").click()`), "ms/sort-again")
		b.ReportMetric(took(`(() => { const find = document.querySelector("#points input"); find.value = "fp16 99"; find.dispatchEvent(new Event("input")); })()`), "ms/filter")
	}
}
