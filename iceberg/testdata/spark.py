"""Answers questions about the tables of a store in Spark 4.1: standard input has {"store": DIRECTORY, "questions": [SQL]}, standard output the rows of
each question.
"""

import json
import sys

from pyspark.sql import SparkSession

job = json.load(sys.stdin)
settings = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "spark.sql.catalog.bench": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.bench.type": "hadoop",
    "spark.sql.catalog.bench.warehouse": "file://" + job["store"],
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
builder = SparkSession.builder.master("local[1]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
spark.sql("USE bench.iceberg")
json.dump([[row.asDict() for row in spark.sql(question).collect()] for question in job["questions"]], sys.stdout)
