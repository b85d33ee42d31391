"""Makes changes.json, the series of tests/changes.rs with the changes that Apache Otava finds:

    pip install numpy==2.2.0 apache-otava==0.8.0 && python make_changes.py > changes.json

Otava finds changes by energy distances within windows and keeps those that a t test confirms
(Fleming and others, "Hunter", ICPE 2023; Matteson and James 2014): nothing that the crate does.
Values are in thousandths of their standard deviation.
"""
import importlib.metadata
import json

import numpy as np
from otava.analysis import compute_change_points

LENGTH = 160
# Asked for no more often than the crate: one in ten thousand.
P_MAX = 1e-4
SIZES = [0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 8, 8]


def made(rng, size, back):
    """A series that changes by `size` between a third and two thirds, and `back` where it does."""
    values = rng.normal(size=LENGTH)
    first = int(rng.integers(LENGTH // 3, LENGTH // 2))
    last = first + LENGTH // 4 if back else LENGTH
    values[first:last] += size * rng.choice((-1, 1))
    return np.round(1000 * values).astype(int)


def main():
    rng = np.random.default_rng(20261127)
    cases = []
    for back in (False, True):
        for size in SIZES:
            values = made(rng, size, back)
            points, _ = compute_change_points((values / 1000).tolist(), max_pvalue=P_MAX)
            cases.append({
                "name": f"{size} sd{' and back' if back else ''}, {len(cases)}",
                "thousandths": values.tolist(),
                "otava": [int(point.index) for point in points],
            })
    version = importlib.metadata.version("apache-otava")
    print('{\n "provenance": "make_changes.py with apache-otava %s",\n "series": [' % version)
    print(",\n".join("  " + json.dumps(case, separators=(",", ":")) for case in cases))
    print(" ]\n}")


main()
