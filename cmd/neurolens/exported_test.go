package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestExportedNamesAreUsed: what a package exports is used by the code of another package. Tests, examples and the module
// benchmarks do not count: a name that they alone need is not exported, and its tests stand beside it.
func TestExportedNamesAreUsed(t *testing.T) {
	m := readModule(t)
	for _, pkg := range slices.Sorted(maps.Keys(m.files)) {
		m.check(t, pkg)
	}
	for object := range maps.Clone(m.used) {
		m.reach(object.Type())
	}
	m.useConstants()
	for _, pkg := range slices.Sorted(maps.Keys(m.files)) {
		if name := strings.TrimPrefix(pkg, module); !slices.Contains(helpers, name) && !slices.Contains(ahead, name) {
			m.report(t, m.packages[pkg])
		}
	}
}

// ahead are packages whose callers are still to be written. Whoever writes the first one takes the package off the list.
var ahead []string

// calledByOthers are methods that packages of others call by an interface of theirs: errors, fmt, sort, container/heap,
// encoding/json, gonum.org/v1/plot/vg, duckdb-go.
var calledByOthers = []string{
	"Error", "Unwrap", "Is", "As", "String", "Len", "Less", "Swap", "Push", "Pop", "MarshalJSON", "UnmarshalJSON", "Scale", "DrawImage", "Config", "Executor",
}

// codeOfModule is the code of this module, tests apart, with the types of its own packages. Packages of others are
// empty, so that nothing but this module is read: a selector whose type is therefore unknown counts for every method of
// its name.
type codeOfModule struct {
	fset     *token.FileSet
	files    map[string][]*ast.File // by path of import
	packages map[string]*types.Package
	used     map[types.Object]bool // by another package
	selected map[string]bool       // from a value whose type is unknown, or by an interface
	reached  map[types.Type]bool
}

// readModule parses the code as it is built for Linux.
func readModule(t *testing.T) *codeOfModule {
	t.Helper()
	m := &codeOfModule{
		fset: token.NewFileSet(), files: map[string][]*ast.File{}, packages: map[string]*types.Package{},
		used: map[types.Object]bool{}, selected: map[string]bool{}, reached: map[types.Type]bool{},
	}
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.CgoEnabled = "linux", "amd64", true
	eachSource(t, ".", func(file, pkg string) {
		if is, err := linux.MatchFile(filepath.Split(file)); err != nil || !is {
			return
		}
		parsed, err := parser.ParseFile(m.fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		m.files[module+pkg] = append(m.files[module+pkg], parsed)
	})
	return m
}

// check finds the types of a package, after those of the packages that it imports.
func (m *codeOfModule) check(t *testing.T, pkg string) {
	t.Helper()
	if m.packages[pkg] != nil {
		return
	}
	for _, file := range m.files[pkg] {
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if m.files[name] != nil {
				m.check(t, name)
			}
			if own := strings.TrimPrefix(name, module); slices.Contains(ahead, own) {
				t.Errorf("%s imports %s: take it off the list of packages without callers", strings.TrimPrefix(pkg, module), own)
			}
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: m, Error: func(error) {}, FakeImportC: true}
	m.packages[pkg], _ = config.Check(pkg, m.fset, m.files[pkg], info) // errors: what empty packages lack
	m.record(pkg, info)
}

// Import is a package of this module that was checked, or an empty one.
func (m *codeOfModule) Import(name string) (*types.Package, error) {
	if pkg := m.packages[name]; pkg != nil {
		return pkg, nil
	}
	empty := types.NewPackage(name, path.Base(name))
	empty.MarkComplete()
	m.packages[name] = empty
	return empty, nil
}

// record notes what the package uses of others.
func (m *codeOfModule) record(pkg string, info *types.Info) {
	for _, object := range info.Uses {
		if f, ok := object.(*types.Func); ok {
			object = f.Origin()
		}
		if object.Pkg() != nil && object.Pkg().Path() != pkg {
			m.used[object] = true
		}
	}
	for _, file := range m.files[pkg] {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if info.Uses[n.Sel] == nil && !ofPackage(n.X, info) {
					m.selected[n.Sel.Name] = true
				}
			case *ast.IndexExpr:
				m.useArguments(pkg, n.Index)
			case *ast.IndexListExpr:
				m.useArguments(pkg, n.Indices...)
			case *ast.InterfaceType:
				for _, method := range n.Methods.List {
					for _, name := range method.Names {
						m.selected[name.Name] = true
					}
				}
			}
			return true
		})
	}
}

func ofPackage(x ast.Expr, info *types.Info) bool {
	name, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	_, is := info.Uses[name].(*types.PkgName)
	return is
}

// useArguments adds the types of a package that a generic type of others is of, as iter.Seq[Line]: what a function with such
// a result returns is not known.
func (m *codeOfModule) useArguments(pkg string, arguments ...ast.Expr) {
	for _, a := range arguments {
		if name, is := a.(*ast.Ident); is {
			if object := m.packages[pkg].Scope().Lookup(name.Name); object != nil {
				m.used[object] = true
			}
		}
	}
}

// reach adds the types that a value of a type has in it: whoever calls a function meets its results without naming them.
func (m *codeOfModule) reach(t types.Type) {
	if t == nil || m.reached[t] {
		return
	}
	m.reached[t] = true
	switch t := t.(type) {
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			m.reach(arg)
		}
		m.used[t.Origin().Obj()] = true
		m.reach(t.Origin().Underlying())
	case *types.Alias:
		m.used[t.Obj()] = true
		m.reach(t.Rhs())
	case *types.Struct:
		for field := range t.Fields() {
			if field.Exported() {
				m.reach(field.Type())
			}
		}
	case *types.Signature:
		m.reach(t.Params())
		m.reach(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			m.reach(v.Type())
		}
	case *types.Interface:
		for method := range t.Methods() {
			m.reach(method.Type())
		}
	case *types.Map:
		m.reach(t.Key())
		m.reach(t.Elem())
	case interface{ Elem() types.Type }: // a pointer, a slice, an array, a channel
		m.reach(t.Elem())
	}
}

// useConstants adds the constants of types that are used, for whoever has a type has its values, and those that are declared
// together with one that is used: the words of a list are exported together.
func (m *codeOfModule) useConstants() {
	for pkg, files := range m.files {
		for _, file := range files {
			for _, declared := range file.Decls {
				block, is := declared.(*ast.GenDecl)
				if !is || block.Tok != token.CONST {
					continue
				}
				var constants []types.Object
				for _, spec := range block.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						if object := m.packages[pkg].Scope().Lookup(name.Name); object != nil && object.Exported() {
							constants = append(constants, object)
						}
					}
				}
				if slices.ContainsFunc(constants, m.known) {
					for _, object := range constants {
						m.used[object] = true
					}
				}
			}
		}
	}
}

// known tells whether a constant, or its type, is used.
func (m *codeOfModule) known(constant types.Object) bool {
	named, is := constant.Type().(*types.Named)
	return m.used[constant] || is && m.used[named.Obj()]
}

// madeIntoPages are columns of answers, of which TestColumns makes query/COLUMNS.md. Code has no other use for them outside of their package.
var madeIntoPages = []string{"plotting.MarkFields", "screens.IngestFields", "screens.SealedFields", "screens.StoreFields"}

// report names what the package exports and nobody uses.
func (m *codeOfModule) report(t *testing.T, pkg *types.Package) {
	t.Helper()
	unused := func(object types.Object, name string) {
		if object.Exported() && !m.used[object] && !slices.Contains(madeIntoPages, pkg.Name()+"."+name) {
			t.Errorf("%s: no other package's code uses %s; unexport it", m.fset.Position(object.Pos()), name)
		}
	}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		unused(object, name)
		named, is := object.Type().(*types.Named)
		if _, declares := object.(*types.TypeName); !declares || !is {
			continue
		}
		for method := range named.Methods() {
			if !m.selected[method.Name()] && !slices.Contains(calledByOthers, method.Name()) {
				unused(method, name+"."+method.Name())
			}
		}
	}
}
