package bucket_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/neurolens/neurolens/ingest/bucket"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestMain(m *testing.M) {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, time.Millisecond // it also waits after the last attempt
	os.Exit(runtest.InMemory{M: m}.Run())
}

// server answers the requests of S3 that the package sends, from memory.
type server struct {
	mu       sync.Mutex
	objects  map[string]object
	requests []string // method and key, in order
	careless bool     // If-None-Match is ignored
	page     int      // keys of a listing
	before   func(n int, request *requested) fault
}

// requested is a request, and where its answer goes.
type requested struct {
	*http.Request
	answer http.ResponseWriter
}

type object struct {
	content  []byte
	modified time.Time
}

// fault is what goes wrong with a request.
type fault int

const (
	none      fault = iota
	refused         // 503, nothing was done
	cut             // the connection is cut, nothing was done
	answerCut       // the request is done, and the connection is cut
	twice           // the request is done twice, as after a repetition on the way
	late            // an answer 500 comes at once, and the request is done later
	half            // of the body of an answer, half arrives
	answered        // by the function that says so
)

var faults = []fault{refused, cut, answerCut, twice, late, half}

// newServer starts a server with an empty bucket, bench.
func newServer(t testing.TB) (*server, *bucket.Options) {
	t.Helper()
	s := &server{objects: map[string]object{}, page: 1000}
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	return s, options(t, at.URL)
}

// options returns the options for a server, with a cache of the test.
func options(t testing.TB, endpoint string) *bucket.Options {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Setenv("HOME", t.TempDir())
	return &bucket.Options{Program: "test", Cache: t.TempDir(), Getenv: func(name string) string {
		if name == "AWS_ENDPOINT_URL" {
			return endpoint
		}
		return os.Getenv(name)
	}}
}

// secret is the key of the tests.
const secret = "wJalrXUtnFEMI-NEVER-SHOWN"

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if sum := r.Header.Get("X-Amz-Content-Sha256"); r.Method == http.MethodPut && sum != hash(body) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/bench/"))
	before := s.before
	s.mu.Unlock()
	fails := none
	if before != nil {
		fails = before(n, &requested{r, w})
	}
	switch fails {
	case answered:
	case refused:
		w.WriteHeader(http.StatusServiceUnavailable)
	case cut:
		hangUp(w)
	case answerCut:
		s.answer(httptest.NewRecorder(), r, body)
		hangUp(w)
	case twice:
		s.answer(httptest.NewRecorder(), r, body)
		s.answer(w, r, body)
	case late:
		go func() {
			time.Sleep(5 * time.Millisecond)
			s.answer(httptest.NewRecorder(), r, body)
		}()
		w.WriteHeader(http.StatusInternalServerError)
	case half:
		whole := httptest.NewRecorder()
		s.answer(whole, r, body)
		maps.Copy(w.Header(), whole.Header())
		w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		hangUp(w)
	default:
		s.answer(w, r, body)
	}
}

// hangUp cuts the connection.
func hangUp(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok && w.Header().Get("Content-Length") != "" {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// etag is the ETag of an object.
func etag(content []byte) string { return `"` + hash(content)[:32] + `"` }

// answer does a request.
func (s *server) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if name != "bench" {
		fail(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	switch there, ok := s.objects[key]; {
	case r.Method == http.MethodGet && key == "":
		s.list(w, r)
	case r.Method == http.MethodGet && !ok:
		fail(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodGet:
		w.Header().Set("ETag", etag(there.content))
		w.Header().Set("Last-Modified", there.modified.UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(there.content)))
		_, _ = w.Write(there.content)
	case r.Method == http.MethodPut && ok && r.Header.Get("If-None-Match") == "*" && !s.careless:
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodPut:
		s.objects[key] = object{body, time.Now()}
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, secret)
}

// list answers ListObjectsV2.
func (s *server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	prefix, after := q.Get("prefix"), max(q.Get("start-after"), q.Get("continuation-token"))
	type entry struct {
		Key          string
		LastModified string
		Size         int
		ETag         string
	}
	type common struct{ Prefix string }
	var answer struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		Contents              []entry
		CommonPrefixes        []common
	}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok || key <= after {
			continue
		}
		if len(answer.Contents) == s.page {
			answer.IsTruncated, answer.NextContinuationToken = true, answer.Contents[s.page-1].Key
			break
		}
		if folder, _, inside := strings.Cut(rest, "/"); inside && q.Get("delimiter") == "/" {
			if p := (common{prefix + folder + "/"}); !slices.Contains(answer.CommonPrefixes, p) {
				answer.CommonPrefixes = append(answer.CommonPrefixes, p)
			}
			continue
		}
		o := s.objects[key]
		answer.Contents = append(answer.Contents, entry{key, o.modified.UTC().Format("2006-01-02T15:04:05.000Z"), len(o.content), etag(o.content)})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

// keys lists the keys that begin with a prefix.
func (s *server) keys(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.objects)), func(key string) bool { return !strings.HasPrefix(key, prefix) })
}

// sent counts the requests since the last call.
func (s *server) sent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.requests)
	s.requests = nil
	return n
}

// set changes what goes wrong.
func (s *server) set(before func(n int, r *requested) fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.requests = before, nil
}

// opened returns the bucket, as a new process sees it.
func opened(t testing.TB, o *bucket.Options) *bucket.Bucket {
	t.Helper()
	return valuetest.Must(bucket.Open("s3://bench/team", *o))
}
