package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// pathFact adds the path of the file to the facts of runs. To runs with a start from the user, it also adds the time at which the file was changed.
// Neither is a part of the identity of a run: a file elsewhere, or with another name, has the same runs. Runs that share a map of facts still share
// one.
type pathFact struct {
	path, changed string
	given         bool              // the last run got its start from the user
	from, to      map[string]string // of the last run: its facts, and these with the path
}

func newPathFact(in *Input) pathFact {
	return pathFact{path: strings.ToValidUTF8(in.Given, "\ufffd"), changed: in.changed()}
}

// changed is when the file was changed last; empty for a pipe.
func (in *Input) changed() string {
	if in.Folder == nil {
		return ""
	}
	info, err := fs.Stat(in.Folder, in.Path)
	if err != nil {
		return ""
	}
	return info.ModTime().UTC().Format(time.RFC3339Nano)
}

func (p *pathFact) set(r *schema.Run, given bool) {
	if p.path == "" {
		return
	}
	// from is held, so that no other map has its address.
	same := p.to != nil && p.given == given && len(p.from) == len(r.Env.Facts) && reflect.ValueOf(p.from).Pointer() == reflect.ValueOf(r.Env.Facts).Pointer()
	if !same {
		p.from, p.to, p.given = r.Env.Facts, make(map[string]string, len(r.Env.Facts)+2), given
		maps.Copy(p.to, p.from)
		p.to[schema.FactPath] = p.path
		if given && p.changed != "" {
			p.to[schema.FactChanged] = p.changed
		}
	}
	r.Env.Facts = p.to
}

// pathParams gives the parameters in a path: one for each named group of an expression. matches is false if it does not
// match.
func pathParams(expression *regexp.Regexp, path string) (params map[string]string, matches bool) {
	if expression == nil {
		return nil, true
	}
	found := expression.FindStringSubmatch(path)
	params = map[string]string{}
	for i, name := range expression.SubexpNames() {
		if name != "" && found != nil && found[i] != "" {
			params[name] = Canonical(strings.ToValidUTF8(found[i], "\ufffd"))
		}
	}
	return params, found != nil
}

// PathExpression compiles Added.FromPath, whose named groups are parameters. It is nil for an empty text.
func PathExpression(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	axes := map[string]bool{}
	for _, name := range expression.SubexpNames() {
		axis := schema.CanonicalAlias(name)
		if name != "" && axes[axis] {
			return nil, fmt.Errorf("two groups are named %s", axis)
		}
		axes[axis] = true
	}
	delete(axes, "")
	if len(axes) == 0 {
		return nil, errors.New("want named groups, such as model=(?P<model>[^/]+)")
	}
	return expression, nil
}
