"""Answers questions in Spark: standard input has {"load": PYTHON, "settings": {NAME: VALUE} or null, "stores": [{"folder": DIRECTORY,
"questions": [SQL]}]}, standard output the rows of each question. The Python is that of docs/spark.md, and loads views.sql in the folder.
"""

import json
import os
import sys

from plain import plain
from pyspark.sql import SparkSession

# What takes most of the time of a small question is planning and compiling: the code of a stage is interpreted here.
settings = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.files.openCostInBytes": "0",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
job = json.load(sys.stdin)
settings.update(job["settings"] or {})
builder = SparkSession.builder.master("local[1]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
answers = []
for store in job["stores"]:
    os.chdir(store["folder"])
    exec(job["load"], {"spark": spark})
    answers.append([[plain(row) for row in spark.sql(question).collect()] for question in store["questions"]])
json.dump(answers, sys.stdout)
