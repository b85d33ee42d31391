"""The queries of a page, answered from the archive by DuckDB.

    v6gap index archive
    python3 queries.py ARCHIVE PAGE

ARCHIVE is the folder `archive` beside the results, PAGE a text with blocks of SQL, as
docs/fleet-archive.md is. Needs duckdb alone. Prints JSON: of each query a list of its rows.
"""

import json
import re
import sys

import duckdb

folder = sys.argv[1].replace("'", "''")
with open(sys.argv[2], encoding="utf-8") as page:
    queries = re.findall(r"^```sql\n(.*?)^```", page.read(), re.MULTILINE | re.DOTALL)

db = duckdb.connect()
for table in ("answers", "pairs", "trials"):
    files = f"'{folder}/{table}/*/*.parquet', hive_partitioning = true, union_by_name = true"
    db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({files})")


def rows(query):
    """The rows, each by the names of its columns."""
    answered = db.sql(query)
    return [dict(zip(answered.columns, row)) for row in answered.fetchall()]


json.dump([rows(query) for query in queries], sys.stdout, default=str)
