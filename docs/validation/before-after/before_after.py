"""Does a change of the program move what it measures? Two programs in turns, in labs of their own:

    python3 before_after.py OLD NEW plan.toml one-router OUT --labs 6 --pairs 4

Each lab is brought up anew; in it the two take turns (old new new old …), each with a server and a
client of its own version. The result of every run stays in OUT, and a run whose result is there is
not made again. Printed for each question: the median over pairs of neighbouring runs of new over old,
for either family and for their ratio, with a 95 % range of that median by order statistics (sign test).

With `--stored PLAN` a run of that plan is made once, by the old program, and the two take turns in showing
it (`--shows` pairs): the processor time of `show` and of `report`. With `--labs 0` nothing else is done.
Needs namespaces and Python's own library.
"""

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

asked = argparse.ArgumentParser()
asked.add_argument("old")
asked.add_argument("new")
asked.add_argument("plan")
asked.add_argument("world")
asked.add_argument("out", type=Path)
asked.add_argument("--labs", type=int, default=6)
asked.add_argument("--pairs", type=int, default=4)
asked.add_argument("--stored")
asked.add_argument("--shows", type=int, default=40)
asked = asked.parse_args()


def run(program, *arguments, data="data", **more):
    home = {**os.environ, "V6GAP_DATA": str((asked.out / data).absolute())}
    return subprocess.run([program, *arguments], env=home, **more)


def values(result):
    """The value of each family for every question that has both."""
    found = {}
    for question in result["questions"]:
        both = [question[family] and question[family]["estimate"] for family in ("v4", "v6")]
        if all(both):
            found[question["cell"], question["metric"]] = both
    return found


def measured(lab, number, which):
    program = getattr(asked, which)
    kept = asked.out / f"lab{lab}-{number:02}-{which}.json"
    if not kept.exists():
        done = run(program, "plan", "run", asked.plan, "--lab", f"ba{lab}", "--json", "--quiet",
                   "--no-report", capture_output=True)
        if not done.stdout:
            print(f"no result of {kept.name}: {done.stderr.decode()[:200]}")
            return None
        kept.write_bytes(done.stdout)
    return values(json.loads(kept.read_text()))


def median_range(sample):
    """The median and the ends of its 95 % range: order statistics of the sign test."""
    ordered, count = sorted(sample), len(sample)
    outside, below = 0.0, 0
    while True:
        outside += math.comb(count, below) * 0.5**count
        if 2 * outside > 0.05:
            break
        below += 1
    if below == 0:
        return statistics.median(sample), -math.inf, math.inf
    return statistics.median(sample), ordered[below - 1], ordered[count - below]


def store():
    """Makes the run that is shown, unless it is there."""
    if (asked.out / "stored").exists():
        return
    run(asked.old, "lab", "up", asked.world, "--name", "ba", capture_output=True)
    run(asked.old, "plan", "run", asked.stored, "--lab", "ba", "--quiet", "--no-report",
        data="stored", stdout=subprocess.DEVNULL)
    run(asked.old, "lab", "down", "--name", "ba", capture_output=True)


def processor_seconds(which, *arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(getattr(asked, which), *arguments, data="stored", check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def shown(*arguments):
    """New over old of what a command takes, in each of the pairs."""
    ratios = []
    for pair in range(asked.shows):
        order = ("old", "new") if pair % 2 == 0 else ("new", "old")
        both = {which: processor_seconds(which, *arguments) for which in order}
        ratios.append(math.log(both["new"] / both["old"]))
    return ratios


def percent(sample):
    median, low, high = (f"{math.expm1(x):+.2%}" for x in median_range(sample))
    return f"{median} ({low} to {high})"


asked.out.mkdir(parents=True, exist_ok=True)
moved = defaultdict(list)
for lab in range(asked.labs):
    run(asked.old, "lab", "up", asked.world, "--name", f"ba{lab}", capture_output=True)
    for pair in range(asked.pairs):
        order = ("old", "new") if pair % 2 == 0 else ("new", "old")
        both = {which: measured(lab, 2 * pair + at, which) for at, which in enumerate(order)}
        if not all(both.values()):
            continue
        for question in both["old"].keys() & both["new"].keys():
            old, new = both["old"][question], both["new"][question]
            each = [math.log(after / before) for before, after in zip(old, new)]
            moved[question].append((*each, each[1] - each[0]))
    run(asked.old, "lab", "down", "--name", f"ba{lab}", capture_output=True)

if asked.labs:
    print("| question | pairs | IPv4, new/old | IPv6, new/old | IPv6 over IPv4, new/old |")
    print("|---|---|---|---|---|")
for (cell, metric), rows in sorted(moved.items()):
    cells = " | ".join(percent(column) for column in zip(*rows))
    print(f"| {cell} {metric} | {len(rows)} | {cells} |")
if asked.stored:
    store()
    print("| command | pairs | processor time, new/old |")
    print("|---|---|---|")
    for command in (("show",), ("report", "-o", "-")):
        print(f"| {' '.join(command)} | {asked.shows} | {percent(shown(*command))} |")
