"""What runs answered, from the archive, and the ranges computed again from its pairs, by DuckDB.

    v6gap index archive
    python3 archive.py ARCHIVE

ARCHIVE is the folder `archive` beside the results. Needs duckdb alone. Prints CSV: what v6gap says
of each question and, where its range is made of ranks, the same computed here on the scale of
single effects.
"""

import csv
import math
import statistics
import sys

import duckdb

folder = sys.argv[1].replace("'", "''")
db = duckdb.connect()
for table, more in (("answers", ""), ("pairs", ", union_by_name = true")):
    files = f"'{folder}/{table}/*/*.parquet', hive_partitioning = true{more}"
    db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({files})")

# Ranges of ratios are made of ranks where the number of pairs was fixed before (method, C). `n` is
# the number of values: pairs, or means of neighbours where those are alike.
db.execute(
    """
    CREATE TABLE ranked AS
    SELECT run, cell, metric, merged, together, pairs // merged AS n
    FROM (SELECT *, count(effect) OVER (PARTITION BY run) AS questions FROM answers)
    WHERE stop = 'pairs' AND effect_kind = 'ratio-1' AND effect IS NOT NULL
      AND pow(2, 1 - pairs // merged) * questions <= 0.05 AND pairs // merged <= 60
    """
)


def rank(n, alpha):
    """How many sums of signed ranks, from the smallest on, are together as unlikely as alpha / 2:
    so far from the ends of the ordered means of any two values are those of the range."""
    ways = [1]
    for step in range(1, n + 1):
        ways = [a + b for a, b in zip(ways + [0] * step, [0] * step + ways)]
    below, count = 0, 0
    while below + ways[count] <= alpha / 2 * 2**n:
        below, count = below + ways[count], count + 1
    return count


db.execute("CREATE TABLE ranks (n BIGINT, together BIGINT, rank95 BIGINT, rank90 BIGINT)")
for n, together in db.sql("SELECT DISTINCT n, together FROM ranked").fetchall():
    ranks = [rank(n, 0.05 / together), rank(n, 0.10 / together)]
    db.execute("INSERT INTO ranks VALUES (?, ?, ?, ?)", [n, together, *ranks])

computed = db.sql(
    """
    WITH numbered AS (
        SELECT run, cell, metric, effect,
               row_number() OVER (PARTITION BY run, cell, metric ORDER BY block) - 1 AS number
        FROM pairs WHERE block_valid
    ), units AS (
        SELECT run, cell, metric, number // merged AS unit, avg(effect ORDER BY number) AS effect
        FROM numbered JOIN ranked USING (run, cell, metric)
        WHERE number // merged < n
        GROUP BY ALL
    ), halves AS (
        SELECT run, cell, metric, 0.5::DOUBLE * a.effect + 0.5::DOUBLE * b.effect AS half
        FROM units AS a JOIN units AS b USING (run, cell, metric)
        WHERE a.unit <= b.unit
    ), placed AS (
        SELECT *, row_number() OVER (PARTITION BY run, cell, metric ORDER BY half) AS nth,
               count(*) OVER (PARTITION BY run, cell, metric) AS halves
        FROM halves
    ), ranges AS (
        SELECT run, cell, metric,
               0.5::DOUBLE * max(half) FILTER (WHERE nth = (halves + 1) // 2)
               + 0.5::DOUBLE * max(half) FILTER (WHERE nth = halves // 2 + 1) AS centre_here,
               max(half) FILTER (WHERE nth = rank95) AS low95_here,
               max(half) FILTER (WHERE nth = halves + 1 - rank95) AS high95_here,
               max(half) FILTER (WHERE nth = rank90) AS low90_here,
               max(half) FILTER (WHERE nth = halves + 1 - rank90) AS high90_here
        FROM placed JOIN ranked USING (run, cell, metric) JOIN ranks USING (n, together)
        GROUP BY run, cell, metric
    )
    SELECT run, target, cell, metric, unit, value_a, value_b, together, pairs, effect, low95,
           high95, low90, high90, sd, standard_error, margin, verdict,
           centre_here, low95_here, high95_here, low90_here, high90_here
    FROM answers LEFT JOIN ranges USING (run, cell, metric)
    ORDER BY started_unix_ns, run, cell, metric
    """
)

rows = [dict(zip(computed.columns, row)) for row in computed.fetchall()]


def with_hosts(row, name, alpha):
    """An end of a range of times with what the hosts' own speed does from run to run: all x that are
    no farther from the centre than their half-width and a share of x, in quadrature (method, C.3)."""
    end, centre, values = row[f"{name}_here"], row["centre_here"], (row["value_a"], row["value_b"])
    is_time = row["unit"] == "s" and row["metric"] not in ("ipdv", "pdv", "frame-lateness")
    if end is None or end == centre or not is_time or None in values or min(values) <= 0:
        return end
    share = 0.01 * min(1, 300e-6 / min(values))
    of = share * statistics.NormalDist().inv_cdf(1 - alpha / row["together"] / 2)
    rest = 1 - of * of
    root = math.hypot(of * centre, math.sqrt(rest) * (end - centre))
    return (centre + math.copysign(root, end - centre)) / rest


for row in rows:
    ends = ("low95", 0.05), ("high95", 0.05), ("low90", 0.10), ("high90", 0.10)
    row |= {f"{name}_here": with_hosts(row, name, alpha) for name, alpha in ends}
names = ("centre", "effect"), ("low95",) * 2, ("high95",) * 2, ("low90",) * 2, ("high90",) * 2
for row in rows:
    for here, told in names:
        value = row[f"{here}_here"]
        # Programs round the exponential function each in its own way.
        assert value is None or math.isclose(math.expm1(value), row[told], rel_tol=1e-12), row
table = csv.DictWriter(sys.stdout, computed.columns)
table.writeheader()
table.writerows(rows)
