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
SKEWNESS_MAX = 1.0
BURST_MAX = 500
SYMMETRIC_BLOCKS_MIN = 12
SYMMETRIC_BLOCKS = 20
FAR_SHARE = 0.02
NOISE_OF_MARGIN = 0.25
ALPHA = 0.05
LESS_IS_BETTER = {"rtt", "connect", "first-byte", "loss", "loss-back", "ipdv", "pdv", "cpu"}


def main(result_path, trials_path):
    with open(result_path) as file:
        result = json.load(file)
    csv.field_size_limit(1 << 30)
    with open(trials_path, newline="") as file:
        trials = list(csv.DictReader(file))
    levels = {}
    for question in result["questions"]:
        levels.setdefault(group(question), []).append(question)
    checked = Checked()
    for questions in levels.values():
        combined = [combine(q, result, trials) for q in questions]
        pure = [c is not None and q["effect"] is not None for q, c in zip(questions, combined)]
        different = holm([c["p_different"] if c else 1.0 for c in combined])
        same = holm([c["p_same"] if c else 1.0 for c in combined])
        for question, found, p, p_same in zip(questions, combined, different, same):
            if found is None or question["effect"] is None:
                continue
            name = f"{question['cell']} {question['metric']}"
            for key, value in shown(question, found).items():
                checked.figure(f"{name} {key}", question["effect"][key], value)
            told = question["diagnostics"]
            for key in ("p_different", "p_same", "lag1"):
                checked.figure(f"{name} {key}", told[key], found[key])
            if all(pure):
                checked.figure(f"{name} p_different_adjusted", told["p_different_adjusted"], p)
                checked.figure(f"{name} p_same_adjusted", told["p_same_adjusted"], p_same)
                checked.verdict(name, question["verdict"], rule(question, found, p, p_same))
    for found in result["by_writes"]:
        by_writes(found, result, trials, checked)
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


def effects(question, trials, wanted):
    """The effect of each valid block: logarithm of the ratio, or difference."""
    column = f"values.{question['metric']}"
    arms = {}
    for trial in trials:
        used = trial["cell"] == question["cell"] and trial["block_valid"] == "true"
        if used and wanted(trial) and trial.get(column):
            key = trial["block"], trial["attempt"]
            arms.setdefault(key, {})[trial["arm"]] = float(trial[column])
    pairs = [(arm["a"], arm["b"]) for arm in arms.values() if len(arm) == 2]
    if question["effect"] and question["effect"]["kind"] == "ratio-1":
        return np.array([math.log(b / a) for a, b in pairs])
    return np.array([b - a for a, b in pairs])


def by_writes(found, result, trials, checked):
    """How a difference goes with the size of writes: Spearman's test by permutation."""
    same = lambda q: (q["cell"], q["metric"]) == (found["cell"], found["metric"])
    question = next(filter(same, result["questions"]))
    has_size = lambda trial: is_compare(trial) and bool(trial.get("drawn.write_bytes"))
    d = effects(question, trials, has_size)
    sizes = {}
    for trial in trials:
        if trial["cell"] == found["cell"] and trial["block_valid"] == "true" and has_size(trial):
            sizes[trial["block"], trial["attempt"]] = float(trial["drawn.write_bytes"])
    sizes = np.array(list(sizes.values()))
    name = f"{found['cell']} {found['metric']} by writes"
    rho = lambda x: stats.spearmanr(sizes, x).statistic
    checked.figure(f"{name} rho", found["rho"], float(rho(d)))
    ranks, centred = stats.rankdata(d), stats.rankdata(sizes) - (len(d) + 1) / 2
    product = lambda x, axis: np.abs(np.sum(centred * x, axis=axis))
    draws = math.inf if len(d) <= 8 else 99_999
    test = stats.permutation_test(
        (ranks,), product, permutation_type="pairings", vectorized=True,
        n_resamples=draws, alternative="greater", rng=np.random.default_rng(1),
    )
    if math.isinf(draws):
        checked.figure(f"{name} p", found["p"], float(test.pvalue))
    else:
        checked.share(f"{name} p", found["p"], float(test.pvalue), 9_999)


def is_compare(trial):
    return trial["kind"] == "compare"


def noise(question, result, trials):
    """Spread of the null blocks before the first comparison, of the first like cell."""
    for other in result["questions"]:
        if group(other) == group(question):
            d = effects(other, trials, lambda t: not is_compare(t) and t["round"] == "0")
            if len(d) >= NULLS_MIN:
                return float(np.std(d, ddof=1))
    return 0.0


def combine(question, result, trials):
    """All blocks together; nothing where neighbours were merged, which is not done again here."""
    d = effects(question, trials, is_compare)
    told = question["diagnostics"]
    if len(d) < 2 or told["merged"] > 1:
        return None
    margin = margin_of(question)
    levels = sum(group(other) == group(question) for other in result["questions"])
    fixed = result["design"]["stop"]["kind"] == "pairs"
    together = question["effect"]["together"] if question["effect"] else 1
    if fixed and 2.0 ** (1 - len(d)) * levels > 0.05:
        error = float(np.std(d, ddof=1)) / math.sqrt(len(d))
        centre = float(np.mean(d))
        reach = lambda alpha: stats.t.ppf(1 - alpha / 2, len(d) - 1) * error
        at = lambda alpha: (centre - reach(alpha), centre + reach(alpha))
        p_different = float(stats.ttest_1samp(d, 0).pvalue)
        one_side = lambda x, side: stats.ttest_1samp(x, 0, alternative=side).pvalue
        p_same = max(one_side(d + margin, "greater"), one_side(d - margin, "less"))
    elif fixed:
        at = lambda alpha: hodges_lehmann(d, alpha)
        p_different = float(stats.wilcoxon(d, zero_method="pratt", method="exact").pvalue)
        one_side = lambda x, side: stats.wilcoxon(x, alternative=side, method="exact").pvalue
        p_same = max(one_side(d + margin, "greater"), one_side(d - margin, "less"))
        centre = walsh(d)[1]
    else:
        sigma = noise(question, result, trials) or NOISE_OF_MARGIN * margin
        lopsided = abs(stats.skew(d)) > SKEWNESS_MAX or told["modes"] is not None
        if lopsided and len(d) >= SYMMETRIC_BLOCKS_MIN:
            rho = lambda alpha: symmetric_rho(sigma, alpha)
            # However many ranges hold together, they are those of the evidence below.
            at = lambda alpha: symmetric_sequence(d, alpha, rho(alpha * together))
            evidence = lambda n: log_symmetric(d[:n], 0.0, rho(0.05))
            far = min(log_symmetric(d, mu, rho(0.10)) for mu in (margin, -margin))
            far += math.log(1 - FAR_SHARE)
        else:
            at = lambda alpha: t_sequence(d, alpha)
            evidence = lambda n: log_e(d[:n], 0.0)
            far = min(log_e(d, margin), log_e(d, -margin))
        p_different = math.exp(-max([0.0] + [evidence(n) for n in range(2, len(d) + 1)]))
        p_same = min(1.0, 0.5 * math.exp(-far)) if abs(np.mean(d)) < margin else 1.0
        centre = float(np.mean(d))
    i95, i90 = at(0.05 / together), at(0.10 / together)
    found = {"centre": centre, "i95": i95, "i90": i90, "p_same": float(p_same)}
    found = bounded(question, found, d, margin, together)
    z = d - np.mean(d)
    lag1 = float(np.sum(z[:-1] * z[1:]) / np.sum(z * z)) if np.any(z) else 0.0
    more = {"p_different": p_different, "lag1": lag1}
    return {**found, **more, "n": len(d), "sd": float(np.std(d, ddof=1))}


def margin_of(question):
    """The margin on the scale of the effects."""
    ratio = question["effect"] and question["effect"]["kind"] == "ratio-1"
    return math.log1p(question["margin"]) if ratio else question["margin"]


def bounded(question, found, d, margin, together):
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
    if arms[0]["lost"] + arms[1]["lost"] == 0 and np.std(d, ddof=1) == 0:
        low, high = (stats.beta.ppf(upper, 1, arm["of"]) for arm in arms)
        found = widened(-low, high)
        found["p_same"] = max((1 - margin) ** arm["of"] for arm in arms)
    looks = [len(d) + arm["of"] / BURST_MAX for arm in arms]
    bursts = [math.ceil(arm["lost"] / BURST_MAX) for arm in arms]
    share = [arm["lost"] / arm["of"] if arm["of"] else 0.0 for arm in arms]
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
    if -margin < low and high < margin:
        return found
    # A difference that was found stays found.
    if found["i95"][0] > 0:
        return widened(found["i95"][0], high)
    if found["i95"][1] < 0:
        return widened(low, found["i95"][1])
    return widened(low, high)


def walsh(d):
    i, j = np.triu_indices(len(d))
    averages = np.sort((d[i] + d[j]) / 2)
    return averages, float(np.median(averages))


def signed_rank_law(n):
    """Probabilities of the signed-rank sum, by convolution."""
    law = np.ones(1)
    for rank in range(1, n + 1):
        step = np.zeros(rank + 1)
        step[0] = step[rank] = 0.5
        law = np.convolve(law, step)
    return law


def hodges_lehmann(d, alpha):
    averages, _ = walsh(d)
    at_most = np.cumsum(signed_rank_law(len(d)))
    below = np.nonzero(at_most <= alpha / 2 * (1 + 1e-12))[0]
    if len(below) == 0:
        return -math.inf, math.inf
    k = below[-1]
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


def symmetric_rho(sigma, alpha):
    twice = -2 * math.log(alpha)
    return SYMMETRIC_BLOCKS * sigma**2 / (twice + math.log1p(twice))


def log_symmetric(d, mu, rho):
    s, v = np.sum(d - mu), np.sum((d - mu) ** 2)
    return 0.5 * (s * s / (v + rho) - math.log1p(v / rho))


def symmetric_sequence(d, alpha, rho):
    n, mean = len(d), float(np.mean(d))
    if n < math.ceil(1 - math.log2(FAR_SHARE * alpha)):
        return -math.inf, math.inf
    wanted = -math.log((1 - FAR_SHARE) * alpha)
    peak = math.sqrt((n - 1) * (np.sum((d - mean) ** 2) + rho)) / n**0.5
    reach = lambda r: log_symmetric(d, mean + r, rho) - wanted
    if reach(peak) < 0:
        return -math.inf, math.inf
    radius = optimize.brentq(reach, 0, peak, xtol=1e-18, rtol=1e-14)
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
    if -margin < found["i90"][0] and found["i90"][1] < margin and p_same <= ALPHA:
        return "same"
    low, high = found["i95"]
    if (low > 0 or high < 0) and p_different <= ALPHA:
        more = found["centre"] > 0
        return "worse" if more == (question["metric"] in LESS_IS_BETTER) else "better"
    return "inconclusive"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
