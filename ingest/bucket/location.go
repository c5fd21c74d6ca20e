package bucket

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// ErrLocation is wrapped by errors about the address of a bucket, or about the variables that say where its server is.
var ErrLocation = errors.New("the address of the bucket is wrong")

// scheme begins the URL of a bucket.
const scheme = "s3://"

// maxPrefix is the maximum length of a prefix: S3 allows keys of 1024 bytes.
const maxPrefix = 512

// location is a prefix in a bucket.
type location struct {
	bucket string
	prefix string // empty, or ends with a slash
}

// String returns the URL.
func (l location) String() string { return strings.TrimSuffix(scheme+l.bucket+"/"+l.prefix, "/") }

// parseLocation parses s3://BUCKET or s3://BUCKET/PREFIX. The error does not repeat a text that may contain a password.
func parseLocation(text string) (location, error) {
	_, host, _ := strings.Cut(text, "://")
	host, _, _ = strings.Cut(host, "/")
	if strings.Contains(host, "@") {
		return location{}, errors.New("a URL with a user or a password is refused: every user of the machine can read it in the list of processes; " +
			"set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	text, _, asked := strings.Cut(text, "?") // what follows may be a signature
	rest, ok := strings.CutPrefix(text, scheme)
	if !ok {
		return location{}, fmt.Errorf("%.100q: want s3://BUCKET/PREFIX", withoutUser(text))
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	if err := s3utils.CheckValidBucketName(bucket); err != nil {
		return location{}, fmt.Errorf("%.100q: %q cannot be the name of a bucket", text, bucket)
	}
	if prefix = strings.TrimSuffix(prefix, "/"); prefix == "" && !asked {
		return location{bucket: bucket}, nil
	}
	wrong := asked || len(prefix) > maxPrefix || !utf8.ValidString(prefix) || strings.ContainsFunc(prefix, unicode.IsControl) || strings.ContainsAny(prefix, `?#\`)
	for part := range strings.SplitSeq(prefix, "/") {
		wrong = wrong || part == "" || part == "." || part == ".."
	}
	if wrong {
		return location{}, fmt.Errorf("%.100q: the prefix must be names separated by single slashes, of at most %d bytes in all, without ? # \\ and not . or .. alone", text, maxPrefix)
	}
	return location{bucket, prefix + "/"}, nil
}

// withoutUser removes what may be a user and a password from a text.
func withoutUser(text string) string {
	if at := strings.LastIndex(text, "@"); at >= 0 {
		return "..." + text[at:]
	}
	return text
}

// amazon is the endpoint of Amazon S3.
const amazon = "https://s3.amazonaws.com"

// parseEndpoint returns the server that the variables or the profile name.
func parseEndpoint(getenv func(string) string, p *profile) (*url.URL, error) {
	name, text := "", amazon
	if value := p.keys["endpoint_url"]; value != "" {
		name, text = "endpoint_url of "+p.source(), value
	}
	for _, v := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} { // the last one wins
		if value := getenv(v); value != "" {
			name, text = v, value
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("%s: want a URL such as http://localhost:9000", name)
	case u.User != nil:
		return nil, fmt.Errorf("%s: a URL with a user or a password is refused", name)
	}
	u.Path = ""
	return u, nil
}
