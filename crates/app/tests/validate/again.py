"""Computes the answers of a stored run again, by other means than the program: distributions and
root finder of SciPy in place of closed forms, from what `v6gap export` gives.

    python3 again.py RESULT.json TRIALS.csv

The formulas are those of docs/method.md, parts C and D. Exits with 1 if a figure is off by more
than 1e-6 of it (or of 1e-3 where it is smaller), or a verdict differs.
"""

import csv
import json
import math
import sys

import numpy as np
from scipy import optimize, stats

TOLERANCE = 1e-6
BLOCKS_MIN = 6
NULLS_MIN = 4
BATCHES_MIN = 6
SKEWNESS_MAX = 1.0
BURST_MAX = 500
SCORES_MIN = 12
LOOKS_MIN = 8
# Values up to which the law of signed ranks is counted.
EXACT_LIMIT = 60
BETS = np.array([0.25, 0.5, 0.75, 0.95])
# What a rate is multiplied with, since nobody looks before the first few values.
ALL_LOOKS, FIRST_LOOKS = 1.5, 2.7
ALPHA = 0.05
# Of null blocks: error rates of a bias and of "agrees", and the power of "would have been seen".
NULL_ALPHA, AGREES_ALPHA, NULL_POWER = 0.01, 0.05, 0.9
# Part of an error rate that is left where the estimate had a part in when a run ended.
LEFT = 0.7
# What hosts take for an exchange: its uncertainty from run to run as a share, and at most, in s.
OF_HOSTS, HOSTS_S = 0.01, 300e-6


def main(result_path, trials_path):
    with open(result_path) as file:
        result = json.load(file)
    csv.field_size_limit(1 << 30)
    with open(trials_path, newline="") as file:
        trials = list(csv.DictReader(file))
    levels = {}
    for question in result["questions"]:
        levels.setdefault(group(question), []).append(question)
    checked, every = Checked(), {}
    for questions in levels.values():
        combined = [combine(q, result, trials) for q in questions]
        pure = [c is not None and q["effect"] is not None for q, c in zip(questions, combined)]
        different = holm([c["p_different"] if c else 1.0 for c in combined])
        same = holm([c["p_same"] if c else 1.0 for c in combined])
        for question, found, p, p_same in zip(questions, combined, different, same):
            if found is None or question["effect"] is None:
                continue
            name = f"{question['cell']} {question['metric']}"
            every[question["cell"], question["metric"]] = found["p_different"]
            for key, value in shown(question, found).items():
                checked.figure(f"{name} {key}", question["effect"][key], value)
            beside, mean = question["mean"], found["mean"]
            checked.verdict(f"{name} mean beside", bool(beside), bool(mean))
            if beside and mean:
                show = lambda x: math.expm1(x) if question["effect"]["kind"] == "ratio-1" else x
                checked.figure(f"{name} mean", beside["estimate"], show(mean["centre"]))
                for key, name_of in (("i95", "range95"), ("i90", "range90")):
                    for end, value in zip(("low", "high"), mean[key]):
                        checked.figure(f"{name} mean {end}", beside[name_of][end], show(value))
            told = question["diagnostics"]
            for key in ("p_different", "p_same", "lag1"):
                checked.figure(f"{name} {key}", told[key], found[key])
            if all(pure):
                checked.figure(f"{name} p_different_adjusted", told["p_different_adjusted"], p)
                checked.figure(f"{name} p_same_adjusted", told["p_same_adjusted"], p_same)
                checked.verdict(name, question["verdict"], rule(question, found, p, p_same))
    p = [every.get((q["cell"], q["metric"])) for q in result["questions"]]
    # Corrected over all questions of the run, where each of them is known here.
    for question, value in zip(result["questions"], [] if None in p else holm(p)):
        name = f"{question['cell']} {question['metric']} p_different_run"
        checked.figure(name, question["diagnostics"]["p_different_run"], value)
    for found in result["sensitivity"]:
        sensitivity(found, result, trials, checked)
    for question in result["questions"]:
        agreement(question, result, trials, checked)
        budget(question, result, checked)
        predicted(question, checked)
    for name in ("failures", "discards"):
        for found in filter(None, (result[name], (result[name] or {}).get("exchanges"))):
            counted(name, found, checked)
    for line in checked.off:
        print(line)
    print(f"{checked.figures} figures, largest deviation {checked.worst:.1e}")
    return 1 if checked.off or checked.figures == 0 else 0


class Checked:
    """What agrees and what does not."""

    def __init__(self):
        self.off, self.worst, self.figures = [], 0.0, 0

    def figure(self, name, told, value):
        if told is None or not math.isfinite(value):
            # Ends without bound have no figure.
            agrees = (told is None or told == -1.0) and (not math.isfinite(value) or value == -1.0)
            deviation = 0.0 if agrees else math.inf
        else:
            deviation = abs(told - value) / max(abs(value), 1e-3)
        self.figures += 1
        self.worst = max(self.worst, deviation)
        if deviation > TOLERANCE:
            self.off.append(f"{name}: {told}, here {value}")

    def share(self, name, told, value, draws):
        """A share of all orders against one of so many random ones."""
        error = 5 * math.sqrt(value * (1 - value) / draws) + 5 / draws
        self.figures += 1
        if abs(told - value) > error:
            self.off.append(f"{name}: {told}, here {value} of {draws}")

    def verdict(self, name, told, verdict):
        if told == "none":
            return
        self.figures += 1
        if told != verdict:
            self.off.append(f"{name}: {told}, here {verdict}")


def group(question):
    return question["metric"], question["protocol"]


def is_ratio(question):
    return question["effect"] and question["effect"]["kind"] == "ratio-1"


def blocks(question, trials, wanted):
    """Round and effect of each valid block: logarithm of the ratio, or difference."""
    column = f"values.{question['metric']}"
    arms, rounds = {}, {}
    for trial in trials:
        used = trial["cell"] == question["cell"] and trial["block_valid"] == "true"
        if used and wanted(trial) and trial.get(column):
            key = trial["block"], trial["attempt"]
            arms.setdefault(key, {})[trial["arm"]] = float(trial[column])
            rounds[key] = trial["round"]
    ratio = is_ratio(question)
    effect = lambda arm: math.log(arm["b"] / arm["a"]) if ratio else arm["b"] - arm["a"]
    return [(rounds[key], effect(arm)) for key, arm in arms.items() if len(arm) == 2]


def effects(question, trials, wanted):
    """The effect of each valid block."""
    return np.array([d for _, d in blocks(question, trials, wanted)])


def pairs(question, trials):
    """What the comparing blocks of each round say together."""
    of_round = {}
    for number, d in blocks(question, trials, is_compare):
        of_round.setdefault(number, []).append(d)
    return np.array([together(question, np.array(d)) for d in of_round.values()])


def together(question, d):
    """Of ratios the centre, of shares the mean."""
    return walsh(d)[1] if is_ratio(question) else float(np.mean(d))


def single(question, x):
    """A figure as it is told, on the scale of the effects."""
    return math.log1p(x) if question["effect"]["kind"] == "ratio-1" else x


def told(question, x):
    """The inverse."""
    return math.expm1(x) if question["effect"]["kind"] == "ratio-1" else x


def agreement(question, result, trials, checked):
    """Each family against itself: means apart, noise together, but of shares by itself."""
    own = [n for n in result["nulls"]
           if (n["cell"], n["metric"]) == (question["cell"], question["metric"])]
    if question["effect"] is None or not own:
        return
    names = {"v4": "null IPv4", "v6": "null IPv6"}
    of = lambda n: effects(question, trials, lambda trial: trial["kind"] == names[n["family"]])
    groups = [of(n) for n in own]
    more = []
    if is_ratio(question) or sum(map(len, groups)) < NULLS_MIN:
        # The first comparing block of each round says more of the noise.
        first = {}
        for number, d in blocks(question, trials, is_compare):
            first.setdefault(number, d)
        more = [np.array(list(first.values()))] if len(first) >= BLOCKS_MIN else []
    alpha = NULL_ALPHA / (len(result["questions"]) * len(own))
    for n, d in zip(own, groups):
        noisy = (groups if is_ratio(question) else [d]) + more
        freedom = sum(len(group) - 1 for group in noisy)
        squares = sum(np.sum((group - group.mean()) ** 2) for group in noisy)
        sd = math.sqrt(squares / freedom) if freedom else 0.0
        # Blocks that saw nothing say little of what may come in bursts.
        freedom = freedom if is_ratio(question) or sd > 0 else 0
        t = lambda tail: stats.t.ppf(1 - tail, freedom) if freedom else math.inf
        name = f"{n['cell']} {n['metric']} {n['family']} null"
        error = sd / math.sqrt(len(d))
        strict, usual = ((t(a / 2) * error if freedom else math.inf)
                         for a in (alpha, 2 * AGREES_ALPHA))
        seen = (t(alpha / 2) + t(1 - NULL_POWER)) * error if freedom else math.inf
        checked.figure(f"{name} estimate", n["estimate"], told(question, d.mean()))
        checked.figure(f"{name} low", n["range"]["low"], told(question, d.mean() - strict))
        checked.figure(f"{name} high", n["range"]["high"], told(question, d.mean() + strict))
        checked.figure(f"{name} within", n["within"], told(question, abs(d.mean()) + usual))
        checked.figure(f"{name} seen_from", n["seen_from"], told(question, seen))


def counted(name, found, checked):
    """What happens to one family more often: the exact sign test and the range of the share."""
    a, b = found["more"]["a"], found["more"]["b"]
    p = stats.binomtest(b, a + b).pvalue if a + b else 1.0
    checked.figure(f"{name} p", found["p"], p)
    low = stats.beta.ppf(0.025, b, a + 1) if b else 0.0
    high = stats.beta.ppf(0.975, b + 1, a) if a else 1.0
    checked.figure(f"{name} low", found["range"]["low"], low)
    checked.figure(f"{name} high", found["range"]["high"], high)
    worse = "inconclusive" if p > ALPHA else "worse" if b > a else "better"
    checked.verdict(name, found["verdict"], worse)


def budget(question, result, checked):
    """What null blocks say of the instrument, and all known sources together."""
    found = question["uncertainty"]
    if not found:
        return
    name = f"{question['cell']} {question['metric']} uncertainty"
    by = {part["source"]: part["standard"] for part in found["parts"]}
    combined = math.sqrt(sum(standard**2 for standard in by.values()))
    checked.figure(f"{name} combined", found["combined"], combined)
    checked.figure(f"{name} expanded", found["expanded"], 2 * combined)
    if "hosts" in by:
        hosts = of_hosts(question) * abs(single(question, question["effect"]["estimate"]))
        checked.figure(f"{name} hosts", by["hosts"], hosts)
    own = [n for n in result["nulls"]
           if (n["cell"], n["metric"]) == (question["cell"], question["metric"])]
    # Where blocks are too few to know their noise, nothing is known of it.
    own = [null for null in own if null["seen_from"] is not None]
    if own and "instrument" in by:
        n = sum(null["blocks"] for null in own)
        bias = sum(null["blocks"] * single(question, null["estimate"]) for null in own) / n
        squares = sum(null["blocks"] * null["sd"] ** 2 for null in own)
        checked.figure(f"{name} instrument", by["instrument"],
                       math.hypot(bias, math.sqrt(squares) / n))


def predicted(question, checked):
    """What the prediction leaves, and what part of the effect it is."""
    by, effect = question["predicted"], question["effect"]
    if by is None or effect is None:
        return
    name = f"{question['cell']} {question['metric']}"
    left = math.expm1(math.log1p(effect["estimate"]) - math.log1p(by))
    checked.figure(f"{name} residual", question["residual"]["estimate"], left)
    share, ends = question["predicted_share"], (effect["low"], effect["high"])
    if share and None not in ends and -1.0 not in ends:
        k, c = stats.norm.isf(0.025 / effect["together"]) * of_hosts(question), effect["estimate"]
        c, ends = math.log1p(c), [math.log1p(end) for end in ends]
        # The blocks' own.
        ends = [c + math.copysign(math.sqrt((c - x) ** 2 - (k * x) ** 2), x - c) for x in ends]
        parts = sorted(math.log1p(by) / end for end in ends)
        for end, value in zip(("low", "high"), parts):
            checked.figure(f"{name} share {end}", share[end], value)


def sensitivity(found, result, trials, checked):
    """How a difference goes with what was drawn: tests by permutation."""
    same = lambda q: (q["cell"], q["metric"]) == (found["cell"], found["metric"])
    question = next(filter(same, result["questions"]))
    if question["effect"] is None:
        return
    column = CHOSEN[found["to"]]
    drawn = lambda trial: is_compare(trial) and bool(trial.get(column))
    d, chosen, rounds = effects(question, trials, drawn), {}, {}
    for trial in trials:
        if trial["cell"] == found["cell"] and trial["block_valid"] == "true" and drawn(trial):
            key = trial["block"], trial["attempt"]
            chosen.setdefault(key, float(trial[column]))
            rounds[key] = trial["round"]
    x, rounds = np.array(list(chosen.values())), list(rounds.values())
    segment = found.get("segment_bytes")
    if segment:
        x = (x % segment) / segment
    if found["to"].endswith("processor"):
        each = sorted(set(rounds), key=rounds.index)
        of_round = lambda v: [v[np.array(rounds) == r] for r in each]
        d = np.array([together(question, blocks) for blocks in of_round(d)])
        x = np.array([np.mean(blocks) for blocks in of_round(x)])
        p = [by_permutation(kruskal(x), d)]
    elif segment:
        p = [by_permutation(neighbours(x, True), d)]
    else:
        p = [by_permutation(test, d) for test in (spearman(x), neighbours(x, False))]
    name = f"{found['cell']} {found['metric']} by {found['to']}"
    # The smaller one counts as often as there are tests.
    told, value = found["p"] / len(p), min(1 / len(p), min(p))
    if len(d) <= 8:
        checked.figure(f"{name} p", told, value)
    else:
        checked.share(f"{name} p", told, value, 9_999)
    show = lambda v: math.expm1(v) if question["effect"]["kind"] == "ratio-1" else v
    order, count = np.argsort(x, kind="stable"), len(found["parts"])
    for number, part in enumerate(found["parts"]):
        if found["to"].endswith("processor"):
            own = d[x == part["chosen"][0]]
        else:
            # Of draws that are alike the earlier ones come first.
            own = d[order[number * len(d) // count:(number + 1) * len(d) // count]]
        checked.figure(f"{name} part", part["effect"], show(own.mean()))
        if len(own) > 1:
            half = stats.t.ppf(0.975, len(own) - 1) * stats.sem(own)
            for end, value in (("low", own.mean() - half), ("high", own.mean() + half)):
                checked.figure(f"{name} part {end}", part["range"][end], show(value))


CHOSEN = {
    "writes": "drawn.write_bytes",
    "reads": "drawn.read_bytes",
    "first-segments": "drawn.write_bytes",
    "second-segments": "drawn.write_bytes",
    "client-processor": "ends.client.processor",
    "server-processor": "ends.server.processor",
}


def spearman(x):
    centred = stats.rankdata(x) - (len(x) + 1) / 2
    return lambda ranks, axis: np.abs(np.sum(centred * ranks, axis=axis))


def neighbours(x, around):
    order = np.argsort(x, kind="stable")

    def alike(ranks, axis):
        sorted_by_x = np.take(ranks, order, axis=-1)
        apart = np.sum(np.diff(sorted_by_x, axis=-1) ** 2, axis=-1)
        if around:
            apart = apart + (sorted_by_x[..., 0] - sorted_by_x[..., -1]) ** 2
        return -apart

    return alike


def kruskal(x):
    def between(ranks, axis):
        centred = ranks - ranks.mean(axis=-1, keepdims=True)
        own = [centred[..., x == value] for value in np.unique(x)]
        return np.round(sum(part.sum(axis=-1) ** 2 / part.shape[-1] for part in own), 9)

    return between


def by_permutation(statistic, d):
    draws = math.inf if len(d) <= 8 else 99_999
    return float(stats.permutation_test(
        (stats.rankdata(d),), statistic, permutation_type="pairings", vectorized=True,
        n_resamples=draws, alternative="greater", rng=np.random.default_rng(1),
    ).pvalue)


def is_compare(trial):
    return trial["kind"] == "compare"


def nulls(question, result, trials):
    """Effects of the null blocks before the first comparison, its own or of the first like cell."""
    for other in [question] + result["questions"]:
        if group(other) == group(question):
            d = effects(other, trials, lambda t: not is_compare(t) and t["round"] == "0")
            if len(d) >= NULLS_MIN:
                return d
    return np.array([])


def combine(question, result, trials):
    """All blocks together; nothing where neighbours were merged, which is not done again here."""
    d = pairs(question, trials)
    if len(d) < 2 or question["diagnostics"]["merged"] > 1:
        return None
    margin = margin_of(question)
    asked = sum(other["effect"] is not None for other in result["questions"])
    told = question["effect"]["validity"] if question["effect"] else "any-time"
    fixed = told == "fixed-number"
    together = question["effect"]["together"] if question["effect"] else 1
    ratio = is_ratio(question)
    left = 1.0 if told == "any-time" or quiet(question, result, trials) else LEFT
    least = 2.0 ** (1 - len(d)) * asked > ALPHA * (1.0 if fixed else left)
    few = least if fixed else len(d) < SCORES_MIN or (told == "at-end" and least)
    end = at_end(d, margin, left) if told == "at-end" else lambda look: look
    by_mean = lambda looks: (sequence_mean(d, margin, looks) if told == "any-time"
                             else end(fixed_mean(d, margin)))
    beside = None
    if not ratio:
        law = by_mean(ALL_LOOKS)
    elif few:
        law = {**by_mean(FIRST_LOOKS), "centre": walsh(d)[1]}
    else:
        before = nulls(question, result, trials)
        law = scored(d, before, margin) if told == "any-time" else end(signed_ranks(d, margin))
        mean, (low, high) = by_mean(ALL_LOOKS), law["at"](0.05 / together)
        apart = abs(mean["centre"] - law["centre"]) > (high - low) / 2
        if apart or abs(stats.skew(d)) > SKEWNESS_MAX:
            beside = {"centre": mean["centre"], "i95": mean["at"](0.05 / together)}
            beside["i90"] = mean["at"](0.10 / together)
    centre, at = law["centre"], law["at"]
    p_different, p_same = law["p_different"], law["p_same"]
    i95, i90 = at(0.05 / together), at(0.10 / together)
    found = {"centre": centre, "i95": i95, "i90": i90, "p_same": float(p_same)}
    found["p_different"] = p_different
    begins = [part * len(d) // BATCHES_MIN for part in range(BATCHES_MIN + 1)]
    parts = [np.mean(d[low:high]) for low, high in zip(begins, begins[1:]) if high > low]
    spread = np.ptp(parts)
    if question["diagnostics"]["unsteady"] and 3 * spread <= margin / 2:
        # It changes over time by too little to matter: all its parts, and as far again.
        found = over_all(found, np.min(parts) - spread, np.max(parts) + spread, margin)
    found = bounded(question, found, d, margin, together, fixed)
    found, beside = (with_hosts(x, of_hosts(question), together) for x in (found, beside))
    z = d - np.mean(d)
    lag1 = float(np.sum(z[:-1] * z[1:]) / np.sum(z * z)) if np.any(z) else 0.0
    more = {"lag1": lag1, "mean": beside}
    return {**found, **more, "n": len(d), "sd": float(np.std(d, ddof=1))}


def quiet(question, result, trials):
    """Whether the first look settles all that the trials of a cell are asked, whatever it finds,
    or of a share whatever it finds near this."""
    own = [q for q in result["questions"] if q["cell"] == question["cell"]]

    def settles(q):
        if not q["effect"]:
            # Of what is no question nothing waits, but for transfers too short for their rate.
            return q["metric"] != "throughput"
        d = pairs(q, trials)[:LOOKS_MIN]
        if len(d) < LOOKS_MIN:
            return False
        low, high = t_sequence(d, (FIRST_LOOKS if is_ratio(q) else ALL_LOOKS) * ALPHA)
        if is_ratio(q):
            return (high - low) / 2 <= margin_of(q) / 4
        once = stats.t.ppf(1 - ALPHA / 2, LOOKS_MIN - 1) * np.std(d, ddof=1) / math.sqrt(LOOKS_MIN)
        return abs(np.mean(d)) - once - (high - low) / 2 > margin_of(q)

    return all(map(settles, own))


def at_end(d, margin, left):
    """What one look is where a run ended by its own rule (Stein 1945)."""
    n, noise = len(d), float(np.std(d[:LOOKS_MIN], ddof=1))
    t = lambda alpha: stats.t.ppf(1 - alpha / 2, LOOKS_MIN - 1)
    error = noise / math.sqrt(n)

    def ended(look):
        def at(alpha):
            (low, high), first = look["at"](left * alpha), t(left * alpha) * error
            return min(low, look["centre"] - first), max(high, look["centre"] + first)

        far, room = abs(look["centre"]), margin - abs(look["centre"])
        beyond = lambda x: stats.t.sf(x / error, LOOKS_MIN - 1) if error else float(x <= 0)
        different = max(look["p_different"], min(1.0, 2 * beyond(far)))
        same = max(look["p_same"], beyond(room))
        return {**look, "at": at, "p_different": min(1.0, different / left),
                "p_same": min(1.0, same / left)}

    return ended


def over_all(found, low, high, margin):
    """Ranges that reach over so much at least, and p-values that say no more."""
    wider = {k: (min(found[k][0], low), max(found[k][1], high)) for k in ("i95", "i90")}
    p_different = found["p_different"] if low > 0 or high < 0 else 1.0
    p_same = found["p_same"] if -margin < low and high < margin else 1.0
    return {**found, **wider, "p_different": p_different, "p_same": p_same}


def of_hosts(question):
    """By how much of itself a difference of times may be off, by the hosts' own speed."""
    arms = [v["estimate"] for v in question.values() if isinstance(v, dict) and "n" in v]
    time = question["unit"] == "s" and question["metric"] not in ("ipdv", "pdv", "frame-lateness")
    known = time and len(arms) == 2 and None not in arms and min(arms) > 0
    return OF_HOSTS * min(1, HOSTS_S / min(arms)) if known else 0.0


def with_hosts(found, of, together):
    """All values no farther from the centre than their ranges and the hosts, in quadrature."""
    if not found or not of:
        return found
    ends = {}
    for key, rate in (("i95", 0.05), ("i90", 0.10)):
        k, c = stats.norm.isf(rate / together / 2) * of, found["centre"]
        # (c - x)^2 = r^2 + (k x)^2
        reach = lambda end: [1 - k * k, -2 * c, c * c - (c - end) ** 2]
        low, high = found[key]
        ends[key] = (min(np.roots(reach(low)).real) if -math.inf < low < c else low,
                     max(np.roots(reach(high)).real) if c < high < math.inf else high)
    return {**found, **ends}


def margin_of(question):
    """The margin on the scale of the effects."""
    ratio = is_ratio(question)
    return math.log1p(question["margin"]) if ratio else question["margin"]


def bounded(question, found, d, margin, together, fixed):
    """Without a difference the range reaches what bursts can hide in either arm; what the blocks
    themselves say is told apart, for losses that come singly."""
    if question["metric"] not in ("loss", "loss-back"):
        return found
    arms = [v for v in question.values() if isinstance(v, dict) and "lost" in v and "of" in v]
    if len(arms) != 2:
        return found
    upper = 1 - 0.025 / together
    widened = lambda low, high: {
        k: v if k not in ("i95", "i90") else (min(v[0], low), max(v[1], high))
        for k, v in found.items()
    }
    # No more is known than two counts of independent losses tell (Newcombe 1998, exact ends).
    count = [(arm["lost"], arm["of"]) for arm in arms]
    share = [k / n if n else 0.0 for k, n in count]
    ends = [
        (stats.beta.ppf(1 - upper, k, n - k + 1) if k else 0.0,
         stats.beta.ppf(upper, k + 1, n - k) if k < n else 1.0)
        for k, n in count
    ]
    below, above = zip(*((s - low, high - s) for s, (low, high) in zip(share, ends)))
    apart = share[1] - share[0]
    ends = apart - math.hypot(below[1], above[0]), apart + math.hypot(above[1], below[0])
    found = widened(*ends)
    any_lost = arms[0]["lost"] + arms[1]["lost"] > 0 or np.std(d, ddof=1) > 0
    if any_lost and ends[0] <= 0 <= ends[1]:
        of_counts = stats.fisher_exact([[k, n - k] for k, n in count]).pvalue
        found["p_different"] = max(found["p_different"], of_counts, 0.05 / together)
    if arms[0]["lost"] + arms[1]["lost"] == 0 and np.std(d, ddof=1) == 0:
        found["p_same"] = max((1 - margin) ** arm["of"] for arm in arms)
    looks = [len(d) + arm["of"] / BURST_MAX for arm in arms]
    bursts = [math.ceil(arm["lost"] / BURST_MAX) for arm in arms]
    hides = [
        max(stats.beta.ppf(upper, k + 1, n - k) - s, 0.0) if k < n else 1.0
        for k, n, s in zip(bursts, looks, share)
    ]
    few = [
        stats.beta.sf(other + margin, k + 1, n - k) if k < n else 1.0
        for k, n, other in zip(bursts, looks, reversed(share))
    ]
    found["p_same"] = max(found["p_same"], min(1.0, 2 * max(few)))
    low, high = found["centre"] - hides[0], found["centre"] + hides[1]
    if found["i95"][0] <= 0 <= found["i95"][1]:
        return widened(low, high)
    # A difference that was found was met in so many trials that they tell how it scatters.
    within = -margin < found["i90"][0] and found["i90"][1] < margin
    unsure = within and found["p_same"] > 0.05 / together
    if not (fixed or unsure):
        return found
    if unsure:
        low, high = min(low, -margin), max(high, margin)
    up = found["centre"] > 0
    return widened(found["i95"][0] if up else low, high if up else found["i95"][1])


def fixed_mean(d, margin):
    """Student's t test."""
    error = float(np.std(d, ddof=1)) / math.sqrt(len(d))
    centre = float(np.mean(d))
    reach = lambda alpha: stats.t.ppf(1 - alpha / 2, len(d) - 1) * error
    one_side = lambda x, side: stats.ttest_1samp(x, 0, alternative=side).pvalue
    return {
        "centre": centre,
        "at": lambda alpha: (centre - reach(alpha), centre + reach(alpha)),
        # Values that are all 0 are no difference, of which SciPy says nothing.
        "p_different": float(stats.ttest_1samp(d, 0).pvalue) if np.any(d) else 1.0,
        "p_same": max(one_side(d + margin, "greater"), one_side(d - margin, "less")),
    }


def signed_ranks(d, margin):
    """Wilcoxon's test, by the permutations of the ranks as they are (Pratt 1959)."""
    def tail(x, side):
        ranks = np.round(2 * stats.rankdata(np.abs(x))).astype(int)
        of_side = ranks[x < 0] if side == "greater" else ranks[x > 0]
        return signed_rank_tail(ranks[x != 0], len(x), of_side.sum()) if np.any(x) else 1.0

    return {
        "centre": walsh(d)[1],
        "at": lambda alpha: hodges_lehmann(d, alpha),
        "p_different": min(1.0, 2 * min(tail(d, "greater"), tail(d, "less"))),
        "p_same": max(tail(d + margin, "greater"), tail(d - margin, "less")),
    }


def signed_rank_tail(ranks, n, total):
    """P(sum of the doubled ranks that are positive <= total)."""
    if n > EXACT_LIMIT:
        mean, spread = ranks.sum() / 2, math.sqrt(np.sum(ranks.astype(float) ** 2)) / 2
        return float(stats.norm.cdf((total + 1 - mean) / spread))
    return float(np.sum(signed_rank_law(ranks)[: total + 1]))


def scores(d, mu, scale):
    far = d - mu
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(far == 0, 0.0, np.clip(far / scale, -1, 1))


def scored(d, before, margin):
    """Bets on the sign of each value's score."""
    off = lambda x: list(np.abs(x - np.median(x))) if len(x) else []
    seen = [off(d[:i]) + off(before) for i in range(len(d))]
    scale = np.array([1.5 * np.median(x) if x else 0.0 for x in seen])
    def sides(mu, n=len(d)):
        x = scores(d, mu, scale)[:n]
        bets = lambda side: np.mean(np.exp(np.sum(np.log1p(side * np.outer(BETS, x)), axis=1)))
        return bets(1), bets(-1)
    evidence = lambda mu, n=len(d): sum(sides(mu, n)) / 2
    def at(alpha):
        reach = scale.max() * (1 + 1e-9) + 1e-300
        grid = np.linspace(d.min() - reach, d.max() + reach, 4001)
        left = [evidence(mu) < 1 / alpha for mu in grid]
        if left[0] or left[-1]:
            return -math.inf, math.inf
        first, last = left.index(True), len(left) - 1 - left[::-1].index(True)
        off = lambda mu: evidence(mu) - 1 / alpha
        exact = {"xtol": 1e-18, "rtol": 1e-14}
        return (optimize.brentq(off, grid[first - 1], grid[first], **exact),
                optimize.brentq(off, grid[last], grid[last + 1], **exact))
    largest = max([1.0] + [evidence(0.0, n) for n in range(1, len(d) + 1)])
    far = min(sides(-margin)[0], sides(margin)[1])
    return {
        "centre": walsh(d)[1],
        "at": at,
        "p_different": 1 / largest,
        "p_same": min(1.0, 1 / far),
    }


def sequence_mean(d, margin, looks):
    """The t sequence, its error level spent from the first look on."""
    evidence = [log_e(d[:n], 0.0) for n in range(min(LOOKS_MIN, len(d)), len(d) + 1)]
    p = lambda log: min(1.0, math.exp(-log) / looks)
    far = min(log_e(d, margin), log_e(d, -margin))
    return {
        "centre": float(np.mean(d)),
        "at": lambda alpha: t_sequence(d, looks * alpha),
        "p_different": p(max(evidence)),
        "p_same": min(1.0, 0.5 * math.exp(-far) / looks) if abs(np.mean(d)) < margin else 1.0,
    }


def walsh(d):
    i, j = np.triu_indices(len(d))
    averages = np.sort((d[i] + d[j]) / 2)
    return averages, float(np.median(averages))


def signed_rank_law(ranks):
    """Probabilities of the sum of those ranks that are positive, by convolution."""
    law = np.ones(1)
    for rank in ranks:
        step = np.zeros(rank + 1)
        step[0] = step[rank] = 0.5
        law = np.convolve(law, step)
    return law


def hodges_lehmann(d, alpha):
    averages, _ = walsh(d)
    n, all_of = len(d), len(averages)
    if n > EXACT_LIMIT:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        k = math.floor(all_of / 2 - 0.5 - stats.norm.isf(alpha / 2) * spread)
    else:
        at_most = np.cumsum(signed_rank_law(range(1, n + 1)))
        k = int(np.sum(at_most <= alpha / 2 * (1 + 1e-12))) - 1
    if k < 0:
        return -math.inf, math.inf
    return float(averages[k]), float(averages[len(averages) - 1 - k])


def log_e(d, mu, g=1.0):
    n = len(d)
    a = 1 + n * g
    spread = np.var(d, ddof=1)
    shift = (np.mean(d) - mu) ** 2
    if shift == 0.0:
        return -0.5 * math.log(a)
    x = n * shift / spread / (n - 1) if spread > 0 else math.inf
    ratio = a if math.isinf(x) else (1 + x) / (1 + x / a)
    return 0.5 * (n * math.log(ratio) - math.log(a))


def t_sequence(d, alpha):
    """All mu that the evidence does not reject, found by root finding."""
    n, mean, sd = len(d), float(np.mean(d)), float(np.std(d, ddof=1))
    wanted = math.log(1 / alpha)
    if 0.5 * (n - 1) * math.log(1 + n) <= wanted:
        return -math.inf, math.inf
    if sd == 0.0:
        return mean, mean
    far = sd
    while log_e(d, mean + far) < wanted:
        far *= 2
    radius = optimize.brentq(lambda r: log_e(d, mean + r) - wanted, 0, far, xtol=1e-18, rtol=1e-14)
    return mean - radius, mean + radius


def holm(p):
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, so_far = [1.0] * len(p), 0.0
    for place, i in enumerate(order):
        so_far = max(so_far, (len(p) - place) * p[i])
        adjusted[i] = min(1.0, so_far)
    return adjusted


def shown(question, found):
    show = math.expm1 if question["effect"]["kind"] == "ratio-1" else float
    ends = {
        "estimate": found["centre"],
        "low": found["i95"][0],
        "high": found["i95"][1],
        "low90": found["i90"][0],
        "high90": found["i90"][1],
    }
    return {**{k: show(v) for k, v in ends.items()}, "sd": found["sd"]}


def rule(question, found, p_different, p_same):
    if found["n"] < BLOCKS_MIN:
        return "none"
    margin = margin_of(question)
    inside = lambda of: -margin < of["i90"][0] and of["i90"][1] < margin
    excludes = lambda of: of["i95"][0] > 0 or of["i95"][1] < 0
    better = (found["centre"] > 0) != (question["better"] == "lower")
    mean = found["mean"]
    if inside(found) and p_same <= ALPHA:
        denied = mean and (abs(mean["centre"]) >= margin or (excludes(mean) and not inside(mean)))
        return "inconclusive" if denied else "same"
    if excludes(found) and p_different <= ALPHA:
        denied = mean and (inside(mean) or mean["centre"] * found["centre"] <= 0)
        return "inconclusive" if denied else "better" if better else "worse"
    return "inconclusive"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
