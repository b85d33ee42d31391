"""Do ranges on a bare cable hold what depends on the instrument's own choices?

    python3 cable.py V6GAP OUT --runs 20 --lengths 40

A virtual cable has no rate of its own, so that writes, segments and processors decide what TCP gets. Ranges of
`v6gap plan run`, which draws all three, should hold what two others find: v6gap itself with segments of 1400 B for
both families, and iperf3 with lengths of writes and processors drawn as v6gap draws them and its
congestion control, IPv4 and IPv6 in turn. What is there already in OUT is not measured
again. Needs namespaces, iperf3, ip (iproute2) and Python's own library.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import time
from pathlib import Path

asked = argparse.ArgumentParser()
asked.add_argument("program")
asked.add_argument("out", type=Path)
asked.add_argument("--runs", type=int, default=20)
asked.add_argument("--references", type=int, default=6)
asked.add_argument("--lengths", type=int, default=40)
asked.add_argument("--seed", type=int, default=1)
asked = asked.parse_args()

WORLD = Path(__file__).parent / "cable.toml"
PLAN = 'v6gap = 1\nname = "Cable"\n[lab]\nworld = "{world}"\n[[measure]]\nmetric = "throughput"\n{more}'
LENGTHS = (32 << 10, 256 << 10)  # Bytes of a write, as v6gap draws them
CONGESTION = "cubic"  # As v6gap has it in a lab, whatever the system's is
PORT = 5201


def run(*arguments, **more):
    home = {**os.environ, "V6GAP_DATA": str((asked.out / "data").absolute())}
    return subprocess.run([asked.program, *arguments], env=home, capture_output=True, text=True, **more)


def results(name, count, more):
    """The questions of `count` runs of a plan."""
    plan = asked.out / f"{name}.toml"
    plan.write_text(PLAN.format(world=WORLD.absolute(), more=more))
    for number in range(count):
        kept = asked.out / f"{name}-{number:02}.json"
        if not kept.exists():
            done = run("plan", "run", str(plan), "--json", "--quiet", "--no-report")
            if not done.stdout:
                print(f"no result of {kept.name}: {done.stderr[:200]}")
                continue
            kept.write_text(done.stdout)
        yield json.loads(kept.read_text())["questions"][0]


def inside(node, *command):
    return [asked.program, "lab", "exec", "--name", "cable", node, "--", *command]


def have_congestion():
    """Gives the client's routes a lab's congestion control. iperf3's own --congestion comes when it is connected already,
    and who began with BBR is paced for good, so that it gets half as much."""
    for family in "-4", "-6":
        listed = subprocess.run(inside("client", "ip", family, "route"), capture_output=True, text=True, check=True)
        for route in listed.stdout.splitlines():
            if not route.startswith("fe80"):
                words = route.split(" pref")[0].split()
                subprocess.run(inside("client", "ip", family, "route", "replace", *words, "congctl", "lock", CONGESTION),
                               check=True)


def iperf3(address, length, processor):
    """Mbit/s that iperf3's receiver counts in a second, both ends on one processor, with a lab's congestion control."""
    pinned = ["taskset", "-c", str(processor), "iperf3", "--port", str(PORT)]
    with subprocess.Popen(inside("server", *pinned, "--server", "--one-off"), stdout=subprocess.PIPE,
                          text=True) as server:
        # What it says first stays in its buffer, so that it is not waited for.
        for _ in range(50):
            client = [*pinned, "--client", address, "--json", "--time", "1", "--omit", "1", "--length", str(length)]
            done = subprocess.run(inside("client", *client), capture_output=True, text=True)
            told = json.loads(done.stdout or "{}")
            if "error" not in told:
                break
            time.sleep(0.05)
        server.stdout.read()
    assert told["end"]["sender_tcp_congestion"] == CONGESTION, told["end"]
    return told["end"]["sum_received"]["bits_per_second"] / 1e6


def differences():
    """ln(IPv6/IPv4) of iperf3 for each length drawn, of which every call draws others."""
    kept = asked.out / "iperf3.json"
    found = json.loads(kept.read_text()) if kept.exists() else []
    if len(found) < asked.lengths:
        run("lab", "up", str(WORLD), "--name", "cable", check=True)
        told = json.loads(run("lab", "status", "--name", "cable", "--json", check=True).stdout)
        addresses = next(node["addresses"] for node in told["nodes"] if node["name"] == "server")
        try:
            have_congestion()
            while len(found) < asked.lengths:
                chance = random.Random(f"{asked.seed} {len(found)}")
                length = round(math.exp(chance.uniform(*map(math.log, LENGTHS))))
                processor = chance.choice(sorted(os.sched_getaffinity(0)))
                order = chance.sample(["v4", "v6"], 2)
                rates = {family: iperf3(addresses[family], length, processor) for family in order}
                found.append({"length": length, "processor": processor, **rates})
                kept.write_text(json.dumps(found))
        finally:
            run("lab", "down", "--name", "cable")
    return [math.log(each["v6"] / each["v4"]) for each in found]


def centre(values):
    """The centre of the values after Hodges and Lehmann, as v6gap takes it of its pairs, with the ends of its 95 % range."""
    n = len(values)
    walsh = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
    beyond = max(0, math.floor(n * (n + 1) / 4 - 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)))
    return statistics.median(walsh), walsh[beyond], walsh[-1 - beyond]


def main():
    asked.out.mkdir(parents=True, exist_ok=True)
    drawn = list(results("drawn", asked.runs, ""))
    equal = list(results("equal", asked.references, 'mss = "1400 B"\n'))
    peer = differences()
    percent = lambda ln: f"{100 * math.expm1(ln):+.2f} %"
    mean, spread = statistics.fmean(peer), statistics.stdev(peer)
    middle, least, most = centre(peer)
    same = statistics.fmean(math.log1p(q["effect"]["estimate"]) for q in equal)
    error = 1.96 * spread / math.sqrt(len(peer))
    print(f"iperf3, {len(peer)} lengths and processors: mean {percent(mean)} ({percent(mean - error)} to "
          f"{percent(mean + error)}), centre {percent(middle)} ({percent(least)} to {percent(most)}), "
          f"SD {100 * spread:.2f} %")
    print(f"v6gap with 1400 B segments, {len(equal)} runs: mean {percent(same)}")
    held = {"iperf3's mean": 0, "iperf3's centre": 0, "equal segments": 0, "equal segments and iperf3's centre": 0}
    halves = []
    for question in drawn:
        effect = question["effect"]
        low, high = (math.log1p(effect[end]) for end in ("low", "high"))
        halves.append((high - low) / 2)
        of_mean, of_centre, of_same = (low <= found <= high for found in (mean, middle, same))
        for name, yes in zip(held, (of_mean, of_centre, of_same, of_same and of_centre)):
            held[name] += yes
        print(f"  {percent(low)} to {percent(high)}: {question['verdict']}")
    print(f"of {len(drawn)} ranges hold: {held}; half-width, median {100 * statistics.median(halves):.2f} %, "
          f"of the spread over choices (1.96 SD) {statistics.median(halves) / (1.96 * spread):.2f}")


main()
