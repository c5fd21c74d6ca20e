"""Finds what benchmarks need and this interpreter does not have, before anything runs: modules, and classes and functions in
files. Only the standard library is imported, and no code of a user runs.

Standard input is a JSON list of needs: {"module", "package"}, or {"file", "object"}. Standard output is a JSON list of the same
length: a line of text, or null if nothing is known to be missing.
"""
import ast
import importlib.util
import json
import os
import sys

# Names through which a file can get others that no statement of it binds.
DYNAMIC = frozenset("__getattr__ __import__ eval exec globals importlib locals setattr vars".split())
PATHS = frozenset("meta_path modules path path_hooks".split())  # of sys: with these a file changes what can be imported


def there(module):
    """Whether a module can be found. If that cannot be determined, the import decides."""
    if module in sys.modules:
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except Exception:
        return True


def install(package):
    return "%s -m pip install %s" % (sys.executable or "python3", package)


def bound(tree):
    """The names that the statements of a module bind, in blocks too, and whether it may have more of them."""
    names, more = set(), False
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                names.add(alias.asname or alias.name.partition(".")[0])
                more = more or alias.name == "*"
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        if isinstance(node, (ast.stmt, ast.expr, ast.ExceptHandler, ast.withitem)) or type(node).__name__ == "match_case":
            pending.extend(ast.iter_child_nodes(node))
    return names, more


def used(tree):
    """All names in a file, and the attributes of sys that it has."""
    names, of_sys = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.Global):
            names.add("globals")
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((node.module or "").split(".") if isinstance(node, ast.ImportFrom) else ())
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
            of_sys.add(node.attr)
    return names, of_sys


def imported(tree):
    """The modules that a file always imports, with their lines. Imports in a block may be optional."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0], node.lineno


def missing_module(path, tree):
    """The first module that a file imports and that is missing."""
    sys.path[:0] = [os.path.dirname(os.path.realpath(path)), os.getcwd()]
    try:
        for module, line in imported(tree):
            if not there(module):
                return "%s:%d: imports %s, which %s does not have: %s" % (
                    os.path.basename(path), line, module, sys.executable or "python3", install(module))
    finally:
        del sys.path[:2]
    return None


def missing_object(path, tree, name):
    """Why a file does not have the object to run."""
    names, more = bound(tree)
    own = sorted(n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name[:1] != "_")
    if name and name not in names and not more:
        return "%s has no %s%s" % (path, name, ": it has " + ", ".join(own) if own else "")
    return None if name or more else unclear_object(path, tree, names)


def unclear_object(path, tree, names):
    """Why a file has no benchmark, or several, if the sweep names none. Objects created by calls are left to the run."""
    stem = os.path.splitext(os.path.basename(path))[0]
    usual = {"run_benchmark", "get_benchmark", stem + "_kernel", "benchmark", "solve"}
    made = any(isinstance(node, ast.Assign) and isinstance(node.value, (ast.Call, ast.Lambda)) for node in tree.body)
    if usual & names or made or any(isinstance(node, ast.ClassDef) for node in ast.walk(tree)):
        return None
    functions = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in names]
    several = [name for name in functions if name.startswith("bench_")]
    if len(several) == 1:
        return None
    if several:
        return "%s has the benchmarks %s: choose one with file: %s:%s" % (path, ", ".join(several), path, several[0])
    others = [name for name in functions if name[:1] != "_"]
    has = "it has %s: choose one with file: %s:%s" % (", ".join(others), path, others[0]) if others else "it has no function either"
    return "%s has no bench_* function and no class with benchmark_fn; %s" % (path, has)


def missing_of_file(path, name):
    with open(path, "rb") as file:
        source = file.read()
    try:
        tree = ast.parse(source, path)
    except SyntaxError as error:
        return "%s:%s: %s" % (os.path.basename(path), error.lineno, error.msg)
    names, of_sys = used(tree)
    if not (of_sys & PATHS or names & PATHS or "site" in names or names & DYNAMIC):
        found = missing_module(path, tree)
        if found:
            return found
    return None if names & DYNAMIC else missing_object(path, tree, name)


def missing(need):
    if "module" not in need:
        try:
            return missing_of_file(need["file"], need.get("object"))
        except Exception:  # what cannot be looked at is left to the run
            return None
    if there(need["module"]):
        return None
    return "%s is not installed for %s: %s" % (need["module"], sys.executable or "python3", install(need["package"]))


if __name__ == "__main__":
    json.dump([missing(need) for need in json.load(sys.stdin)], sys.stdout)
