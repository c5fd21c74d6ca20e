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
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// Answers of the server that callers expect.
var (
	errMissing = errors.New("there is no such object")
	errTaken   = errors.New("the object exists already")             // the answer to If-None-Match
	errBusy    = errors.New("the object is being written right now") // another answer to it: who is first is not decided yet
)

// maxObject is the size, in bytes, that one request may put.
const maxObject = 5 << 30

// idleTime is how long nothing may arrive or leave in a connection before it is cut, and the request repeated.
const idleTime = 60 * time.Second

// roleTime is how long a machine may take to give the credentials of its role. Most machines have none.
const roleTime = 5 * time.Second

// attempts is how often a request is sent. Other requests than those to put are also repeated by the client.
const attempts = 8

// remote sends requests about a prefix of a bucket. Keys are relative to the prefix.
type remote struct {
	location
	client
	endpoint  *url.URL
	anonymous func() bool
	requests  *atomic.Int64
	clock     *atomic.Int64 // the server's time of its last answer, in Unix seconds; 0: it says none
}

// client has the operations of minio.Core that are used. The linker would keep all others if a value that reaches an interface, as
// arguments of fmt do, had a field of that type.
type client struct {
	putObject    func(ctx context.Context, bucket, key string, body io.Reader, size int64, md5, sha256 string, o minio.PutObjectOptions) (minio.UploadInfo, error)
	getObject    func(ctx context.Context, bucket, key string, o minio.GetObjectOptions) (io.ReadCloser, minio.ObjectInfo, http.Header, error)
	listObjects  func(ctx context.Context, bucket string, o minio.ListObjectsOptions) iter.Seq[minio.ObjectInfo]
	removeObject func(ctx context.Context, bucket, key string, o minio.RemoveObjectOptions) error
}

// newRemote makes a client of the server that the variables name, with the credentials of the usual chain: variables, the profile in the
// credentials file, the role of the machine.
func newRemote(at location, getenv func(string) string) (*remote, error) {
	endpoint, err := parseEndpoint(getenv)
	if err != nil {
		return nil, err
	}
	r := &remote{location: at, endpoint: endpoint, requests: &atomic.Int64{}, clock: &atomic.Int64{}}
	region := getenv("AWS_REGION")
	if region == "" {
		region = getenv("AWS_DEFAULT_REGION")
	}
	if region == "" && endpoint.String() != amazon { // which would be asked for it
		region = "us-east-1"
	}
	chain := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: roleTime}},
	})
	core, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds: chain, Secure: endpoint.Scheme == "https", Region: region, Transport: counting{newTransport(), r.requests, r.clock},
	})
	if err != nil {
		return nil, err
	}
	r.client = client{core.PutObject, core.GetObject, core.ListObjectsIter, core.RemoveObject}
	r.anonymous = func() bool {
		v, err := chain.GetWithContext(core.CredContext())
		return err == nil && v.AccessKeyID == ""
	}
	return r, nil
}

// counting counts requests, and keeps the time that answers have.
type counting struct {
	http.RoundTripper
	n, clock *atomic.Int64
}

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	c.n.Add(1)
	answer, err := c.RoundTripper.RoundTrip(request)
	if err == nil {
		if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			c.clock.Store(at.Unix())
		}
	}
	return answer, err
}

// newTransport returns a transport that leaves bodies as they are, and cuts connections in which nothing happens.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return watched{conn}, nil
		},
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: parallel,
		IdleConnTimeout:     idleTime / 2,
		DisableCompression:  true,
	}
}

// watched is a connection that fails when nothing happens in it. Writing moves the deadline of a pending Read too.
type watched struct{ net.Conn }

func (w watched) Read(b []byte) (int, error) {
	_ = w.SetDeadline(time.Now().Add(idleTime))
	return w.Conn.Read(b)
}

func (w watched) Write(b []byte) (int, error) {
	_ = w.SetDeadline(time.Now().Add(idleTime))
	return w.Conn.Write(b)
}

// put puts an object, and returns its ETag. onlyNew asks the server to refuse if the key exists; the error is then errTaken or errBusy.
func (r *remote) put(ctx context.Context, key string, body io.ReaderAt, size int64, sum string, onlyNew bool) (etag string, err error) {
	if size > maxObject {
		return "", fmt.Errorf("putting %s: it has %d bytes, and one request puts at most %d", r.url(key), size, int64(maxObject))
	}
	// The client hashes no chunks, because the server compares the whole body with sum.
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableContentSha256: true}
	if onlyNew {
		o.SetMatchETagExcept("*")
	}
	err = again(ctx, passing, func() error {
		// The client would repeat with the same reader, from which a connection that failed may still read.
		once := struct{ io.Reader }{io.NewSectionReader(body, 0, size)}
		info, err := r.putObject(ctx, r.bucket, r.prefix+key, once, size, "", sum, o)
		etag = info.ETag
		return err
	})
	return etag, r.failed(ctx, "putting", key, err)
}

// again repeats a request while worth says that its error is worth it.
func again(ctx context.Context, worth func(error) bool, request func() error) error {
	for attempt := 1; ; attempt++ {
		err := request()
		if err == nil || !worth(err) || attempt == attempts || pause(ctx, attempt) != nil {
			return err
		}
	}
}

// cutOff reports whether an answer was cut off. Other requests that failed were repeated by the client.
func cutOff(err error) bool {
	_, answered := errors.AsType[minio.ErrorResponse](err)
	_, repeated := errors.AsType[*url.Error](err)
	return !answered && !repeated
}

// passing reports whether a request that failed may succeed when it is repeated.
func passing(err error) bool {
	answer, answered := errors.AsType[minio.ErrorResponse](err)
	switch status := answer.StatusCode; {
	case !answered, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return true
	default:
		return status >= http.StatusInternalServerError && status != http.StatusNotImplemented
	}
}

// get reads a small object of at most limit bytes, and its ETag.
func (r *remote) get(ctx context.Context, key string, limit int64) (content []byte, etag string, err error) {
	etag, err = r.read(ctx, key, func(body io.Reader) (err error) {
		content, err = io.ReadAll(io.LimitReader(body, limit+1))
		return err
	})
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%w: %s has more than %d bytes", ErrDamaged, r.url(key), limit)
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
			return fmt.Errorf("%w: %s is missing", ErrDamaged, r.url(o.Key))
		}
		if err == nil {
			err = o.check(r.url(o.Key), size, hex.EncodeToString(hash.Sum(nil)))
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
	err = again(ctx, cutOff, func() error {
		body, info, _, err := r.getObject(ctx, r.bucket, r.prefix+key, minio.GetObjectOptions{})
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

// pause waits longer after each attempt.
func pause(ctx context.Context, attempt int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(time.Duration(attempt*attempt)*50*time.Millisecond, time.Second)):
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
	err := again(ctx, cutOff, func() error {
		no := false
		o := minio.ListObjectsOptions{Prefix: r.prefix + prefix, Recursive: !folders, FetchOwner: &no}
		if after != "" {
			o.StartAfter = r.prefix + after
		}
		for info := range r.listObjects(ctx, r.bucket, o) {
			if info.Err != nil {
				return info.Err
			}
			key, ok := strings.CutPrefix(info.Key, r.prefix)
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
	return r.failed(ctx, "removing", key, r.removeObject(ctx, r.bucket, r.prefix+key, minio.RemoveObjectOptions{}))
}

// url names an object.
func (r *remote) url(key string) string { return scheme + r.bucket + "/" + r.prefix + key }

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
	case !answered:
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return fmt.Errorf("%s %s: no answer from %s: %w", doing, r.url(key), r.endpoint, err)
	case answer.Code == minio.NoSuchKey:
		return errMissing
	case answer.Code == minio.PreconditionFailed || answer.StatusCode == http.StatusPreconditionFailed:
		return errTaken
	case answer.Code == "ConditionalRequestConflict" || answer.StatusCode == http.StatusConflict:
		return errBusy
	case answer.Code == minio.NoSuchBucket:
		return fmt.Errorf("there is no bucket %s at %s", r.bucket, r.endpoint)
	}
	said := fmt.Sprintf("status %d", answer.StatusCode)
	if wordOfServer.MatchString(answer.Code) {
		said = answer.Code
	}
	switch answer.StatusCode {
	case http.StatusForbidden, http.StatusUnauthorized:
		if r.anonymous() {
			return fmt.Errorf("%s %s: there are no credentials, and %s wants some (%s); set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
				doing, r.url(key), r.endpoint, said)
		}
		return fmt.Errorf("%s %s: %s refuses the credentials (%s)", doing, r.url(key), r.endpoint, said)
	case 0:
		return fmt.Errorf("%s %s: no sensible answer from %s (%s)", doing, r.url(key), r.endpoint, said)
	}
	return fmt.Errorf("%s %s: %s answers %s", doing, r.url(key), r.endpoint, said)
}
