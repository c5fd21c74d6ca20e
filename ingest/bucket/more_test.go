package bucket_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/bucket"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// verify returns what Verify counts and finds.
func verify(t testing.TB, o *bucket.Options, full bool) (bucket.Verified, []check.Finding) {
	t.Helper()
	var found []check.Finding
	done := valuetest.Must(opened(t, o).Verify(t.Context(), full, func(f check.Finding) { found = append(found, f) }))
	return done, found
}

// TestVerify: the objects of manifests are there, with their sizes and hashes; each acknowledged run counts once.
func TestVerify(t *testing.T) {
	server, o := newServer(t)
	server.page = 3 // keys of a listing
	dir := annotated(t)
	valuetest.Must(push(t, o, dir))
	add(t, dir, few(3)...)
	valuetest.Must(push(t, o, dir))
	server.objects["team/writer=x/leftover"] = object{}
	done, found := verify(t, o, true)
	valuetest.Equal(t, len(found), 0)
	done.Bytes = 0
	valuetest.Equal(t, done, bucket.Verified{Pushes: 2, Runs: 8, Events: 2, Objects: 7, Leftovers: 1})

	whole := maps.Clone(server.objects)
	for _, key := range slices.Sorted(maps.Keys(whole)) {
		if !strings.HasPrefix(key, "team/writer=") && !strings.HasPrefix(key, "team/pushes/") || strings.HasSuffix(key, "leftover") {
			continue
		}
		for _, damage := range []struct {
			full bool
			do   func()
		}{
			{false, func() { delete(server.objects, key) }},
			{false, func() { server.objects[key] = object{content: whole[key].content[1:]} }},
			{true, func() {
				content := slices.Clone(whole[key].content)
				content[len(content)/2] ^= 1
				server.objects[key] = object{content: content}
			}},
		} {
			server.objects = maps.Clone(whole)
			damage.do()
			_, found := verify(t, o, damage.full)
			said := slices.ContainsFunc(found, func(f check.Finding) bool { return "team/"+f.Path == key && f.Severity == check.SeverityDamage })
			last := strings.HasSuffix(key, "000000000002.json") && server.objects[key].content == nil // nobody can know that it was there
			if !said && !last {
				t.Errorf("%s was damaged, and verify found %v", key, found)
			}
		}
	}
}

// TestDamagedPush: nothing is merged of a push with a damaged object or manifest, and the others are.
func TestDamagedPush(t *testing.T) {
	server, o := newServer(t)
	first, second := annotated(t), newStore(t, few(2)...)
	valuetest.Must(push(t, o, first))
	valuetest.Must(push(t, o, second))
	whole := maps.Clone(server.objects)
	for _, key := range slices.Sorted(maps.Keys(whole)) {
		if key == "team/neurolens-bucket.json" {
			continue
		}
		server.objects = maps.Clone(whole)
		content := slices.Clone(whole[key].content)
		content[len(content)/2] ^= 1
		server.objects[key] = object{content: content}
		into := newStore(t)
		var refused []ingest.LeftOut
		var done bucket.Pulled
		with(t, into, func(s *ingest.Store) {
			done = valuetest.Must(opened(t, uncached(t, o)).Pull(t.Context(), into, s, bucket.Pulling{Refused: func(f ingest.LeftOut) { refused = append(refused, f) }}))
		})
		valuetest.Equal(t, len(refused), 1, key)
		valuetest.Equal(t, done.Refused, 1, key)
		storetest.Whole(t, into)
		if n := len(storetest.States(t, into)); n != 2 && n != 5 {
			t.Errorf("%s is damaged, and the pull gave %d runs", key, n)
		}
		server.objects = maps.Clone(whole)
		valuetest.Must(pull(t, uncached(t, o), into))
		valuetest.Equal(t, len(storetest.States(t, into)), 7, key)
	}
}

// TestLeftovers: objects that no manifest names are removed after seven days, and nothing else.
func TestLeftovers(t *testing.T) {
	server, o := newServer(t)
	dir := annotated(t)
	valuetest.Must(push(t, o, dir))
	want := server.keys("")
	now := time.Now()
	stop, end := context.WithCancel(t.Context())
	server.set(func(_ int, r *requested) fault {
		if strings.HasPrefix(r.URL.Path, "/bench/team/pushes/") && r.Method == "PUT" {
			end()
			return cut
		}
		return none
	})
	add(t, dir, few(1)...)
	with(t, dir, func(s *ingest.Store) { _, _ = opened(t, o).Push(stop, dir, s) })
	server.set(nil)
	server.objects["team/foreign"] = object{modified: now.Add(-365 * 24 * time.Hour)}
	if len(server.keys("team/writer=")) <= 5 {
		t.Fatal("the push left nothing")
	}
	for _, days := range []int{6, 8} {
		for key, there := range server.objects {
			server.objects[key] = object{there.content, now.Add(-time.Duration(days) * 24 * time.Hour)}
		}
		valuetest.Equal(t, valuetest.Must(opened(t, o).RemoveLeftovers(t.Context())), 2*(days/7), days)
	}
	valuetest.DeepEqual(t, slices.DeleteFunc(server.keys(""), func(key string) bool { return key == "team/foreign" }), want)
}

// TestChosen: a pull of some runs copies them with all that they have, and a pull after it the rest.
func TestChosen(t *testing.T) {
	_, o := newServer(t)
	one, two := annotated(t), newStore(t, few(2)...)
	valuetest.Must(push(t, o, one))
	valuetest.Must(push(t, o, two))
	wanted := slices.Collect(maps.Keys(storetest.States(t, one)))[:1]
	into := newStore(t)
	o = uncached(t, o)
	choose := func(_ context.Context, dir string) ([]string, error) {
		valuetest.Equal(t, len(valuetest.Must(schema.ListZone(schema.Dir(dir), schema.RunsDir))), 2)
		valuetest.Equal(t, len(valuetest.Must(schema.ListZone(schema.Dir(dir), schema.SamplesDir))), 0)
		return wanted, nil
	}
	var done bucket.Pulled
	with(t, into, func(s *ingest.Store) {
		done = valuetest.Must(opened(t, o).Pull(t.Context(), into, s, bucket.Pulling{Choose: choose, Refused: func(f ingest.LeftOut) { t.Errorf("refused: %+v", f) }}))
	})
	valuetest.Equal(t, done.Added, 1)
	got := storetest.States(t, into)
	valuetest.Equal(t, len(got), 1)
	valuetest.Equal(t, got[wanted[0]], storetest.States(t, one)[wanted[0]])
	storetest.Whole(t, into)
	again := pullSome(t, o, into, wanted...)
	valuetest.Equal(t, fmt.Sprint(again.Added, again.Objects, again.Bytes), "0 0 0", "what was read to choose from is not read again")
	kept := valuetest.Must(filepath.Glob(filepath.Join(o.Cache, "*", "*.runs")))
	valuetest.Equal(t, len(kept), 2)
	for _, name := range kept {
		valuetest.OK(t, os.Remove(name))
		valuetest.OK(t, os.WriteFile(name, []byte("damaged"), 0o600))
	}
	valuetest.Equal(t, pullSome(t, o, into, wanted...).Objects, 2, "what is damaged in the cache is read again")
	valuetest.Equal(t, pullSome(t, o, into, wanted...).Objects, 0)
	valuetest.Equal(t, valuetest.Must(push(t, o, into)).Runs, 0, "what was pulled is not pushed")
	valuetest.Must(pull(t, o, into))
	valuetest.Equal(t, len(storetest.States(t, into)), 7)
	storetest.Whole(t, into)
}

// TestCompacted: a first pull reads the compacted store and the pushes after it; stores that have the pushes read nothing of it.
func TestCompacted(t *testing.T) {
	server, o := newServer(t)
	dir := annotated(t)
	valuetest.Must(push(t, o, dir))
	for range 9 {
		add(t, dir, few(1)...)
		valuetest.Must(push(t, o, dir))
	}
	old := newStore(t)
	oldOptions := uncached(t, o)
	valuetest.Must(pull(t, oldOptions, old))
	with(t, dir, func(s *ingest.Store) {
		_, key, err := opened(t, o).PushCompacted(t.Context(), dir, s)
		valuetest.OK(t, err)
		valuetest.Contains(t, key, "compacted/000000000010-")
		done, again, err := opened(t, o).PushCompacted(t.Context(), dir, s)
		valuetest.OK(t, err)
		valuetest.Equal(t, again, key, "the one that is there")
		valuetest.Equal(t, done.Objects, 0)
	})
	if got, found := verify(t, o, true); got.Damage > 0 || got.Runs != 14 || got.Leftovers > 0 {
		t.Fatalf("verify counts %+v and finds %v", got, found)
	}
	add(t, dir, few(1)...)
	valuetest.Must(push(t, o, dir))

	server.sent()
	valuetest.Equal(t, valuetest.Must(pull(t, oldOptions, old)).Objects, 2, "of a store that had the pushes")
	fresh, freshOptions := newStore(t), uncached(t, o)
	server.sent()
	done := valuetest.Must(pull(t, freshOptions, fresh))
	valuetest.Equal(t, done.Pushes, 2)
	removed := valuetest.Must(schema.List(schema.Dir(dir), schema.Scope{})).Events
	valuetest.Equal(t, len(removed.Files), 2)
	valuetest.Equal(t, len(storetest.States(t, fresh)), 15, "removed runs too")
	storetest.Whole(t, fresh)
	valuetest.Equal(t, valuetest.Must(pull(t, freshOptions, fresh)).Objects, 0)
	valuetest.Equal(t, valuetest.Must(push(t, freshOptions, fresh)), bucket.Pushed{})
	valuetest.Equal(t, valuetest.Must(push(t, uncached(t, o), fresh)), bucket.Pushed{}, "without the cache")

	for _, key := range server.keys("team/compacted/") {
		if strings.Contains(key, "/runs/") {
			delete(server.objects, key)
		}
	}
	into, refused := newStore(t), 0
	with(t, into, func(s *ingest.Store) {
		valuetest.Must(opened(t, uncached(t, o)).Pull(t.Context(), into, s, bucket.Pulling{Refused: func(ingest.LeftOut) { refused++ }}))
	})
	valuetest.Equal(t, refused, 1, "the compacted store is damaged, and its pushes are not")
	valuetest.Equal(t, len(storetest.States(t, into)), 15)
}

// TestErrors: one line says what is wrong, and has no secret.
func TestErrors(t *testing.T) {
	for address, says := range map[string]string{
		"bench/team":                                "want s3://BUCKET/PREFIX",
		"https://AKID:" + secret + "@host":          "a URL with a user or a password is refused",
		"s3://AKID:" + secret + "@bench/x":          "a URL with a user or a password is refused",
		"s3://x/team":                               `"x" cannot be the name of a bucket`,
		"s3://bench/../team":                        "the prefix must be names",
		"s3://bench/a//b":                           "the prefix must be names",
		"s3://bench/a?versionId=1":                  "the prefix must be names",
		"s3://bench/a?X-Amz-Signature=" + secret:    "the prefix must be names",
		"s3://bench?X-Amz-Signature=" + secret:      "the prefix must be names",
		"https://bench/a?X-Amz-Signature=" + secret: `"https://bench/a": want s3://BUCKET/PREFIX`,
	} {
		_, err := bucket.Open(address, *options(t, "http://localhost:1"))
		valuetest.ErrorIs(t, err, bucket.ErrLocation, address)
		valuetest.Fails(t, err, says, address)
		if strings.Contains(fmt.Sprint(err), secret) {
			t.Errorf("the error of a URL has its password: %v", err)
		}
	}
	for _, endpoint := range []string{"localhost:9000", "ftp://host", "http://AKID:" + secret + "@host", "http://host/path"} {
		_, err := bucket.Open("s3://bench/team", *options(t, endpoint))
		valuetest.Fails(t, err, "AWS_ENDPOINT_URL: ", endpoint)
		if strings.Contains(fmt.Sprint(err), secret) {
			t.Errorf("the error of an endpoint has its password: %v", err)
		}
	}

	server, o := newServer(t)
	dir := newStore(t, few(1)...)
	answering := func(status int, code string) {
		server.set(func(_ int, r *requested) fault {
			fail(r.answer, status, code)
			return answered
		})
	}
	try := func(address, says string) {
		t.Helper()
		with(t, dir, func(s *ingest.Store) {
			b := valuetest.Must(bucket.Open(address, *o))
			_, pushErr := b.Push(t.Context(), dir, s)
			_, pullErr := b.Pull(t.Context(), dir, s, bucket.Pulling{})
			for _, err := range []error{pushErr, pullErr} {
				valuetest.Fails(t, err, says)
				if text := fmt.Sprint(err); strings.Contains(text, secret) || strings.Contains(text, "AKIDEXAMPLE") || strings.Contains(text, "\n") {
					t.Errorf("the error is %q", text)
				}
			}
		})
	}
	try("s3://other/team", "there is no bucket other at http://127.0.0.1:")
	answering(403, "InvalidAccessKeyId")
	try("s3://bench/team", "refuses the credentials (InvalidAccessKeyId)")
	answering(403, "AccessDenied")
	try("s3://bench/team", "does not allow it with these credentials (AccessDenied)")
	answering(403, "RequestTimeTooSkewed")
	try("s3://bench/team", "the clock of this machine differs too much from that of http://127.0.0.1:")
	answering(400, "AuthorizationHeaderMalformed")
	try("s3://bench/team", "wants another region (AuthorizationHeaderMalformed); set AWS_REGION")
	answering(403, "<script>\n"+secret)
	try("s3://bench/team", "does not allow it with these credentials")
	answering(501, "NotImplemented")
	try("s3://bench/team", "answers NotImplemented")
	answering(503, "SlowDown")
	try("s3://bench/team", "answers SlowDown")
	server.set(nil)
	for text, says := range map[string]string{
		"hello":                  "NeuroLens did not write it",
		`{"bucket_format":2}`:    "unknown bucket format: it has bucket format 2, and this version reads format 1",
		`{"bucket_format":1}`:    "the bucket is damaged",
		strings.Repeat("x", 1e5): "it has more than 65536 bytes",
	} {
		server.objects["team/neurolens-bucket.json"] = object{content: []byte(text)}
		try("s3://bench/team", says)
	}
}

// TestOnlyNewUnknown: a server that knows no If-None-Match is named at the first push, with the header.
func TestOnlyNewUnknown(t *testing.T) {
	server, o := newServer(t)
	server.set(func(_ int, r *requested) fault {
		if r.Header.Get("If-None-Match") == "" {
			return none
		}
		fail(r.answer, http.StatusNotImplemented, "NotImplemented")
		return answered
	})
	_, err := push(t, o, newStore(t, few(1)...))
	valuetest.Fails(t, err, "does not know If-None-Match. Two writers could overwrite each other's pushes; use another object store")
	valuetest.Equal(t, len(server.keys("")), 0)
}

// TestNewerManifest: a bucket in which a later version wrote is refused, and nothing is pulled.
func TestNewerManifest(t *testing.T) {
	server, o := newServer(t)
	dir, into := newStore(t, few(1)...), newStore(t)
	valuetest.Must(push(t, o, dir))
	server.objects["team/pushes/000000000002.json"] = object{valuetest.Must(schema.SignJSON(map[string]any{"bucket_format": 2})), time.Now()}
	for range 2 {
		_, err := pull(t, uncached(t, o), into)
		valuetest.ErrorIs(t, err, bucket.ErrFormat)
		add(t, dir, few(1)...)
		_, err = push(t, o, dir)
		valuetest.ErrorIs(t, err, bucket.ErrFormat)
	}
	valuetest.Equal(t, len(storetest.States(t, into)), 0)
}

// TestRequests: in a bucket of a million runs, a new session takes at most eight requests to push, with and without the cache, and to pull,
// and no bytes but its own.
func TestRequests(t *testing.T) {
	const pushes, runs, most = 999, 1002, 8
	server, o := newServer(t)
	from, into := newStore(t, few(3)...), newStore(t)
	valuetest.Must(push(t, o, from))
	first := server.objects["team/pushes/000000000001.json"]
	folder := filepath.Join(into, schema.RunsDir, "2026-01")
	valuetest.OK(t, os.MkdirAll(folder, 0o777))
	for i := range pushes {
		line, sealed := bucket.MadeUp(t, i, runs)
		server.objects[fmt.Sprintf("team/pushes/%012d.json", i+1)] = object{line, sealed.ID.Time()}
		valuetest.OK(t, os.WriteFile(filepath.Join(folder, sealed.Name()), nil, 0o666)) // a name says enough
	}
	server.objects[fmt.Sprintf("team/pushes/%012d.json", pushes+1)] = first
	reader, ci := uncached(t, o), uncached(t, o)
	valuetest.Must(push(t, ci, newStore(t, few(1)...)))
	valuetest.Must(pull(t, reader, into))

	for what, writer := range map[string]*bucket.Options{"with the cache": ci, "without": uncached(t, o)} {
		for key, o := range server.objects { // others pushed yesterday
			server.objects[key] = object{o.content, o.modified.Add(-24 * time.Hour)}
		}
		session := newStore(t, few(1)...)
		with(t, session, func(s *ingest.Store) {
			full := runtest.Full()
			full.StartedAt = time.Now()
			full.RunID = schema.NewULID(full.StartedAt).String()
			valuetest.OK(t, s.Append(full))
			valuetest.Must(s.Annotate(ingest.Annotation{Kind: schema.EventNote, Runs: []string{full.RunID}, Value: "all tables"}))
		})
		server.sent()
		done := valuetest.Must(push(t, writer, session))
		if n := server.sent(); n > most || done.Runs != 2 {
			t.Errorf("%s, the push of %d runs took %d requests", what, done.Runs, n)
		}
		got := valuetest.Must(pull(t, reader, into))
		if n := server.sent(); n > most || got.Added != 2 || got.Bytes > done.Bytes {
			t.Errorf("%s, the pull of %d runs took %d requests and %d bytes; the push had %d", what, got.Added, n, got.Bytes, done.Bytes)
		}
	}
}

// TestRefusedObject: a push of which one object is refused puts no manifest.
func TestRefusedObject(t *testing.T) {
	from := annotated(t)
	for _, part := range []string{"/samples/", "/ops/", "/runs/", "/events/", "/artifacts/"} {
		server, o := newServer(t)
		server.set(func(_ int, r *requested) fault {
			if r.Method != "PUT" || !strings.Contains(r.URL.Path, part) {
				return none
			}
			fail(r.answer, 403, "AccessDenied")
			return answered
		})
		_, err := push(t, o, from)
		valuetest.Fails(t, err, "does not allow it with these credentials (AccessDenied)", part)
		valuetest.Equal(t, len(server.keys("team/pushes/")), 0, part)
		server.set(nil)
		valuetest.Equal(t, valuetest.Must(push(t, o, from)).Runs, 5, part)
	}
}

// TestRepeated: a run that two stores pushed counts once, for readers and for verify.
func TestRepeated(t *testing.T) {
	server, o := newServer(t)
	one, two := newStore(t, few(2)...), newStore(t, few(1)...)
	with(t, two, func(s *ingest.Store) {
		valuetest.Must(s.Merge(t.Context(), one, ingest.Merging{}))
	})
	valuetest.Must(push(t, o, one))
	for key, there := range server.objects { // the clock of the server is a day behind
		server.objects[key] = object{there.content, there.modified.Add(-24 * time.Hour)}
	}
	valuetest.Equal(t, valuetest.Must(push(t, uncached(t, o), two)).Runs, 3)
	done, found := verify(t, o, true)
	valuetest.Equal(t, fmt.Sprint(done.Runs, done.Repeated, len(found)), "3 2 0")
	into := newStore(t)
	valuetest.Equal(t, valuetest.Must(pull(t, o, into)).Added, 3)
	same(t, two, into)
}

// TestClocks: a machine whose clock is ahead puts its runs once, also from another cache.
func TestClocks(t *testing.T) {
	const ahead = 3 * time.Hour
	server, o := newServer(t)
	server.set(func(_ int, r *requested) fault {
		r.answer.Header().Set("Date", time.Now().Add(-ahead).UTC().Format(http.TimeFormat))
		return none
	})
	dir := newStore(t, few(1)...)
	valuetest.Equal(t, valuetest.Must(push(t, o, dir)).Runs, 1)
	for key, there := range server.objects {
		server.objects[key] = object{there.content, there.modified.Add(-ahead)}
	}
	valuetest.Equal(t, valuetest.Must(push(t, uncached(t, o), dir)).Runs, 0)
}

// TestSilence: Quiet is called once for a server that accepts requests and never answers, and a second request without an answer is the last.
func TestSilence(t *testing.T) {
	server, o := newServer(t)
	dir := newStore(t, few(1)...)
	push := func(silentFrom int, idle time.Duration) (sent, said int, err error) {
		o.Quiet = func(string) { said++ }
		clear(server.objects)
		server.set(func(n int, r *requested) fault {
			if n < silentFrom {
				return none
			}
			<-r.Context().Done()
			return answered
		})
		with(t, dir, func(s *ingest.Store) {
			b := opened(t, o)
			b.Hurry(idle)
			_, err = b.Push(t.Context(), dir, s)
		})
		return server.sent(), said, err
	}
	for _, silentFrom := range []int{0, 4} { // at a fresh connection, and at one that was used
		idle := time.Second
		sent, said, err := push(silentFrom, idle)
		for ; sent != silentFrom+2 && idle < time.Minute; idle *= 4 { // a slow machine is silent too
			sent, said, err = push(silentFrom, 4*idle)
		}
		valuetest.Fails(t, err, ": no answer from http://127.0.0.1:")
		valuetest.Equal(t, sent, silentFrom+2)
		valuetest.Equal(t, said, 1)
	}
}

// TestCredentials: an error says which credentials are missing or wrong, and has no secret. Nothing is sent without them.
func TestCredentials(t *testing.T) {
	for what, c := range map[string]struct {
		config, credentials, profile, id, says string
		sends                                  bool
	}{
		"half of the variables":   {id: "AKID", says: "of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set"},
		"a profile that is not":   {profile: "nosuch", credentials: "[lab]\n", says: `there is no profile "nosuch" (AWS_PROFILE) in ~/.aws/credentials and ~/.aws/config`},
		"no secret":               {profile: "lab", credentials: "[lab]\naws_access_key_id = AKID\n", says: `profile "lab" (AWS_PROFILE): profile has partial static credentials`},
		"nothing":                 {profile: "lab", config: "[profile lab]\nregion = eu-west-1\n", says: `profile "lab" (AWS_PROFILE) has neither keys, nor a credential_process, nor SSO`},
		"a role":                  {profile: "lab", config: "[profile lab]\nrole_arn = arn:aws:iam::1:role/x\n", says: `profile "lab" (AWS_PROFILE) has a role_arn, which is not read`},
		"a process that fails":    {profile: "lab", config: "[profile lab]\ncredential_process = sh -c false\n", says: `profile "lab" (AWS_PROFILE): its credential_process fails: exit status 1`},
		"the default one's fails": {config: "[default]\ncredential_process = /no/such program\n", says: `profile "default": its credential_process fails: fork/exec /no/such: no such file or directory`},
		"not a file of profiles":  {credentials: secret + "\n", says: "credentials cannot be read, or is not a file of profiles"},
		"keys":                    {profile: "lab", credentials: "[lab]\naws_access_key_id = AKID\naws_secret_access_key = " + secret + "\n", sends: true},
		"a process":               {profile: "lab", config: "[profile lab]\ncredential_process = sh HOME/give\n", sends: true},
	} {
		server, o := newServer(t)
		home := os.Getenv("HOME")
		give := `echo '{"Version":1,"AccessKeyId":"AKID","SecretAccessKey":"` + secret + `"}'`
		valuetest.Files(t, home, map[string]string{".aws/config": strings.ReplaceAll(c.config, "HOME", home), ".aws/credentials": c.credentials, "give": give})
		t.Setenv("AWS_PROFILE", c.profile)
		t.Setenv("AWS_ACCESS_KEY_ID", c.id)
		t.Setenv("AWS_SECRET_ACCESS_KEY", "")
		b, err := bucket.Open("s3://bench/team", *o)
		if err == nil {
			err = b.Reach(t.Context())
		}
		if c.sends {
			valuetest.ErrorIs(t, err, bucket.ErrEmpty, what)
			continue
		}
		valuetest.Fails(t, err, c.says, what)
		valuetest.Equal(t, server.sent(), 0, what)
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error has the secret", what)
		}
	}
}

// TestProfile: a profile also names the server and the region; variables go before it.
func TestProfile(t *testing.T) {
	server, o := newServer(t)
	endpoint := o.Getenv("AWS_ENDPOINT_URL")
	var region string
	server.set(func(_ int, r *requested) fault {
		region = strings.Split(r.Header.Get("Authorization"), "/")[2]
		return none
	})
	o.Getenv = os.Getenv
	for _, c := range []struct{ name, config, endpoint, region, want string }{
		{"default", "[default]\nregion = eu-west-1\nendpoint_url = " + endpoint + "\n", "", "", "eu-west-1"},
		{"lab", "[default]\nregion = eu-west-2\n[profile lab]\nendpoint_url = " + endpoint + "\n", "", "", "us-east-1"},
		{"lab", "[profile lab]\nregion = eu-west-1\nendpoint_url = http://127.0.0.1:1\n", endpoint, "eu-west-3", "eu-west-3"},
	} {
		valuetest.Files(t, os.Getenv("HOME"), map[string]string{".aws/config": c.config})
		t.Setenv("AWS_PROFILE", c.name)
		t.Setenv("AWS_ENDPOINT_URL", c.endpoint)
		t.Setenv("AWS_REGION", c.region)
		valuetest.ErrorIs(t, opened(t, o).Reach(t.Context()), bucket.ErrEmpty)
		valuetest.Equal(t, region, c.want)
	}
	valuetest.Files(t, os.Getenv("HOME"), map[string]string{".aws/config": "[default]\nendpoint_url = host\n"})
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("AWS_ENDPOINT_URL", "")
	_, err := bucket.Open("s3://bench/team", *o)
	valuetest.Fails(t, err, `endpoint_url of profile "default": want a URL`)
}

// TestDeadStages: a pull removes what pulls left that were killed, and nothing of one that is at work.
func TestDeadStages(t *testing.T) {
	_, o := newServer(t)
	valuetest.Must(push(t, o, newStore(t, few(1)...)))
	caches := valuetest.Must(filepath.Glob(filepath.Join(o.Cache, "*")))
	valuetest.Equal(t, len(caches), 1)
	at := func(name string) string { return filepath.Join(caches[0], name) }
	valuetest.Files(t, caches[0], map[string]string{"neurolens-pull-dead/runs/x": "", "neurolens-pull-alive/runs/x": "", "old.part": "", "new.part": ""})
	hourAgo := time.Now().Add(-2 * time.Hour)
	valuetest.OK(t, os.Chtimes(at("old.part"), hourAgo, hourAgo))
	unlock := valuetest.Must(disk.OS{Dir: schema.Dir(at("neurolens-pull-alive"))}.LockRoot())
	defer unlock()
	valuetest.Must(pull(t, o, newStore(t)))
	var left []string
	for _, e := range valuetest.Must(os.ReadDir(caches[0])) {
		left = append(left, e.Name())
	}
	valuetest.DeepEqual(t, left, []string{"000000000001.json", "neurolens-pull-alive", "new.part"})
}
