"""How many pairs settle a question where a process disturbs some blocks?

    python3 disturbed.py OLD NEW OUT --runs 10

OLD and NEW are two builds of v6gap, run in turn. Both measure round trips in the lab until they know enough, beside a
process that works at random moments, so often that a share of the blocks is disturbed: on the ends' own processor, or,
with `--what traffic`, by sending over the link between two routers that the ends use as well, which no counter of the
ends can see. What is there already in OUT is not measured again. Needs namespaces and Python's own library.
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
asked.add_argument("--what", choices=("work", "traffic"), default="work")
asked.add_argument("--runs", type=int, default=10)
asked.add_argument("--share", type=float, default=0.12)
asked.add_argument("--work", type=float, default=0.03, help="s")
asked.add_argument("--block", type=float, default=0.2, help="s that a block takes")
asked.add_argument("--seed", type=int, default=1)
asked = asked.parse_args()

HERE = Path(__file__).parent
LAB = "disturbed"
# Sends frames of 1500 B at about half of the link's rate for so long at each of the moments that are read.
SENDER = """
import socket, sys, time
to, work = (sys.argv[1], 9), float(sys.argv[2])
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    for _ in sys.stdin:
        begin, sent = time.monotonic(), 0
        while (passed := time.monotonic() - begin) < work:
            if sent < passed * 4000:
                out.sendto(bytes(1472), to)
                sent += 1
            else:
                time.sleep(0.0001)
"""


def moments(chance):
    # A block is disturbed if work begins in it or went on when it began.
    rate = -math.log1p(-asked.share) / (asked.block + asked.work)
    while True:
        time.sleep(chance.expovariate(rate))
        yield


def disturb(seed, command):
    if command is None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        for _ in moments(random.Random(seed)):
            until = time.monotonic() + asked.work
            while time.monotonic() < until:
                pass
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, bufsize=1) as sender:
        for _ in moments(random.Random(seed)):
            print(file=sender.stdin)
            time.sleep(asked.work)


def run(*command):
    home = {**os.environ, "V6GAP_DATA": str((asked.out / "data").absolute())}
    return subprocess.run(command, env=home, capture_output=True, text=True)


def beside(seed, program, plan, sender=None):
    """What a plan says beside a process that disturbs it."""
    other = multiprocessing.Process(target=disturb, args=(seed, sender))
    other.start()
    try:
        return run(program, "plan", "run", str(plan), "--json", "--quiet", "--no-report",
                   *(("--lab", LAB) if sender else ()))
    finally:
        other.terminate()


def in_traffic(seed, program):
    up = run(program, "lab", "up", str(HERE / "traffic.toml"), "--name", LAB)
    if up.returncode:
        raise SystemExit(up.stderr)
    try:
        nodes = json.loads(run(program, "lab", "status", "--name", LAB, "--json").stdout)["nodes"]
        right = next(node["addresses"]["v4"] for node in nodes if node["name"] == "right")
        sender = [program, "lab", "exec", "--name", LAB, "left", "--", "python3", "-c", SENDER, right, str(asked.work)]
        return beside(seed, program, HERE / "in-traffic.toml", sender)
    finally:
        run(program, "lab", "down", "--name", LAB)


def measured(program, name, number):
    kept = asked.out / f"{name}-{number:02}.json"
    if not kept.exists():
        seed = asked.seed + number
        done = in_traffic(seed, program) if asked.what == "traffic" else beside(seed, program, HERE / "disturbed.toml")
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
