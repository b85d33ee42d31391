"""How many pairs settle a question where a process disturbs some blocks?

    python3 disturbed.py OLD NEW OUT --runs 10

OLD and NEW are two builds of v6gap, run in turn. Both measure round trips in the lab until they know enough, with a
process on the ends' processor that works for some milliseconds at random moments, so often that a share of the blocks
is disturbed. What is there already in OUT is not measured again. Needs namespaces and Python's own library.
"""

import argparse
import json
import math
import multiprocessing
import os
import random
import statistics
import subprocess
import time
from pathlib import Path

asked = argparse.ArgumentParser()
asked.add_argument("old")
asked.add_argument("new")
asked.add_argument("out", type=Path)
asked.add_argument("--runs", type=int, default=10)
asked.add_argument("--share", type=float, default=0.12)
asked.add_argument("--work", type=float, default=0.03, help="s")
asked.add_argument("--block", type=float, default=0.2, help="s that a block takes")
asked.add_argument("--seed", type=int, default=1)
asked = asked.parse_args()

PLAN = Path(__file__).parent / "disturbed.toml"


def disturb(seed):
    chance = random.Random(seed)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    # A block is disturbed if work begins in it or went on when it began.
    rate = -math.log1p(-asked.share) / (asked.block + asked.work)
    while True:
        time.sleep(chance.expovariate(rate))
        until = time.monotonic() + asked.work
        while time.monotonic() < until:
            pass


def measured(program, name, number):
    kept = asked.out / f"{name}-{number:02}.json"
    if not kept.exists():
        home = {**os.environ, "V6GAP_DATA": str((asked.out / "data").absolute())}
        command = [program, "plan", "run", str(PLAN), "--json", "--quiet", "--no-report"]
        other = multiprocessing.Process(target=disturb, args=(asked.seed + number,), daemon=True)
        other.start()
        done = subprocess.run(command, env=home, capture_output=True, text=True)
        other.terminate()
        if not done.stdout:
            raise SystemExit(done.stderr)
        kept.write_text(done.stdout)
    return json.loads(kept.read_text())


def main():
    asked.out.mkdir(parents=True, exist_ok=True)
    pairs = {"old": [], "new": []}
    for number in range(asked.runs):
        for name, program in (("old", asked.old), ("new", asked.new))[:: 1 - 2 * (number % 2)]:
            question = measured(program, name, number)["questions"][0]
            settled = question["verdict"] not in ("inconclusive", "none")
            effect = question["effect"] or {"pairs": 0, "low": math.nan, "high": math.nan}
            print(f"{name} {number:2}: {effect['pairs']} pairs, {100 * effect['low']:.2f} to "
                  f"{100 * effect['high']:.2f} %: {question['verdict']}", flush=True)
            # One that is left open took at least so many.
            pairs[name].append((effect["pairs"], settled))
    for name, all_of in pairs.items():
        numbers = sorted(count for count, _ in all_of)
        open_left = sum(not settled for _, settled in all_of)
        print(f"{name}: median {statistics.median(numbers)} pairs, {numbers[0]} to {numbers[-1]}; {open_left} left open")
    median = {name: statistics.median(count for count, _ in all_of) for name, all_of in pairs.items()}
    print(f"new/old: {median['new'] / median['old']:.2f}")


main()
