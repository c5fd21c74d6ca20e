"""Reads SQL for Trino with sqlglot, and tries its views in DuckDB: standard input has {"views": FILE, "store": DIRECTORY, "questions":
[SQL], "selection": SQL, "folder": DIRECTORY}, standard output the rows of each question, as JSON. The tables of the selection become folders
with Parquet.

No Trino is here. sqlglot refuses what is no statement of Trino and translates the views to DuckDB. What it leaves as it is, since DuckDB has no
such function, is replaced here.
"""

import json
import os
import sys

import duckdb
import sqlglot
from plain import plain
from sqlglot import exp

FOLDERS = {"neurolens_runs_files": "runs", "neurolens_samples_files": "samples", "neurolens_ops_files": "ops"}


def in_duckdb(text):
    return sqlglot.parse_one(text, read="duckdb")


def map_of(call, where=""):
    key, value = (e.sql("duckdb") for e in call.expressions)
    return in_duckdb(f"map_from_entries(list(struct_pack(k := {key}, v := {value})){where})")


def ported(node):
    """An expression of Trino as DuckDB has it."""
    if isinstance(node, exp.Filter) and node.this.name == "map_agg":
        return map_of(node.this, f" FILTER ({node.expression.sql('duckdb')})")
    if isinstance(node, exp.ArraySize):
        return in_duckdb(f"cardinality({node.this.sql('duckdb')})")
    if not isinstance(node, exp.Anonymous):
        return node
    if node.name == "map_agg":
        return map_of(node)
    if node.name == "with_timezone":
        return in_duckdb(f"timezone('UTC', {node.expressions[0].sql('duckdb')})")
    if node.name == "map_filter":
        entries, condition = node.expressions
        key = condition.expressions[0].name
        body = condition.this.transform(lambda n: exp.column("key", "e") if isinstance(n, exp.Identifier) and n.name == key else n)
        return in_duckdb(f"map_from_entries(list_filter(map_entries({entries.transform(ported).sql('duckdb')}), lambda e: {body.sql('duckdb')}))")
    return node


def table(create, store):
    """The view of DuckDB that a table over a folder of the store becomes. A time has no zone in the Hive connector."""
    name = create.this.this.name
    columns = ", ".join(f'"{c.name}"' + ("::TIMESTAMP" if c.kind.sql("trino").startswith("TIMESTAMP") else "") + f' AS "{c.name}"' for c in create.this.expressions)
    if name in FOLDERS:
        return f"CREATE VIEW {name} AS SELECT {columns}, filename AS \"$path\" FROM read_parquet('{store}/{FOLDERS[name]}/*/*.parquet', filename = true)"
    types = "{event_id: 'VARCHAR', kind: 'VARCHAR', runs: 'VARCHAR[]', key: 'VARCHAR', value: 'VARCHAR'}"
    return f"CREATE VIEW {name} AS SELECT {columns} FROM read_json('{store}/events/*.json', columns = {types})"


job = json.load(sys.stdin)
db = duckdb.connect()
db.execute("SET TimeZone = 'UTC'")
for statement in sqlglot.parse(open(job["views"]).read(), read="trino", error_level=sqlglot.ErrorLevel.RAISE):
    if isinstance(statement, exp.Create) and statement.kind == "TABLE":
        db.execute(table(statement, job["store"]))
    elif isinstance(statement, exp.Create) and statement.kind == "VIEW":
        db.execute(statement.transform(ported).sql("duckdb"))
    elif not isinstance(statement, (exp.Drop, type(None))):
        sys.exit(f"sqlglot does not know what this is: {statement.sql('trino')}")
for statement in sqlglot.parse(job["selection"], read="trino", error_level=sqlglot.ErrorLevel.RAISE):
    properties = {p.name: p.args["value"].name for p in statement.find_all(exp.Property) if isinstance(p.args.get("value"), exp.Literal)}
    folder = os.path.join(job["folder"], os.path.basename(properties["external_location"]))
    os.makedirs(folder)
    db.execute(f"CREATE TABLE {statement.this.sql('duckdb')} AS {statement.expression.sql('duckdb')}")
    db.execute(f"COPY {statement.this.sql('duckdb')} TO '{folder}/rows.parquet'")
answers = []
for question in job["questions"]:
    cursor = db.execute(question)
    names = [column[0] for column in cursor.description]
    answers.append([plain(dict(zip(names, row))) for row in cursor.fetchall()])
json.dump(answers, sys.stdout)
