package bucket

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// profile is a named part of the files that the programs of AWS share: ~/.aws/config and ~/.aws/credentials.
type profile struct {
	name    string
	chosen  bool // by AWS_PROFILE
	found   bool
	process bool              // it has a credential_process
	keys    map[string]string // without values that are secret
}

// readProfile reads the profile that AWS_PROFILE names, or the profile default. Errors do not repeat lines of the files, which have secrets.
func readProfile(getenv func(string) string) (*profile, error) {
	p := &profile{name: getenv("AWS_PROFILE"), keys: map[string]string{}}
	if p.chosen = p.name != ""; !p.chosen {
		p.name = "default"
	}
	for _, f := range []struct{ variable, name, section string }{
		{"AWS_CONFIG_FILE", "config", "profile " + p.name},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", p.name},
	} {
		path := getenv(f.variable)
		if home, err := os.UserHomeDir(); path == "" && err == nil {
			path = filepath.Join(home, ".aws", f.name)
		}
		file, err := ini.Load(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read, or is not a file of profiles", path)
		}
		section, err := file.GetSection(f.section)
		if err != nil && p.name == "default" { // the only one without the word profile
			section, err = file.GetSection(p.name)
		}
		if err != nil {
			continue
		}
		p.found, p.process = true, p.process || section.HasKey("credential_process")
		for _, key := range []string{"region", "endpoint_url", "role_arn"} {
			if value := section.Key(key).String(); value != "" {
				p.keys[key] = value
			}
		}
	}
	return p, nil
}

// source names the profile in an error.
func (p *profile) source() string {
	if p.chosen {
		return fmt.Sprintf("profile %q (AWS_PROFILE)", p.name)
	}
	return fmt.Sprintf("profile %q", p.name)
}

// identity gives the credentials of the variables, of the profile, or of the role of the machine, and anonymous ones if there are none. A
// profile that is there, or that AWS_PROFILE names, and gives none is an error: it says what is wrong, and no other one is tried.
type identity struct {
	getenv  func(string) string
	profile *profile
	current credentials.Provider
}

// errCredentials is wrapped by errors about credentials that were meant to be used and are not there.
var errCredentials = errors.New("there are no credentials")

// Retrieve returns the credentials.
func (i *identity) Retrieve() (credentials.Value, error) { return i.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext returns the credentials.
func (i *identity) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	const id, secret = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"
	if (i.getenv(id) == "") != (i.getenv(secret) == "") {
		return credentials.Value{}, fmt.Errorf("%w: of %s and %s only one is set", errCredentials, id, secret)
	}
	file := &credentials.FileAWSCredentials{Profile: i.profile.name}
	for _, source := range []credentials.Provider{&credentials.EnvAWS{}, file, &credentials.IAM{Client: &http.Client{Timeout: roleTime}}} {
		value, err := source.RetrieveWithCredContext(c)
		if err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "" {
			i.current = source
			return value, nil
		}
		if source == credentials.Provider(file) {
			if err := i.profile.problem(err); err != nil {
				return credentials.Value{}, err
			}
		}
	}
	i.current = &credentials.Static{Value: credentials.Value{SignerType: credentials.SignatureAnonymous}}
	return i.current.RetrieveWithCredContext(c)
}

// problem says why a profile gives no credentials; err is what reading them gave. It is nil if nobody expects any of it.
func (p *profile) problem(err error) error {
	switch {
	case !p.found && p.chosen:
		return fmt.Errorf("%w: there is no %s in ~/.aws/credentials and ~/.aws/config", errCredentials, p.source())
	case !p.found:
		return nil
	case err != nil:
		line, _, _ := strings.Cut(err.Error(), "\n")
		if p.process {
			line = "its credential_process fails: " + line
		}
		return fmt.Errorf("%w: %s: %.200s", errCredentials, p.source(), line)
	case p.keys["role_arn"] != "":
		return fmt.Errorf(`%w: %s has a role_arn, which is not read; eval "$(aws configure export-credentials --format env)" makes variables of it`, errCredentials, p.source())
	case p.chosen:
		return fmt.Errorf("%w: %s has neither keys, nor a credential_process, nor SSO", errCredentials, p.source())
	}
	return nil
}

// IsExpired reports whether Retrieve must be called again.
func (i *identity) IsExpired() bool { return i.current == nil || i.current.IsExpired() }
