"""Answers questions about the tables of a store: standard input has {"store": DIRECTORY, "reader": duckdb or pyiceberg, "questions": [SQL]}, standard
output the rows of each question. Pyiceberg has no SQL: DuckDB asks what it reads.
"""

import glob
import json
import os
import sys

import duckdb

TABLES = ["runs", "samples", "ops", "tags"]

job = json.load(sys.stdin)
db = duckdb.connect()
if job["reader"] == "duckdb":
    import duckdb_extension_avro
    import duckdb_extension_iceberg

    for extension in [duckdb_extension_avro, duckdb_extension_iceberg]:
        folder = os.path.dirname(extension.__file__)
        (path,) = glob.glob(folder + "/**/*.duckdb_extension", recursive=True)
        db.execute(f"LOAD '{path}'")
    db.execute("SET unsafe_enable_version_guessing = true")
    for name in TABLES:
        db.execute(f"CREATE VIEW {name} AS FROM iceberg_scan('{job['store']}/iceberg/{name}')")
else:
    from pyiceberg.table import StaticTable

    for name in TABLES:
        table = StaticTable.from_metadata(f"{job['store']}/iceberg/{name}")
        db.register(name, table.scan().to_arrow())
answers = []
for question in job["questions"]:
    rows = db.execute(question)
    names = [column[0] for column in rows.description]
    answers.append([dict(zip(names, row)) for row in rows.fetchall()])
json.dump(answers, sys.stdout)
