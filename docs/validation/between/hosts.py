"""How many ranges of row j hold the mean of the other runs of their case, as they were and with what
the hosts' own speed does from run to run (docs/method.md, C.3).

    python3 hosts.py 2026-11-27.jsonl 2026-11-28.jsonl
    python3 hosts.py 2026-11-30.jsonl

Lines of programs before 1c032721 alone: later ones have it in their ranges. Round trips are
taken for 74 µs through the router, and for less than 75 µs in the other worlds, as they were. Over
UDP through the server's old and new socket, which are told apart by what was found.
"""

import collections
import json
import math
import statistics
import sys

SHARE, Z = 0.01, statistics.NormalDist().inv_cdf(0.975)
# Differences over UDP above these are of a socket on all addresses (2026-11-28).
OLD_SOCKET = {"router": 0.1165, "cable": 0.054, "bridge": 0.054}


def with_hosts(low, high):
    centre, half, k = (low + high) / 2, (high - low) / 2, Z * SHARE
    root = math.hypot(k * centre, math.sqrt(1 - k * k) * half)
    return (centre - root) / (1 - k * k), (centre + root) / (1 - k * k)


def at_most(held, runs):
    """The chance of so few, if 95 % are held."""
    ways = (math.comb(runs, i) * 0.95**i * 0.05 ** (runs - i) for i in range(held + 1))
    return min(1.0, sum(ways))


cases = collections.defaultdict(list)
for path in sys.argv[1:]:
    with open(path) as lines:
        for run in map(json.loads, lines):
            for answer in (a for a in run["answers"] if "estimate" in a):
                name = run["case"], answer["cell"]
                if answer["cell"] == "rtt-udp-64":
                    old = answer["estimate"] > OLD_SOCKET[run["case"].split("-")[0]]
                    name += ("old socket" if old else "new socket",)
                cases[name].append(answer)

print("case, runs, held, with the hosts, p, half-width %, with the hosts, of needed")
for name, answers in sorted(cases.items()):
    runs, estimates = len(answers), [a["estimate"] for a in answers]
    held, now, halves, wider = 0, 0, [], []
    for answer, estimate in zip(answers, estimates):
        mean = (sum(estimates) - estimate) / (runs - 1)
        low, high = answer["low"], answer["high"]
        held += low <= mean <= high
        halves.append((high - low) / 2)
        if name[1].startswith("rtt"):
            low, high = with_hosts(low, high)
        now += low <= mean <= high
        wider.append((high - low) / 2)
    within = statistics.median(a["standard_error"] for a in answers)
    needed = 1.96 * max(statistics.stdev(estimates), within)
    half, with_it = (100 * statistics.median(all_) for all_ in (halves, wider))
    print(f"{' '.join(name)}, {runs}, {held}, {now}, {at_most(now, runs):.2f}, "
          f"{half:.3f}, {with_it:.3f}, {with_it / 100 / needed:.2f}")
