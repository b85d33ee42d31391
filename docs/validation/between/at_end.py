"""What the adaptive runs of row j would hold with the ranges of their ends (docs/method.md, C.3), from
the lines that programs before these wrote: by the standard error of each run, with Student's t of
eight pairs and the hosts' part.

    python3 at_end.py 2026-11-28.jsonl 2026-11-30.jsonl

The noise of the first eight pairs is taken for that of all. Needs SciPy.
"""

import collections
import json
import math
import statistics
import sys

from scipy import stats

FIRST, LEFT, OF_HOSTS = 8, 0.7, 0.01
# Margins of the plans of row j, as shares.
MARGIN = {"throughput": 0.02, "rtt": 0.05}
# Differences over UDP above these are of a socket on all addresses (2026-11-28).
OLD_SOCKET = {"router": 0.1165, "cable": 0.054, "bridge": 0.054}
# The t sequence of eight pairs of ratios, in standard errors (docs/method.md, C.3).
A = 1 + FIRST
K = (A / (2.7 * 0.05) ** 2) ** (1 / FIRST)
SEQUENCE = math.sqrt((FIRST - 1) * (K - 1) / (1 - K / A))


def at_end(centre, error, pairs, metric):
    """The ends of a range on the logarithm."""
    first = error * math.sqrt(pairs / FIRST)
    quiet = SEQUENCE * first <= math.log1p(MARGIN[metric]) / 4
    half = stats.t.isf(0.025 * (1 if quiet else LEFT), FIRST - 1) * error
    if metric == "throughput":
        return centre - half, centre + half
    k = stats.norm.isf(0.025) * OF_HOSTS
    root = math.hypot(k * centre, math.sqrt(1 - k * k) * half)
    return (centre - root) / (1 - k * k), (centre + root) / (1 - k * k)


cases = collections.defaultdict(list)
for path in sys.argv[1:]:
    with open(path) as lines:
        for run in map(json.loads, lines):
            pairs = {q["cell"]: q["pairs"] for q in run["found"]["questions"]}
            known = (a for a in run["answers"] if "estimate" in a and a["cell"] in pairs)
            for answer in known if "adaptive" in run["case"] else ():
                name = path, run["case"], answer["cell"]
                if answer["cell"] == "rtt-udp-64" and "11-28" in path:
                    old = answer["estimate"] > OLD_SOCKET[run["case"].split("-")[0]]
                    name += ("old socket" if old else "new socket",)
                cases[name].append((answer, pairs[answer["cell"]]))

all_held = all_runs = 0
print("case, runs, held, at the end, p, half-width %, of needed")
for name, answers in sorted(cases.items()):
    runs, estimates = len(answers), [answer["estimate"] for answer, _ in answers]
    held, now, halves = 0, 0, []
    for (answer, pairs), estimate in zip(answers, estimates):
        mean = (sum(estimates) - estimate) / (runs - 1)
        low, high = at_end(estimate, answer["standard_error"], pairs, answer["metric"])
        held += answer["low"] <= mean <= answer["high"]
        now += low <= mean <= high
        halves.append((high - low) / 2)
    within = statistics.median(answer["standard_error"] for answer, _ in answers)
    needed = 1.96 * max(statistics.stdev(estimates), within)
    half = statistics.median(halves)
    all_held, all_runs = all_held + now, all_runs + runs
    p = stats.binom.cdf(now, runs, 0.95)
    print(f"{' '.join(name)}, {runs}, {held}, {now}, {p:.2f}, {100 * half:.3f}, {half / needed:.2f}")
print(f"{all_held} of {all_runs}")
