"""The difference between the families of every question, from the trials of a result.

    v6gap export last --format parquet -o last
    v6gap export last --format json -o last/result.json
    python3 differences.py last

Needs pandas and pyarrow. Prints CSV: what v6gap says, and the same computed here.
"""

import json
import sys

import numpy as np
import pandas as pd

folder = sys.argv[1]
trials = pd.read_parquet(f"{folder}/trials.parquet")
pairs = pd.read_parquet(f"{folder}/pairs.parquet")
with open(f"{folder}/result.json") as file:
    result = json.load(file)

# What counts: trials of blocks that compare the families and passed every gate.
compared = trials[(trials["kind"] == "compare") & trials["block_valid"].eq(True)]


def effects(question):
    """The difference of each pair: the logarithm of the ratio, or the plain difference; where a round
    has several blocks, of ratios their centre and of shares their mean."""
    column = f"values.{question['metric']}"
    of_cell = compared[compared["cell"] == question["cell"]]
    of_block = ["round", "block", "attempt"]
    arms = of_cell.pivot(index=of_block, columns="arm", values=column).dropna()
    ratio = question["effect"]["kind"] == "ratio-1"
    each = np.log(arms["b"] / arms["a"]) if ratio else arms["b"] - arms["a"]
    return each.groupby(level="round").apply(centre if ratio else np.mean)


def centre(d):
    """The median of the means of any two (Hodges and Lehmann)."""
    d = np.asarray(d)
    i, j = np.triu_indices(len(d))
    return np.median((d[i] + d[j]) / 2)


def estimate(effects, question):
    """All pairs together: of ratios their centre, of shares the mean."""
    size = max(question["diagnostics"]["merged"], 1)
    values = effects.to_numpy()
    values = values[: len(values) // size * size].reshape(-1, size).mean(axis=1)
    ratio = question["effect"]["kind"] == "ratio-1"
    return np.expm1(centre(values)) if ratio else values.mean()


rows = []
for question in result["questions"]:
    if question["effect"] is None:
        continue
    found = effects(question)
    same = (pairs["cell"] == question["cell"]) & (pairs["metric"] == question["metric"])
    told = pairs[same & pairs["block_valid"]]["effect"]
    assert np.allclose(found.to_numpy(), told.to_numpy(), rtol=1e-12), question["label"]
    rows.append(
        {
            "cell": question["cell"],
            "metric": question["metric"],
            "pairs": len(found),
            "v6gap": question["effect"]["estimate"],
            "here": estimate(found, question),
            "low": question["effect"]["low"],
            "high": question["effect"]["high"],
            "verdict": question["verdict"],
        }
    )
pd.DataFrame(rows).to_csv(sys.stdout, index=False)
