"""Print the sum of the medians of each value of the axis impl: flat.py MODULE FILE."""

import json
import sys

module, file = sys.argv[1:]
if module == "pandas":
    import pandas

    sums = pandas.read_parquet(file).groupby("impl").p50.sum().to_dict()
elif module == "polars":
    import polars

    sums = dict(
        polars.read_parquet(file).group_by("impl").agg(polars.col("p50").sum()).rows()
    )
else:
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    sums = {
        row["impl"]: row["sum(p50)"]
        for row in spark.read.parquet(file).groupBy("impl").sum("p50").collect()
    }
print(json.dumps(sums, sort_keys=True))
