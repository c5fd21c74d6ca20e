//go:build linux

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
)

// entry is a comment or an issue of a stand-in.
type entry struct {
	id                  int
	author, title, body string
	closed              bool
}

// forge stands in for a service that keeps the comments of pull request 3 and the issues of a repository. An unknown call fails
// the test, and so does an edit of an entry that somebody else wrote.
type forge struct {
	t                *testing.T
	mu               sync.Mutex
	comments, issues []entry
	me               string // owner of the token
	readOnly         bool
	unreadable       bool // lists end with an error, and all else works
	limit            int  // characters of a text
	next             int  // id
	release          string
}

// refused is how a service refuses a call.
type refused struct {
	status int
	says   string
}

func (r refused) Error() string { return fmt.Sprintf("%s (HTTP %d)", r.says, r.status) }

// write adds an entry, or edits the one with an id.
func (f *forge) write(all *[]entry, id int, title, body string, closes bool) error {
	switch {
	case f.readOnly:
		return refused{http.StatusForbidden, "Resource not accessible by integration"}
	case !utf8.ValidString(body) || !utf8.ValidString(title):
		f.t.Errorf("a text is not UTF-8: %q", body)
	case utf8.RuneCountInString(body) > f.limit:
		return refused{http.StatusUnprocessableEntity, fmt.Sprintf("Validation Failed: body is too long (maximum is %d characters)", f.limit)}
	case utf8.RuneCountInString(title) > 255:
		return refused{http.StatusUnprocessableEntity, "title is too long"}
	}
	if id == 0 {
		f.next++
		*all = append(*all, entry{f.next, f.me, title, body, closes})
		return nil
	}
	i := slices.IndexFunc(*all, func(e entry) bool { return e.id == id })
	if i < 0 {
		return refused{http.StatusNotFound, "Not Found"}
	}
	e := &(*all)[i]
	if e.author != f.me {
		f.t.Errorf("it edits what %s wrote", e.author)
	}
	e.body, e.closed = cmp.Or(body, e.body), e.closed || closes
	return nil
}

// add has somebody write comments, each with a text.
func (f *forge) add(author string, n int, text string) {
	for range n {
		f.next++
		f.comments = append(f.comments, entry{id: f.next, author: author, body: text})
	}
}

// mine returns the texts of the entries that were written with the token and are open: comments always are.
func (f *forge) mine(all []entry) (bodies []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range all {
		if e.author == f.me && !e.closed {
			bodies = append(bodies, e.body)
		}
	}
	return bodies
}

// newForge returns a stand-in whose token belongs to somebody.
func newForge(t *testing.T, me string, limit int) *forge {
	return &forge{t: t, me: me, limit: limit, next: 1000}
}

// ghScript passes a call of gh on to the stand-in.
const ghScript = `#!/bin/sh
said=$(mktemp)
code=$(printf '%s\0' "$PWD" "${GH_TOKEN:-}" "${MARK:-}" "$@" | CURL -sS -o "$said" -w '%{http_code}' --data-binary @- "$GH_STAND_IN") || exit
if [ "$code" = 200 ]; then cat "$said"; else cat "$said" >&2; fi
rm -f "$said"
[ "$code" = 200 ]
`

// gitHub starts a stand-in for GitHub, and a program gh that calls it, for a ci: repository us/work, pull request 3.
func gitHub(t *testing.T, c *ci, me string) *forge {
	t.Helper()
	f := newForge(t, me, 65536)
	f.release = filepath.Join(c.state, "release")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		text, err := io.ReadAll(r.Body)
		args := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		if err != nil || len(args) < 5 {
			t.Errorf("gh is called with %q: %v", args, err)
			return
		}
		out, err := f.gh(ghCall{dir: args[0], mark: args[2], fields: map[string]string{}}, args[1], args[3:])
		if err != nil {
			http.Error(w, "gh: "+err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, out)
	}))
	t.Cleanup(server.Close)
	curl, err := exec.LookPath("curl")
	programtest.Needs(t, "curl", err)
	c.program(t, "gh", strings.Replace(ghScript, "CURL", curl, 1))
	c.env = append(c.env, "GH_STAND_IN="+server.URL, "GITHUB_REPOSITORY=us/work", "GITHUB_SERVER_URL=https://github.example", "GITHUB_WORKFLOW=speed", "GITHUB_JOB=bench")
	return f
}

// gitHubToken is the environment of the steps that have the token.
var gitHubToken = []string{"GH_TOKEN=ghs_secret", "PR_NUMBER=3"}

// ghCall is a call of gh api.
type ghCall struct {
	dir, mark, method, path, jq string
	fields                      map[string]string
	paginate, silent            bool
}

// gh answers a call.
func (f *forge) gh(c ghCall, token string, args []string) (string, error) {
	if token != "ghs_secret" {
		return "", errors.New("To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable")
	}
	switch {
	case args[0] == "release" && slices.Equal(args[1:6], []string{"download", "v0.1.0", "--repo", "neurolens/neurolens", "--pattern"}):
		if err := os.CopyFS(c.dir, os.DirFS(f.release)); err != nil {
			return "", fmt.Errorf("release not found: %w", err)
		}
		return "", nil
	case args[0] != "api":
		f.t.Errorf("gh %q is unknown here", args)
		return "", errors.New("unknown command")
	}
	for args = args[1:]; len(args) > 0; args = args[1:] {
		value := func() string {
			args = args[1:]
			return args[0]
		}
		switch word := args[0]; word {
		case "--paginate":
			c.paginate = true
		case "--silent":
			c.silent = true
		case "--method":
			c.method = value()
		case "--jq":
			c.jq = value()
		case "-f", "-F":
			name, text, _ := strings.Cut(value(), "=")
			if file, ok := strings.CutPrefix(text, "@"); ok && word == "-F" {
				read, err := os.ReadFile(filepath.Join(c.dir, file))
				if err != nil {
					return "", err
				}
				text = string(read)
			}
			c.fields[name] = text
		default:
			if strings.HasPrefix(word, "-") || c.path != "" {
				f.t.Errorf("gh api has no %s here", word)
			}
			c.path = word
		}
	}
	if c.path == "graphql" {
		return f.graphQL(c)
	}
	number := 0
	scan := func(format string) bool {
		_, err := fmt.Sscanf(c.method+" "+c.path+" .", format+" .", &number)
		return err == nil
	}
	var err error
	switch {
	case scan("POST repos/us/work/issues/%d/comments"):
		if number == 3 {
			err = f.write(&f.comments, 0, "", c.fields["body"], false)
		} else if !slices.ContainsFunc(f.issues, func(e entry) bool { return e.id == number }) {
			err = refused{http.StatusNotFound, "Not Found"}
		}
	case c.method == "POST" && c.path == "repos/us/work/issues":
		err = f.write(&f.issues, 0, c.fields["title"], c.fields["body"], false)
	case scan("PATCH repos/us/work/issues/%d"):
		err = f.write(&f.issues, number, "", c.fields["body"], c.fields["state"] == "closed")
	default:
		f.t.Errorf("%s %s is unknown here", c.method, c.path)
	}
	return "", err
}

var (
	graphVariable = regexp.MustCompile(`\$(\w+): (?:String|ID|Int)!?`)
	graphComments = regexp.MustCompile(`pullRequest\(number: (\d+)\) \{ comments\(first: 100, after: \$endCursor\) \{ nodes \{ id viewerDidAuthor body \} pageInfo \{ hasNextPage endCursor \} \} \}`)
	graphIssues   = regexp.MustCompile(`issues\(first: 100, after: \$endCursor, states: OPEN\) \{ nodes \{ number viewerDidAuthor body \} pageInfo \{ hasNextPage endCursor \} \}`)
)

// graphQL answers a query of GitHub's API.
func (f *forge) graphQL(c ghCall) (string, error) {
	query := c.fields["query"]
	declared := map[string]bool{}
	for _, m := range graphVariable.FindAllStringSubmatch(query, -1) {
		declared[m[1]] = true
		if strings.Count(query, "$"+m[1]) < 2 {
			return "", fmt.Errorf("variable $%s is declared but not used", m[1])
		}
	}
	for name := range c.fields {
		if name != "query" && !declared[name] {
			return "", fmt.Errorf("variable $%s is not declared", name)
		}
	}
	if strings.HasPrefix(query, "mutation") {
		if !strings.Contains(query, "updateIssueComment(input: {id: $id, body: $body})") {
			f.t.Errorf("unknown here: %s", query)
		}
		id, err := strconv.Atoi(strings.TrimPrefix(c.fields["id"], "IC_"))
		if err != nil {
			return "", fmt.Errorf("could not resolve to a node with the global id of '%s'", c.fields["id"])
		}
		return "", f.write(&f.comments, id, "", c.fields["body"], false)
	}
	if f.unreadable {
		return "", refused{http.StatusBadGateway, "Something went wrong"}
	}
	var nodes []map[string]any
	var wrap func(nodes any) any
	switch comments, issues := graphComments.FindStringSubmatch(query), graphIssues.MatchString(query); {
	case c.fields["owner"] != "us" || c.fields["name"] != "work" || !strings.Contains(query, "repository(owner: $owner, name: $name)"):
		f.t.Errorf("unknown here: %v", c.fields)
	case comments != nil && comments[1] == "3":
		for _, e := range f.comments {
			nodes = append(nodes, map[string]any{"id": fmt.Sprintf("IC_%d", e.id), "viewerDidAuthor": e.author == f.me, "body": e.body})
		}
		wrap = func(page any) any { return map[string]any{"pullRequest": map[string]any{"comments": page}} }
	case issues:
		for _, e := range f.issues {
			if !e.closed {
				nodes = append(nodes, map[string]any{"number": e.id, "viewerDidAuthor": e.author == f.me, "body": e.body})
			}
		}
		wrap = func(page any) any { return map[string]any{"issues": page} }
	default:
		f.t.Errorf("unknown here: %s", query)
		return "", errors.New("unknown query")
	}
	var out strings.Builder
	for begin := 0; ; begin += 100 {
		end := min(begin+100, len(nodes))
		page := map[string]any{"nodes": append([]map[string]any{}, nodes[begin:end]...), "pageInfo": map[string]any{"hasNextPage": end < len(nodes), "endCursor": "x"}}
		answer, err := json.Marshal(map[string]any{"data": map[string]any{"repository": wrap(page)}})
		if err != nil {
			return "", err
		}
		jq := exec.Command("jq", "-r", c.jq)
		jq.Env, jq.Stdin, jq.Stderr = append(os.Environ(), "MARK="+c.mark), bytes.NewReader(answer), &out
		text, err := jq.Output()
		out.Write(text)
		if err != nil || end == len(nodes) || !c.paginate {
			return out.String(), err
		}
	}
}

// gitLab starts a stand-in for the API of GitLab for a ci: project 7, merge request 3. The arguments of curl are in curl.args of the state.
func gitLab(t *testing.T, c *ci, me string) *forge {
	t.Helper()
	f := newForge(t, me, 1_000_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.Header.Get("Private-Token") != "glpat_secret" {
			http.Error(w, "401 Unauthorized", http.StatusUnauthorized)
			return
		}
		items, err := f.gitLabCall(r)
		if refusal, ok := errors.AsType[refused](err); ok {
			http.Error(w, refusal.says, refusal.status)
			return
		}
		_ = json.NewEncoder(w).Encode(items)
	}))
	t.Cleanup(server.Close)
	curl, err := exec.LookPath("curl")
	programtest.Needs(t, "curl", err)
	c.program(t, "curl", "#!/bin/sh\necho \"$*\" >>\"$STATE/curl.args\"\nexec "+curl+" \"$@\"\n")
	c.env = append(c.env, "CI_API_V4_URL="+server.URL+"/api/v4", "CI_PROJECT_ID=7", "CI_JOB_NAME=neurolens: [all, all]", "CI_JOB_ID=55")
	return f
}

// gitLabToken is the environment of a merge request whose job has a token.
var gitLabToken = []string{"NEUROLENS_TOKEN=glpat_secret", "CI_MERGE_REQUEST_IID=3"}

// gitLabCall answers a call of the API.
func (f *forge) gitLabCall(r *http.Request) (any, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	if f.unreadable && r.Method == http.MethodGet {
		return nil, refused{http.StatusBadGateway, "Something went wrong"}
	}
	id := 0
	scan := func(format string) bool {
		_, err := fmt.Sscanf(r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v4/")+" .", format+" .", &id)
		return err == nil
	}
	author := func(e entry) any { return map[string]any{"id": len(e.author), "username": e.author} }
	page := func(all []any) []any {
		size, _ := strconv.Atoi(r.Form.Get("per_page"))
		n, _ := strconv.Atoi(r.Form.Get("page"))
		if size != 100 || n < 1 {
			f.t.Errorf("page %d of %d items is asked for", n, size)
		}
		return append([]any{}, all[min((n-1)*size, len(all)):min(n*size, len(all))]...)
	}
	call := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v4/")
	switch {
	case call == "GET user":
		return map[string]any{"id": len(f.me), "username": f.me}, nil
	case call == "GET projects/7/merge_requests/3/notes" && r.Form.Get("sort") == "asc":
		var all []any
		for _, e := range f.comments {
			all = append(all, map[string]any{"id": e.id, "author": author(e), "body": e.body, "system": e.author == "system"})
		}
		return page(all), nil
	case call == "POST projects/7/merge_requests/3/notes":
		return nil, f.write(&f.comments, 0, "", r.PostForm.Get("body"), false)
	case scan("PUT projects/7/merge_requests/3/notes/%d"):
		return nil, f.write(&f.comments, id, "", r.PostForm.Get("body"), false)
	case call == "GET projects/7/issues" && r.Form.Get("state") == "opened" && r.Form.Get("scope") == "created_by_me" && r.Form.Get("labels") == "neurolens":
		var all []any
		for _, e := range f.issues {
			if e.author == f.me && !e.closed {
				all = append(all, map[string]any{"iid": e.id, "author": author(e), "description": e.body})
			}
		}
		return page(all), nil
	case call == "POST projects/7/issues" && r.PostForm.Get("labels") == "neurolens":
		return nil, f.write(&f.issues, 0, r.PostForm.Get("title"), r.PostForm.Get("description"), false)
	case scan("PUT projects/7/issues/%d"):
		return nil, f.write(&f.issues, id, "", r.PostForm.Get("description"), r.PostForm.Get("state_event") == "close")
	}
	f.t.Errorf("%s?%s is unknown here", call, r.URL.RawQuery)
	return nil, refused{http.StatusNotFound, "404 Not Found"}
}
