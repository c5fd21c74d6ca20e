"""Measures the figures of the section Sums in docs/spark.md: sums.py NEUROLENS COMPACTED_STORE.

It prints bytes and files of the store, and the processor time that two questions take for each million runs, in `neurolens query` and in Spark. A question is
asked of the views and of several copies of them (UNION ALL); the difference is what rows cost, without what starting costs. Other processes change
processor time less than elapsed time.
"""

import json
import resource
import subprocess
import sys

COPIES = 6  # of the views
QUESTIONS = {
    "means by batch size": "SELECT batch_size, count(*), avg(p50) FROM {runs} GROUP BY batch_size",
    "sum of all samples": "SELECT count(*), sum({sum}) FROM {samples}",
}


def copies(view, columns, n):
    return "(" + " UNION ALL ".join([f"SELECT {columns} FROM {view}"] * n) + ") AS x"


def text(question, n, total):
    return question.format(runs=copies("runs", "batch_size, p50", n), samples=copies("samples", "ticks", n), sum=total)


def run(program, store, *args):
    return subprocess.run([program, "--store", store, *args], check=True, capture_output=True, text=True).stdout


def in_query(program, store, question):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(program, store, "query", "--format", "csv", question)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spark_clock(views):
    """Returns a function that asks Spark, and returns the processor time of its process."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.driver.memory", "2g").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for statement in views.split(";\n"):
        if statement.strip():
            spark.sql(statement)
    process = spark._jvm.java.lang.ProcessHandle.current

    def ask(question):
        rows = spark.sql(question)
        rows._jdf.queryExecution().executedPlan()  # planning copies takes longer than reading few rows
        before = process().info().totalCpuDuration().get().toMillis()
        rows.collect()
        return (process().info().totalCpuDuration().get().toMillis() - before) / 1e3

    return ask


def slope(ask, question, total, runs):
    """Returns seconds of a processor for a million runs: the least of three, since a JVM compiles while it is asked."""
    least = {n: min(ask(text(question, n, total)) for _ in range(3)) for n in (1, COPIES)}
    return least[1], (least[COPIES] - least[1]) / (COPIES - 1) / runs * 1e6


def main():
    program, store = sys.argv[1:]
    info = json.loads(run(program, store, "store", "info", "--format", "json"))[0]
    runs, kept = info["runs"], ("files", "bytes", "runs_bytes", "samples_bytes")
    report = {"runs": runs} | {name: info[name] for name in kept}
    views = run(program, store, "store", "views", "--dialect", "spark")
    ask = spark_clock(views)
    for name, question in QUESTIONS.items():
        small, each = slope(lambda q: in_query(program, store, q), question, "list_sum(ticks)", runs)
        report[name] = {"query": {"once": round(small, 2), "each_million": round(each, 3)}}
        small, each = slope(ask, question, "aggregate(ticks, 0L, (a, x) -> a + x)", runs)
        report[name]["spark"] = {"once": round(small, 2), "each_million": round(each, 3)}
    print(json.dumps(report, indent=1))


main()
