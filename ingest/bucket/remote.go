package bucket

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// Answers of the server that callers expect.
var (
	errMissing = errors.New("there is no such object")
	errTaken   = errors.New("the object exists already") // the answer to If-None-Match
)

// maxObject is the size, in bytes, that one request may put.
const maxObject = 5 << 30

// idleTime is how long nothing may arrive or leave in a connection before it is cut, and the request repeated. Half of it later the user
// hears of it.
const idleTime = time.Minute

// roleTime is how long a machine may take to give the credentials of its role. Most machines have none.
const roleTime = 5 * time.Second

// Limits of the repetitions of a request. Nothing else repeats one: not the client of S3, and not that of HTTP.
const (
	attempts  = 10            // with pauses, in about 6 s
	silences  = 2             // of idleTime
	wakefully = 3 * time.Hour // a machine that slept longer does not repeat a request of before
)

// remote sends requests about a prefix of a bucket. Keys are relative to the prefix.
type remote struct {
	location  location
	s3        client
	endpoint  *url.URL
	idle      time.Duration // idleTime, except in tests
	active    atomic.Int64  // when a byte arrived or left, in Unix nanoseconds
	quiet     func(server string)
	said      sync.Once // by quiet
	anonymous func() bool
	requests  atomic.Int64
	clock     atomic.Int64 // the server's time of its last answer, in Unix seconds; 0: it says none
}

// client has the operations of minio.Core that are used. The linker would keep all others if a value that reaches an interface, as
// arguments of fmt do, had a field of that type.
type client struct {
	putObject    func(ctx context.Context, bucket, key string, body io.Reader, size int64, md5, sha256 string, o minio.PutObjectOptions) (minio.UploadInfo, error)
	getObject    func(ctx context.Context, bucket, key string, o minio.GetObjectOptions) (io.ReadCloser, minio.ObjectInfo, http.Header, error)
	listObjects  func(ctx context.Context, bucket string, o minio.ListObjectsOptions) iter.Seq[minio.ObjectInfo]
	removeObject func(ctx context.Context, bucket, key string, o minio.RemoveObjectOptions) error
}

// newRemote makes a client of the server that the variables or the profile name.
func newRemote(at location, getenv func(string) string, quiet func(server string)) (*remote, error) {
	profile, err := readProfile(getenv)
	if err != nil {
		return nil, err
	}
	endpoint, err := parseEndpoint(getenv, profile)
	if err != nil {
		return nil, err
	}
	r := &remote{location: at, endpoint: endpoint, idle: idleTime, quiet: quiet}
	region := cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), profile.keys["region"])
	if region == "" && endpoint.String() != amazon { // which would be asked for it
		region = "us-east-1"
	}
	who := credentials.New(&identity{getenv: getenv, profile: profile})
	core, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds: who, Secure: endpoint.Scheme == "https", Region: region, Transport: r.newTransport(), MaxRetries: 1,
	})
	if err != nil {
		return nil, err
	}
	r.s3 = client{core.PutObject, core.GetObject, core.ListObjectsIter, core.RemoveObject}
	r.anonymous = func() bool {
		v, err := who.GetWithContext(core.CredContext())
		return err == nil && v.AccessKeyID == ""
	}
	return r, nil
}

// transport counts requests, and keeps the time that answers have.
type transport struct {
	http   *http.Transport
	remote *remote
}

// RoundTrip sends a request once.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.remote.requests.Add(1)
	if request.Body == nil { // net/http would repeat it in silence, if a connection had been used before
		request = request.Clone(request.Context())
		request.Body = io.NopCloser(strings.NewReader(""))
	}
	answer, err := t.http.RoundTrip(request)
	if err == nil {
		if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			t.remote.clock.Store(at.Unix())
		}
	}
	return answer, err
}

// ahead returns how much the clock of this machine is ahead of that of the server.
func (r *remote) ahead() time.Duration {
	at := r.clock.Load()
	if at == 0 {
		return 0
	}
	return max(time.Since(time.Unix(at, 0)), 0)
}

// newTransport returns a transport that leaves bodies as they are, and cuts connections in which nothing happens.
func (r *remote) newTransport() transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return transport{remote: r, http: &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return watched{conn, r}, nil
		},
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: parallel,
		IdleConnTimeout:     idleTime / 2,
		DisableCompression:  true,
	}}
}

// watched is a connection that fails when nothing happens in it. Writing moves the deadline of a pending Read too.
type watched struct {
	net.Conn
	*remote
}

func (w watched) Read(b []byte) (int, error)  { return w.within(w.Conn.Read, b) }
func (w watched) Write(b []byte) (int, error) { return w.within(w.Conn.Write, b) }

func (w watched) within(do func([]byte) (int, error), b []byte) (int, error) {
	_ = w.SetDeadline(time.Now().Add(w.idle))
	n, err := do(b)
	if n > 0 {
		w.active.Store(time.Now().UnixNano())
	}
	return n, err
}

// put puts an object, and returns its ETag. onlyNew asks the server to refuse if the key exists; the error is then errTaken.
func (r *remote) put(ctx context.Context, key string, body io.ReaderAt, size int64, sum string, onlyNew bool) (etag string, err error) {
	if size > maxObject {
		return "", fmt.Errorf("putting %s: it has %d bytes, and one request puts at most %d", r.url(key), size, int64(maxObject))
	}
	// The client hashes no chunks, because the server compares the whole body with sum.
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableContentSha256: true}
	if onlyNew {
		o.SetMatchETagExcept("*")
	}
	err = r.again(ctx, func() error {
		// The client would repeat with the same reader, from which a connection that failed may still read.
		once := struct{ io.Reader }{io.NewSectionReader(body, 0, size)}
		info, err := r.s3.putObject(ctx, r.location.bucket, r.location.prefix+key, once, size, "", sum, o)
		etag = info.ETag
		return err
	})
	if answer, answered := errors.AsType[minio.ErrorResponse](err); answered && onlyNew && answer.StatusCode == http.StatusNotImplemented {
		return "", fmt.Errorf("putting %s: %s does not know If-None-Match. %s", r.url(key), r.endpoint, whyOnlyNew)
	}
	return etag, r.failed(ctx, "putting", key, err)
}

// whyOnlyNew says what is wrong with a bucket without If-None-Match.
const whyOnlyNew = "Two writers could overwrite each other's pushes; use another object store"

// again sends a request, and repeats it while its error may pass.
func (r *remote) again(ctx context.Context, request func() error) error {
	ended := r.watch(ctx)
	defer ended()
	begun := time.Now().Round(0) // by the clock on the wall, which goes on while a machine sleeps
	silent := 0
	for attempt := 1; ; attempt++ {
		err := request()
		if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() {
			silent++
		}
		if err == nil || !passing(err) || attempt == attempts || silent == silences || time.Since(begun) > wakefully || pause(ctx, attempt) != nil {
			return err
		}
	}
}

// watch calls quiet, once, if nothing arrives or leaves for half of the time after which a connection is cut, until ended is called.
func (r *remote) watch(ctx context.Context) (ended func()) {
	ctx, end := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for quiet := time.Duration(0); quiet < r.idle/2; quiet = time.Since(time.Unix(0, r.active.Load())) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(r.idle/2 - quiet):
			}
		}
		if r.quiet != nil {
			r.said.Do(func() { r.quiet(r.endpoint.String()) })
		}
	})
	return func() {
		end()
		watching.Wait()
	}
}

// passing reports whether a request that failed may succeed when it is repeated.
func passing(err error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if untrusted || errors.Is(err, http.ErrSchemeMismatch) || errors.Is(err, errCredentials) {
		return false
	}
	answer, answered := errors.AsType[minio.ErrorResponse](err)
	if !answered {
		return true
	}
	switch answer.Code {
	case "AuthorizationHeaderMalformed", minio.InvalidRegion: // the client has learned the region of the bucket from it
		return answer.Region != ""
	}
	switch answer.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusConflict: // who is first is not decided yet
		return true
	case http.StatusNotImplemented:
		return false
	}
	return answer.StatusCode >= http.StatusInternalServerError
}

// get reads a small object of at most limit bytes, and its ETag.
func (r *remote) get(ctx context.Context, key string, limit int64) (content []byte, etag string, err error) {
	etag, err = r.read(ctx, key, func(body io.Reader) (err error) {
		content, err = io.ReadAll(io.LimitReader(body, limit+1))
		return err
	})
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%w: it has more than %d bytes", ErrDamaged, limit)
	}
	return content, etag, err
}

// fetch reads an object into a new file, and compares it with its size and SHA-256. If they differ, the error wraps
// ErrDamaged.
func (r *remote) fetch(ctx context.Context, o Object, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	var size int64
	read := func() error {
		_, err := r.read(ctx, o.Key, func(body io.Reader) error {
			hash.Reset()
			_, err := file.Seek(0, io.SeekStart)
			if err == nil {
				err = file.Truncate(0)
			}
			if err == nil {
				size, err = io.Copy(io.MultiWriter(file, hash), io.LimitReader(body, o.Bytes+1))
			}
			return err
		})
		if errors.Is(err, errMissing) {
			return fmt.Errorf("%w: %s is missing", ErrDamaged, o.Key)
		}
		if err == nil {
			err = o.check(size, hex.EncodeToString(hash.Sum(nil)))
		}
		return err
	}
	if err = read(); errors.Is(err, ErrDamaged) { // perhaps only on its way
		err = read()
	}
	return errors.Join(err, file.Close())
}

// read calls do with the body of an object, again if the body is cut off. An error of do ends it. It returns the ETag.
func (r *remote) read(ctx context.Context, key string, do func(io.Reader) error) (etag string, err error) {
	var failed error
	err = r.again(ctx, func() error {
		body, info, _, err := r.s3.getObject(ctx, r.location.bucket, r.location.prefix+key, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		etag = info.ETag
		counted := &countedReader{Reader: body}
		failed = do(counted)
		_ = body.Close()
		if failed == nil && counted.ended && info.Size >= 0 && counted.n < info.Size {
			counted.cut = io.ErrUnexpectedEOF
		}
		return counted.cut
	})
	if err != nil {
		return "", r.failed(ctx, "reading", key, err)
	}
	return etag, failed
}

// countedReader counts bytes and keeps the error of the connection.
type countedReader struct {
	io.Reader
	n     int64
	ended bool
	cut   error
}

func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	if errors.Is(err, io.EOF) {
		c.ended = true
	} else if err != nil {
		c.cut = err
	}
	return n, err
}

// pause waits after an attempt: 10 ms, and four times as long after each further one, up to 1 s.
func pause(ctx context.Context, attempt int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(10*time.Millisecond<<(2*attempt-2), time.Second)):
		return nil
	}
}

// listed is an object, or with folders a common beginning of keys, which ends with a slash.
type listed struct {
	key      string
	bytes    int64
	modified time.Time // by the server's clock
	etag     string
}

// maxListed limits a listing, so that a server that never ends one is noticed.
const maxListed = 50_000_000

// list calls each for the objects whose keys begin with prefix and come after a key, in ascending order.
func (r *remote) list(ctx context.Context, prefix, after string, folders bool, each func(listed) error) error {
	n := 0
	var failed error
	err := r.again(ctx, func() error {
		no := false
		o := minio.ListObjectsOptions{Prefix: r.location.prefix + prefix, Recursive: !folders, FetchOwner: &no}
		if after != "" {
			o.StartAfter = r.location.prefix + after
		}
		for info := range r.s3.listObjects(ctx, r.location.bucket, o) {
			if info.Err != nil {
				return info.Err
			}
			key, ok := strings.CutPrefix(info.Key, r.location.prefix)
			if n++; n > maxListed || !ok || !strings.HasPrefix(key, prefix) {
				failed = fmt.Errorf("listing %s: the answer of %s makes no sense", r.url(prefix), r.endpoint)
				return nil
			}
			if after != "" && key <= after { // some servers ignore it
				continue
			}
			if failed = each(listed{key, info.Size, info.LastModified, info.ETag}); failed != nil {
				return nil
			}
			if !folders {
				after = key // if the rest is cut off
			}
		}
		return nil
	})
	if err != nil {
		return r.failed(ctx, "listing", prefix, err)
	}
	return cmp.Or(failed, ctx.Err())
}

// remove deletes an object.
func (r *remote) remove(ctx context.Context, key string) error {
	err := r.again(ctx, func() error {
		return r.s3.removeObject(ctx, r.location.bucket, r.location.prefix+key, minio.RemoveObjectOptions{})
	})
	return r.failed(ctx, "removing", key, err)
}

// url names an object.
func (r *remote) url(key string) string {
	return scheme + r.location.bucket + "/" + r.location.prefix + key
}

// wordOfServer is what an error code of S3 looks like. Other text of a server is not repeated: it may be anything.
var wordOfServer = lazyregexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)

// failed turns an error of a request into one that says what to do. It names no credentials.
func (r *remote) failed(ctx context.Context, doing, key string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	answer, answered := errors.AsType[minio.ErrorResponse](err)
	switch {
	case errors.Is(err, errCredentials):
		return err
	case !answered:
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return fmt.Errorf("%s %s: no answer from %s: %w", doing, r.url(key), r.endpoint, err)
	case answer.Code == minio.NoSuchKey:
		return errMissing
	case answer.Code == minio.PreconditionFailed || answer.StatusCode == http.StatusPreconditionFailed:
		return errTaken
	case answer.Code == minio.NoSuchBucket:
		return fmt.Errorf("there is no bucket %s at %s", r.location.bucket, r.endpoint)
	}
	said := fmt.Sprintf("status %d", answer.StatusCode)
	if wordOfServer.MatchString(answer.Code) {
		said = answer.Code
	}
	switch answer.Code {
	case "RequestTimeTooSkewed":
		return fmt.Errorf("%s %s: the clock of this machine differs too much from that of %s (%s)", doing, r.url(key), r.endpoint, said)
	case "AuthorizationHeaderMalformed", minio.InvalidRegion:
		return fmt.Errorf("%s %s: %s wants another region (%s); set AWS_REGION", doing, r.url(key), r.endpoint, said)
	}
	switch answer.StatusCode {
	case http.StatusForbidden, http.StatusUnauthorized:
		if answer.Code == minio.AccessDenied && !r.anonymous() {
			return fmt.Errorf("%s %s: %s does not allow it with these credentials (%s)", doing, r.url(key), r.endpoint, said)
		}
		if r.anonymous() {
			return fmt.Errorf("%w, and %s wants some (%s); set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", errCredentials, r.endpoint, said)
		}
		return fmt.Errorf("%s %s: %s refuses the credentials (%s)", doing, r.url(key), r.endpoint, said)
	case 0:
		return fmt.Errorf("%s %s: no sensible answer from %s (%s)", doing, r.url(key), r.endpoint, said)
	}
	return fmt.Errorf("%s %s: %s answers %s", doing, r.url(key), r.endpoint, said)
}

// parallel is how many requests are under way at the same time.
const parallel = 8

// inParallel calls do for 0 to n-1, several at the same time, and returns the first error. After an error it begins no more.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	var mu sync.Mutex
	var failed error
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if failed == nil {
			failed = ctx.Err()
		}
		if failed != nil || next == n {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var working sync.WaitGroup
	for range min(parallel, n) {
		working.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := do(i); err != nil {
					mu.Lock()
					if failed == nil {
						failed = err
					}
					mu.Unlock()
				}
			}
		})
	}
	working.Wait()
	return failed
}
