"""Makes vectors.json, the known answers of tests/known_answers.rs:

    pip install numpy==2.4.6 scipy==1.17.1 && python make_vectors.py > vectors.json

Wherever scipy has the method, its answer is taken, so that the crate is held against an
independent implementation. What scipy lacks is written out here from the formula. Infinity is
written as null.
"""
import fractions
import functools
import itertools
import json
import math

import numpy as np
import scipy
from scipy import integrate, optimize, special, stats

OUT = {
    "provenance": f"make_vectors.py with numpy {np.__version__}, scipy {scipy.__version__}"
}

# Ten blocks of goodput in Mb/s, one of them disturbed in both arms.
FIRST = np.array([94.12, 94.10, 94.15, 94.08, 94.14, 94.11, 93.20, 94.13, 94.09, 94.16])
SECOND = np.array([92.80, 92.84, 92.85, 92.79, 92.83, 92.86, 92.10, 92.81, 92.84, 92.82])
# Thirty blocks of round-trip time in microseconds on a busy machine.
REAL_FIRST = np.array([
    4.708, 5.083, 5.044, 5.472, 5.841, 5.089, 4.968, 5.181, 5.903, 4.925,
    4.719, 5.127, 4.798, 5.121, 5.447, 5.014, 4.964, 4.578, 5.631, 8.786,
    8.053, 7.692, 8.056, 7.453, 6.966, 4.564, 8.067, 8.282, 8.030, 6.131])
REAL_SECOND = np.array([
    5.021, 5.500, 5.504, 5.075, 5.218, 5.528, 5.993, 5.910, 6.278, 5.348,
    5.417, 6.333, 5.128, 5.586, 5.594, 5.641, 5.215, 5.172, 5.962, 6.894,
    7.925, 8.478, 8.601, 8.264, 8.349, 8.009, 8.347, 8.590, 7.927, 8.474])
# Hollander & Wolfe, table 3.1: depression scale factor, before minus after.
DEPRESSION = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]) - np.array(
    [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
TIED = np.array([0.0, 1.0, 1.0, -1.0, 2.0, 3.0, 0.0, -2.0, 4.0, 4.0])


def rank_table(n):
    """Cumulative null distribution of the signed-rank sum."""
    counts = np.array([1], dtype=object)
    for rank in range(1, n + 1):
        shifted = np.concatenate([np.zeros(rank, dtype=object), counts])
        counts = np.concatenate([counts, np.zeros(rank, dtype=object)]) + shifted
    return np.cumsum(counts)


def critical(n, alpha):
    cumulative = rank_table(n)
    k = int(sum(int(c) / 2**n <= alpha / 2 for c in cumulative)) - 1
    return k, 1 - 2 * int(cumulative[k]) / 2**n if k >= 0 else 1.0


def hodges_lehmann(d, alpha):
    i, j = np.triu_indices(len(d))
    walsh = np.sort((d[i] + d[j]) / 2)
    k, level = critical(len(d), alpha)
    return {"centre": np.median(walsh), "low": walsh[k], "high": walsh[-1 - k], "level": level}


def t_interval(d, alpha):
    low, high = stats.t.interval(1 - alpha, len(d) - 1, d.mean(), stats.sem(d))
    return {"centre": d.mean(), "sd": d.std(ddof=1), "low": low, "high": high}


def radius(n, sd, alpha, g=1.0):
    a = 1 + n * g
    k = (a / alpha**2) ** (1 / n)
    return math.inf if k >= a else sd / n**0.5 * ((n - 1) * (k - 1) / (1 - k / a)) ** 0.5


def e_value(d, mu=0.0, g=1.0):
    n, a = len(d), 1 + len(d) * g
    x = stats.ttest_1samp(d, mu).statistic ** 2 / (n - 1)
    return a**-0.5 * ((1 + x) / (1 + x / a)) ** (n / 2)


def tost(d, delta):
    w = [stats.wilcoxon(d + delta, alternative="greater", method="exact").pvalue,
         stats.wilcoxon(d - delta, alternative="less", method="exact").pvalue]
    return {"delta": delta, "p_w": max(w)}


def paired(first, second):
    d = np.log(second / first)
    return {
        "first": first, "second": second, "t": t_interval(d, 0.05),
        "hl95": hodges_lehmann(d, 0.05), "hl90": hodges_lehmann(d, 0.10),
        "p_wilcoxon": stats.wilcoxon(d, method="exact").pvalue,
        "tost": [tost(d, math.log1p(m)) for m in (0.01, 0.014, 0.02)],
        "sequence": [{
            "n": n, "radius95": radius(n, d[:n].std(ddof=1), 0.05),
            "radius90": radius(n, d[:n].std(ddof=1), 0.10), "e": e_value(d[:n]),
        } for n in range(2, len(d) + 1)],
        "welch_unpaired_p": stats.ttest_ind(second, first, equal_var=False).pvalue,
        "lag1_first": lag1(first), "lag1_d": lag1(d), "skewness_d": stats.skew(d),
    }


def lag1(x):
    z = np.asarray(x) - np.mean(x)
    return (z[1:] * z[:-1]).sum() / (z * z).sum()


def bca():
    x = np.array([0.4, -0.1, 0.3, 0.2, 0.6, 1.9])
    all_means = np.sort([x[list(i)].mean() for i in itertools.product(range(6), repeat=6)])
    theta = x.mean()
    less = (all_means < theta - 1e-12).sum()
    equal = (abs(all_means - theta) <= 1e-12).sum()
    z0 = special.ndtri((less + equal / 2) / len(all_means))
    u = np.array([np.delete(x, i).mean() for i in range(6)])
    u = u.mean() - u
    a = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    z = special.ndtri(np.array([0.025, 0.975]))
    levels = special.ndtr(z0 + (z0 + z) / (1 - a * (z0 + z)))
    at = lambda share: all_means[math.ceil(share * len(all_means) - 1e-9) - 1]
    return {"x": x, "theta": theta, "z0": z0, "a": a, "levels": levels,
            "interval": [at(p) for p in levels], "percentile": [at(0.025), at(0.975)]}


def quantile_interval(n, q, conf=0.95):
    miss, k = (1 - conf) / 2, np.arange(n + 1)
    low = int((stats.binom.cdf(k, n, q) <= miss).sum())
    high = int((stats.binom.sf(k - 1, n, q) > miss).sum())
    return {"n": n, "q": q, "low": low, "high": high}


def welch(m1, s1, n1, m2, s2, n2):
    r = stats.ttest_ind_from_stats(m1, s1, n1, m2, s2, n2, equal_var=False)
    ci = (m1 - m2, math.sqrt(s1**2 / n1 + s2**2 / n2))
    parts = [s1**2 / n1, s2**2 / n2]
    df = sum(parts) ** 2 / (parts[0] ** 2 / (n1 - 1) + parts[1] ** 2 / (n2 - 1))
    half = stats.t.ppf(0.975, df) * ci[1]
    return {"first": [m1, s1, n1], "second": [m2, s2, n2], "t": r.statistic, "df": df,
            "p": r.pvalue, "low": ci[0] - half, "high": ci[0] + half}


def clopper_pearson(k, n):
    # scipy's own binomtest(...).proportion_ci() stops at seven digits.
    return {"k": k, "n": n, "low": stats.beta.ppf(0.025, k, n - k + 1) if k else 0.0,
            "high": stats.beta.ppf(0.975, k + 1, n - k)}


def holm(p):
    """Smallest family-wise level at which each hypothesis falls, by direct definition."""
    order, adjusted = np.argsort(p), np.empty(len(p))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.sort(p) * np.arange(len(p), 0, -1)))
    return adjusted


OUT["goodput"] = paired(FIRST, SECOND)
OUT["real30"] = paired(REAL_FIRST, REAL_SECOND)
OUT["depression"] = {
    "d": DEPRESSION, "hl95": hodges_lehmann(DEPRESSION, 0.05),
    "p_greater": stats.wilcoxon(DEPRESSION, alternative="greater", method="exact").pvalue,
    "p_two": stats.wilcoxon(DEPRESSION, method="exact").pvalue,
}
every_sign = stats.PermutationMethod(n_resamples=10**6)  # more than 2^10: exhaustive
OUT["tied"] = {"d": TIED, **{
    side: stats.wilcoxon(TIED, zero_method="pratt", alternative=side, method=every_sign).pvalue
    for side in ("greater", "less", "two-sided")}}
large = np.round(10 * np.sin(np.arange(1, 101) * 1.7) + 1.5, 1)
OUT["large"] = {"d": large, **{
    side: stats.wilcoxon(large, zero_method="pratt", alternative=side, method="asymptotic",
                         correction=True).pvalue
    for side in ("greater", "less", "two-sided")}}
OUT["critical_ranks"] = [{"n": n, "alpha": alpha, "k": k, "level": level}
                         for n in (4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 40, 60)
                         for alpha in (0.05, 0.10)
                         for k, level in [critical(n, alpha)]]
OUT["holm"] = {"p": [0.01, 0.04, 0.03, 0.005, 0.20], "adjusted": holm([0.01, 0.04, 0.03, 0.005, 0.20])}
OUT["bca"] = bca()
OUT["quantile"] = [quantile_interval(n, q) for n, q in (
    (5, 0.5), (6, 0.5), (10, 0.5), (20, 0.5), (40, 0.5), (100, 0.5), (100, 0.9), (100, 0.95),
    (100, 0.99), (500, 0.99), (1000, 0.99), (1000, 0.999), (5000, 0.999), (10000, 0.999),
    (1000000, 0.999))]
OUT["welch"] = [welch(85.6, 0.38, 40, 84.6, 0.38, 40), welch(26.5, 0.43, 40, 24.0, 0.46, 40),
                welch(14.1, 1.33, 40, 12.3, 1.26, 40)]
series = np.array([10.1, 10.3, 10.2, 10.6, 10.5, 10.9, 10.8, 11.1, 11.0, 11.4])
OUT["drift"] = {"x": series, "lag1": lag1(series)}
OUT["loss"] = [clopper_pearson(k, n) for k, n in (
    (0, 10**6), (3, 10**6), (12, 10**6), (1, 2), (100_000, 10**7))]
OUT["detectable"] = [{"n": n, "delta": float(scipy.optimize.brentq(
    lambda d: stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, d * n**0.5)
    + stats.nct.cdf(-stats.t.ppf(0.975, n - 1), n - 1, d * n**0.5) - 0.8, 2.5 / n**0.5, 3.5 / n**0.5,
    xtol=1e-12))} for n in (10, 30, 100)]
def equivalence_blocks(ratio):
    """Fewest blocks, from 3, with 80 % power: the sample SD integrated out numerically."""
    def power(n):
        t, room = stats.t.ppf(0.95, n - 1), ratio * n**0.5
        density = lambda w: stats.chi.pdf(w * (n - 1) ** 0.5, n - 1) * (n - 1) ** 0.5
        inside = lambda w: (2 * stats.norm.cdf(room - t * w) - 1) * density(w)
        spots = [w for w in (0.7, 1.0, 1.3) if w < room / t]
        return integrate.quad(inside, 0, min(room / t, 9), points=spots, limit=200)[0]
    high = 3
    while power(high) < 0.8:
        high = high + max(1, high // 64)
    while high > 3 and power(high - 1) >= 0.8:
        high -= 1
    return high


OUT["equivalence"] = [
    {"sigma": sigma, "margin": margin, "blocks": equivalence_blocks(math.log1p(margin) / sigma)}
    for sigma in (0.003, 0.005, 0.01, 0.02, 0.05) for margin in (0.005, 0.01, 0.02, 0.05)]
def least_squares(columns, weights, response):
    roots = np.sqrt(weights)
    x = np.array(columns, dtype=float).T
    found = np.linalg.lstsq(x * roots[:, None], np.array(response) * roots, rcond=None)[0]
    return {"columns": columns, "weights": weights, "response": response,
            "coefficients": found, "fitted": x @ found}


# Round trips in us of messages of 64 B to 64 KiB: a constant, packets both ways, bytes in a row.
PACKETS = [2.0, 2.0, 2.0, 2.0, 6.0, 12.0, 24.0, 92.0]
BYTES = [520.0, 968.0, 2760.0, 6344.0, 14160.0, 23488.0, 42144.0, 147268.0]
TIMES = np.array([78.4, 114.0, 257.9, 544.1, 1172.6, 1921.9, 3417.8, 11862.0])
OUT["least_squares"] = [
    least_squares([[1.0] * 8, PACKETS, BYTES], 1 / TIMES**2, TIMES),
    least_squares([[1.0] * 8, BYTES], np.ones(8), TIMES),
    least_squares([[1.0] * 8, PACKETS, BYTES], np.ones(8), TIMES + 3 * np.cos(np.arange(8))),
]
OUT["special"] = {
    "normal_upper": [[z, stats.norm.sf(z)] for z in (-3.0, 0.1, 1.96, 8.0, 30.0)],
    "normal_upper_quantile": [[p, stats.norm.isf(p)] for p in (0.9, 0.5, 0.3, 0.025, 1e-10)],
    "t_upper": [[t, df, stats.t.sf(t, df)] for t, df in (
        (-1.0, 3.0), (2.5, 3.0), (1e-3, 7.5), (40.0, 78.0), (1.96, 1e7), (12.0, 1.0))],
    "t_upper_quantile": [[p, df, stats.t.isf(p, df)] for p, df in (
        (0.025, 1.0), (0.025, 9.0), (0.05, 77.6), (0.005, 1e7), (1e-9, 4.0))],
    "beta_lower": [[a, b, x, special.betainc(a, b, x)] for a, b, x in (
        (0.5, 0.5, 0.3), (30.0, 2.0, 0.99), (998938.0, 1063.0, 0.999), (5e5, 5e5, 0.5005),
        (1e5, 9900001.0, 0.0101), (1e6, 999e6, 0.001001))],
    "binomial_lower": [[k, n, p, stats.binom.cdf(k, n, p)] for k, n, p in (
        (3, 10, 0.3), (0, 40, 0.1), (40, 40, 0.1), (998937, 10**6, 0.999))],
    "binomial_upper": [[k, n, p, stats.binom.sf(k - 1, n, p)] for k, n, p in (
        (7, 10, 0.3), (0, 10, 0.3), (11, 10, 0.3), (999063, 10**6, 0.999))],
}
SETTLING = np.array([
    5, 20, 60, 85, 92, 94, 94.2, 94.1, 94.0, 94.15, 94.1, 94.05, 94.12, 94.08, 94.1, 94.11,
    94.09, 94.1, 94.13, 94.07, 94.1, 94.08, 94.12, 94.11, 94.09, 94.1, 94.06, 94.14, 94.1,
    94.09])


def deviation(rest):
    return ((rest - rest.mean())**2).sum() / len(rest)**2


CUT = min(range(len(SETTLING) // 2 + 1), key=lambda k: deviation(SETTLING[k:]))
OUT["steady"] = {
    "x": SETTLING, "first": CUT, "statistic": deviation(SETTLING[CUT:]),
    "mean": SETTLING[CUT:].mean()}


def linear_dip(x):
    """The dip from its definition: the nearest unimodal distribution is the answer of a linear
    programme, one for each place of the mode. Convex before it, concave after it."""
    x = np.sort(np.asarray(x, dtype=float))
    at, counts = np.unique(x, return_counts=True)
    n, m = len(x), len(at)
    after = np.cumsum(counts) / n
    before = after - counts / n
    best = math.inf
    for mode in range(m):
        # Unknowns: the distribution just before and at (after) each value, and the distance. Only
        # at the mode may the two differ.
        rows, limits = [], []

        def below(terms, limit):
            row = np.zeros(2 * m + 1)
            for index, factor in terms:
                row[index] += factor
            rows.append(row)
            limits.append(limit)

        left, right, t = (lambda i: i), (lambda i: m + i), 2 * m
        equal = []
        for i in range(m):
            if i == mode:
                below([(left(i), 1), (right(i), -1)], 0)
            else:
                row = np.zeros(2 * m + 1)
                row[left(i)], row[right(i)] = 1, -1
                equal.append(row)
            for value in (before[i], after[i]):
                # A jump is met just before it and just after it.
                side = left(i) if value == before[i] else right(i)
                below([(side, 1), (t, -1)], value)
                below([(side, -1), (t, -1)], -value)
        for i in range(1, m):
            below([(right(i - 1), 1), (left(i), -1)], 0)
        def slope(i, sign):
            gap = at[i + 1] - at[i]
            return [(left(i + 1), sign / gap), (right(i), -sign / gap)]
        for i in range(1, m - 1):
            if i < mode:
                below(slope(i - 1, 1) + slope(i, -1), 0)
            elif i > mode:
                below(slope(i - 1, -1) + slope(i, 1), 0)
        cost = np.zeros(2 * m + 1)
        cost[t] = 1
        bounds = [(0, 1)] * (2 * m) + [(0, None)]
        answer = optimize.linprog(cost, np.array(rows), np.array(limits),
                                  np.array(equal) if equal else None,
                                  np.zeros(len(equal)) if equal else None, bounds)
        best = min(best, answer.fun)
    return max(best, 1 / (2 * n))


def trimmed(x, g, alpha=0.05):
    kept = np.sort(x)[g:-g]
    se = stats.mstats.trimmed_stde(x, (g / len(x), g / len(x)))
    low, high = stats.t.interval(1 - alpha, len(kept) - 1, kept.mean(), se)
    return {"x": x, "g": g, "centre": kept.mean(), "se": se, "df": len(kept) - 1, "low": low,
            "high": high, "mean_all": np.mean(x)}


def three_of_five(x):
    """Among all ten triples: a triple of neighbours is always among the nearest."""
    key = lambda t: (round(t[2] - t[0], 12), abs(t[1] - np.median(x)), t[0])
    best = min((sorted(t) for t in itertools.combinations(x, 3)), key=key)
    return {"x": x, "runs": best, "mean": np.mean(best), "spread": (best[2] - best[0]) / abs(best[1])}


def pettitt_k(x):
    return max(abs(sum(np.sign(a - b) for a in x[:t] for b in x[t:])) for t in range(1, len(x)))


def pettitt_exact(x, k):
    """The orders of distinct values that never reach k, counted by how many of each have come."""
    values, sizes = np.unique(x, return_counts=True)
    ranks = 2 * stats.rankdata(values.repeat(sizes)) - len(x) - 1
    weights = [ranks[list(values.repeat(sizes)).index(v)] for v in values]

    @functools.cache
    def below(come):
        if sum(come) == 0:
            return 1
        if sum(come) < len(x) and abs(sum(w * c for w, c in zip(weights, come))) >= k:
            return 0
        return sum(below(come[:i] + (c - 1,) + come[i + 1:]) for i, c in enumerate(come) if c)

    everything = math.factorial(len(x)) // math.prod(map(math.factorial, map(int, sizes)))
    return 1 - fractions.Fraction(below(tuple(map(int, sizes))), everything)


def pettitt(x):
    """By the formula from 20 values on, and where it says one half and more."""
    u = [sum(np.sign(a - b) for a in x[:t] for b in x[t:]) for t in range(1, len(x))]
    k, n = float(np.max(np.abs(u))), len(x)
    p = min(1.0, 2 * math.exp(-6 * k**2 / (n**3 + n**2)))
    if n < 20 and p < 0.5:
        p = float(pettitt_exact(x, k))
    return {"x": x, "k": k, "after": int(np.argmax(np.abs(u))) + 1, "p": p}


def falling_pairs(sizes):
    """Orders of things of which so many are equal, by the number of falling pairs: the largest
    things are put among the others, wherever they may stand."""
    *others, last = sizes
    if not others:
        return {0: 1}
    counts = falling_pairs(others)
    n, out = sum(others), {}
    for gaps in itertools.combinations_with_replacement(range(n + 1), last):
        for falls, count in counts.items():
            out[falls + sum(gaps)] = out.get(falls + sum(gaps), 0) + count
    return out


def mann_kendall(x):
    """S and its variance written out. Below 20 values p is exact: scipy's where no two are equal."""
    n = len(x)
    s = sum(np.sign(b - a) for a, b in itertools.combinations(x, 2))
    ties = np.unique(x, return_counts=True)[1]
    term = lambda t: t * (t - 1) * (2 * t + 5)
    variance = (term(n) - sum(term(t) for t in ties)) / 18
    z = (s - np.sign(s)) / math.sqrt(variance)
    p = 2 * stats.norm.sf(abs(z))
    if n < 20 and max(ties) == 1:
        p = stats.kendalltau(range(n), x, method="exact").pvalue
    elif n < 20:
        counts = falling_pairs([int(t) for t in ties])
        pairs = max(counts)
        p = sum(c for f, c in counts.items() if abs(pairs - 2 * f) >= abs(s)) / sum(counts.values())
    return {"x": x, "s": s, "variance": variance, "z": z, "p": p}


def share(seen, values):
    values = np.array(list(values))
    return np.mean(values >= seen - 1e-9 * abs(seen))


def neighbours(x):
    """All orders, one by one."""
    z = np.array(x) - np.mean(x)
    orders = np.array(list(itertools.permutations(z)))
    return {"x": x, "p": share((z[1:] * z[:-1]).sum(), (orders[:, 1:] * orders[:, :-1]).sum(axis=1))}


def two_samples(a, b):
    """All ways to deal the values, one by one."""
    both = np.concatenate([a, b])
    def apart(chosen):
        rest = [i for i in range(len(both)) if i not in chosen]
        return abs(both[list(chosen)].mean() - both[rest].mean())
    ways = itertools.combinations(range(len(both)), len(a))
    return {"first": a, "second": b, "p": share(apart(range(len(a))), map(apart, ways))}


def group_ranges(groups, alpha, power):
    """Means with the spread of all groups: the residual of a one-way analysis of variance."""
    freedom = sum(map(len, groups)) - len(groups)
    sd = math.sqrt(sum(((np.array(g) - np.mean(g))**2).sum() for g in groups) / freedom)
    def one(g):
        low, high = stats.t.interval(1 - alpha, freedom, np.mean(g), sd / math.sqrt(len(g)))
        seen = (stats.t.isf(alpha / 2, freedom) + stats.t.isf(1 - power, freedom)) * sd / math.sqrt(len(g))
        return {"low": low, "high": high, "detectable": seen}
    return {"groups": groups, "alpha": alpha, "power": power, "sd": sd, "ranges": [one(g) for g in groups]}


def scores(rows):
    ranks = [2 * stats.rankdata(row) - len(row) - 1 for row in rows]
    return np.array([r / math.sqrt((r**2).sum()) for r in ranks])


def change(rows):
    """All orders of the rounds, one by one."""
    s = scores(rows)
    seen = (s.cumsum(axis=1)[:, :-1]**2).sum(axis=0)
    orders = itertools.permutations(range(s.shape[1]))
    largest = ((s[:, o].cumsum(axis=1)[:, :-1]**2).sum(axis=0).max() for o in orders)
    return {"rows": rows, "after": int(seen.argmax()) + 1, "p": share(seen.max(), largest)}


def order_of_arms(rows, cells, signs, first):
    """All falls of the coins, one by one: a coin for each cell and each two rounds."""
    s, (n, pairs) = scores(rows), (max(cells) + 1, len(rows[0]) // 2)
    turns = np.where(np.array(first), 1.0, -1.0)
    def statistic(coins):
        coins = np.array(coins).reshape(n, pairs).repeat(2, axis=1)
        z = np.array([g * (r * turns[c] * coins[c]).sum() for r, c, g in zip(s, cells, signs)])
        return (z**2).sum() + z.sum()**2 / math.sqrt(len(z))
    falls = itertools.product([1, -1], repeat=n * pairs)
    p = share(statistic([1] * n * pairs), map(statistic, falls))
    return {"rows": rows, "cells": cells, "signs": signs, "first": first, "p": p}


def fences(x):
    q1, q3 = np.quantile(x, [0.25, 0.75])
    beyond = lambda k: [q1 - k * (q3 - q1), q3 + k * (q3 - q1)]
    mad = stats.median_abs_deviation(x)
    return {"x": x, "q1": q1, "q3": q3, "inner": beyond(1.5), "outer": beyond(3), "mad": mad,
            "z": (x - np.median(x)) / (1.4826 * mad)}


EIGHT = np.array([0.4, -0.1, 0.3, 0.2, 0.6, -0.2, 0.5, 0.1])
OUT["trimmed"] = [
    trimmed([312.4, 309.8, 311.0, 310.2, 355.9, 309.9, 310.7, 311.6, 298.1, 310.4], 1),
    trimmed(list(REAL_FIRST), 4)]
OUT["three_of_five"] = [three_of_five(x) for x in (
    [93.1, 94.4, 94.5, 90.2, 94.3], [80, 85, 90, 95, 100], [10, 11, 12, 13, 14],
    [94.5, 94.5, 93.0, 93.0, 93.0], [50, 70, 71, 90, 91])]
OUT["spread"] = {"x": REAL_FIRST, "mean": REAL_FIRST.mean(), "sd": REAL_FIRST.std(ddof=1),
                 "se": stats.sem(REAL_FIRST)}
STEP = np.array([94.1, 94.2, 94.0, 94.1, 94.2, 94.1, 93.4, 93.3, 93.5, 93.4, 93.3, 93.4])
REAL_D = np.log(REAL_SECOND / REAL_FIRST)
FEW = [1.0, 2.0, 1.5, 1.2, 8.0, 9.0, 8.5, 8.2]
RISES = [0.3, 0.1, 0.5, 0.4, 0.9, 0.8, 1.4, 1.1, 1.6]
OUT["pettitt"] = [pettitt(x) for x in (STEP, REAL_FIRST, REAL_D, series, FEW, RISES, REAL_D[:14])]
OUT["mann_kendall"] = [mann_kendall(x) for x in (series, STEP, REAL_FIRST, REAL_D, RISES,
                                                 REAL_D[:19], [1, 1, 2, 2, 3, 5, 4, 4])]
OUT["neighbours"] = [neighbours(x) for x in (FEW, EIGHT, RISES[:7], [1, 1, 2, 2, 3, 5, 4, 4])]
OUT["two_samples"] = [two_samples(np.array(a), np.array(b)) for a, b in (
    (FEW[:4], FEW[4:]), (EIGHT[:3], EIGHT[3:]), (FIRST, SECOND[:8]), ([1, 1, 2], [2, 2, 3, 3]))]
OUT["groups"] = [group_ranges(groups, 0.005, 0.9) for groups in (
    [list(EIGHT[:4]), list(EIGHT[4:])], [FEW[:4], FEW[4:], RISES])]
ROWS = [FEW, list(EIGHT), list(REAL_D[4:12])]
OUT["change"] = [change(rows) for rows in (ROWS, ROWS[1:], [RISES[:8], FEW[::-1]])]
TURNS = [[True, False, False, True, True, False, True, False],
         [False, True, True, False, True, False, False, True]]
OUT["order_of_arms"] = [
    order_of_arms(ROWS, [0, 1, 1], [1, -1, 1], TURNS),
    order_of_arms([[9, 1, 2, 8, 7, 3, 6, 4], [1, 7, 8, 2, 6, 3, 2, 9]], [0, 1], [1, -1], TURNS)]
TWO = [94.0, 94.1, 94.2, 94.1, 94.0, 94.15, 90.1, 90.2, 90.0, 90.15, 90.05, 90.1]
HEAPS = [1 + 0.04 * i / 9 for i in range(10)] + [1.5 + 0.04 * i / 9 for i in range(10)]
OUT["dip"] = [{"x": x, "dip": linear_dip(x)} for x in (
    TWO, HEAPS, DEPRESSION, REAL_FIRST, REAL_D, SECOND, list(range(9)), [1, 1, 2, 8, 8, 9, 20])]
# The 5 % points of the dip, known to three digits.
OUT["dip_critical"] = [[8, 0.155], [10, 0.140], [12, 0.131], [15, 0.119], [20, 0.105],
                       [30, 0.088], [40, 0.0775], [60, 0.0645], [100, 0.0509], [200, 0.0370]]
OUT["fences"] = [fences(FIRST), fences(REAL_FIRST)]
OUT["fisher"] = [{"table": [a, n, b, m], "p": stats.fisher_exact([[a, n - a], [b, m - b]])[1]}
                 for a, n, b, m in ((3, 10**6, 12, 10**6), (1, 10, 9, 12), (0, 50, 3, 5000),
                                    (400, 900, 300, 800), (17, 40, 17, 40))]
# Half of the alpha at which the interval of the t sequence just reaches the margin.
OUT["sequence_equivalence"] = []
for first, second, margin in ((FIRST, SECOND, 0.02), (FIRST, SECOND, 0.0155),
                              (REAL_FIRST, REAL_SECOND, 0.2)):
    x, delta = np.log(second / first), math.log1p(margin)
    reach = lambda alpha: abs(x.mean()) + radius(len(x), x.std(ddof=1), alpha) - delta
    alpha = 1.0 if reach(1 - 1e-12) > 0 else math.exp(
        optimize.bisect(lambda log: min(reach(math.exp(log)), 1.0), -200, -1e-12, xtol=1e-13))
    OUT["sequence_equivalence"].append(
        {"first": first, "second": second, "delta": delta, "p": min(1.0, alpha / 2)})


def two_runs_p(first, second, shift):
    """Fisher's product of the two runs' p-values at the pair of centres that far apart for which it
    is largest, found by brute force over the first centre."""
    def loss(mu):
        return sum(max(0.0, math.log(e_value(x, c))) for x, c in ((first, mu), (second, mu + shift)))
    ends = sorted([first.mean(), second.mean() - shift])
    grid = np.linspace(*ends, 4001)
    at = min(range(len(grid)), key=lambda i: loss(grid[i]))
    near = grid[max(at - 1, 0)], grid[min(at + 1, 4000)]
    least = min(loss(grid[at]), optimize.minimize_scalar(
        loss, bounds=near, method="bounded", options={"xatol": 1e-14}).fun)
    return stats.chi2.sf(2 * least, 4)


OUT["two_runs"] = []
for first, second in ((np.log(REAL_FIRST[:19]), np.log(REAL_SECOND[:12])),
                      (np.log(FIRST), np.log(SECOND)), (EIGHT, DEPRESSION)):
    centre = second.mean() - first.mean()
    high = optimize.brentq(lambda x: two_runs_p(first, second, centre + x) - 0.05,
                           1e-6, 20 * first.std() + 20 * second.std(), xtol=1e-12)
    OUT["two_runs"].append({"first": first, "second": second, "radius": high,
                            "p": two_runs_p(first, second, 0.0)})

def scores(x, mu, scale):
    far = x - mu
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(far == 0, 0.0, np.clip(far / scale, -1, 1))


def score_scales(x, before):
    """The scale of each value, from those before it and from other ones."""
    off = lambda sample: list(np.abs(sample - np.median(sample))) if len(sample) else []
    known = [off(x[:i]) + off(before) for i in range(len(x))]
    return np.array([1.5 * np.median(all) if all else 0.0 for all in known])


def score_sequence(x, before, delta):
    bets = np.array([0.25, 0.5, 0.75, 0.95])
    scale = score_scales(x, before)
    sides = lambda mu, n: [
        np.mean([np.prod(1 + side * bet * scores(x, mu, scale)[:n]) for bet in bets])
        for side in (1, -1)]
    evidence = lambda mu, n=len(x): sum(sides(mu, n)) / 2
    reach = scale.max() + 1
    # The outermost candidates left on a fine grid, then the crossing beside each.
    grid = np.linspace(x.min() - reach, x.max() + reach, 40001)
    known = np.array([evidence(mu) for mu in grid[::50]])
    def end(alpha, order):
        coarse, seen = grid[::50][::order], known[::order]
        first = int(np.argmax(seen < 1 / alpha))
        fine = np.linspace(coarse[first - 1], coarse[first], 201)
        at = next(i for i, mu in enumerate(fine) if evidence(mu) < 1 / alpha)
        return optimize.brentq(
            lambda mu: evidence(mu) - 1 / alpha, fine[at - 1], fine[at], xtol=1e-16, rtol=1e-15)
    ends = lambda alpha: {"low": end(alpha, 1), "high": end(alpha, -1)}
    return {
        "d": x, "before": before, "delta": delta, "scales": scale,
        "e": evidence(0.0), "ends95": ends(0.05), "ends90": ends(0.10),
        "p": 1 / max([1.0] + [evidence(0.0, n) for n in range(1, len(x) + 1)]),
        "p_same": min(1.0, 1 / min(sides(-delta, len(x))[0], sides(delta, len(x))[1]))}


# One block of two has another scale; one value in ten is wild.
STEADY = np.array([(7 * i % 23 - 11) / 40 + (9.0 if i % 10 == 4 else 0.0) for i in range(30)])
OUT["score_sequence"] = [
    score_sequence(np.log(SECOND / FIRST), np.array([2e-4, -3e-4, 1e-4, 4e-4]), 0.0155),
    score_sequence(np.log(REAL_SECOND / REAL_FIRST), np.array([]), 0.3),
    score_sequence(STEADY, np.array([0.1, 0.3, -0.2, 0.2]), 0.2),
    score_sequence(STEADY + 0.8, np.array([5.1, 5.3, 4.8, 5.2]), 0.9)]


def between(y, se, new):
    """Paule and Mandel's variance, the Q profile, Cochran's test and the next run's range."""
    y, se, k = np.array(y), np.array(se), len(y)

    def q(tau2):
        w = 1 / (se**2 + tau2)
        return (w * (y - (w * y).sum() / w.sum())**2).sum()

    def tau(target):
        return 0.0 if q(0) <= target else math.sqrt(
            optimize.brentq(lambda t: q(t) - target, 0, 1e6, xtol=1e-18, rtol=1e-15))
    found = tau(k - 1)
    w = 1 / (se**2 + found**2)
    mean, error = (w * y).sum() / w.sum(), w.sum()**-0.5
    radius = stats.t.ppf(0.975, k - 1) * math.sqrt(found**2 + new**2 + error**2)
    return {"estimates": y, "standard_errors": se, "new": new, "mean": mean, "error": error,
            "tau": found, "low": tau(stats.chi2.ppf(0.975, k - 1)),
            "high": tau(stats.chi2.ppf(0.025, k - 1)), "p": stats.chi2.sf(q(0), k - 1),
            "next_low": mean - radius, "next_high": mean + radius}


OUT["between"] = [
    between([1.2, 1.5, 0.9, 1.1, 1.9, 1.3], [0.1, 0.12, 0.09, 0.2, 0.11, 0.1], 0.1),
    between([0.3289, 0.3845, 0.2195, 0.2222, 0.2255, -0.1246, 0.1110],
            [0.1971, 0.2029, 0.2745, 0.1430, 0.1877, 0.0981, 0.0388], 0.2),
    between([0.5, 0.52, 0.49, 0.51], [0.1, 0.1, 0.1, 0.1], 0.05)]
OUT["special"]["chi_square_upper"] = [
    [x, df, stats.chi2.sf(x, df)] for x, df in (
        (0.01, 1), (3.84, 1), (250.0, 1), (0.5, 2), (9.0, 2), (1.0, 7), (14.1, 7), (90.0, 7),
        (4.0, 10), (18.3, 10), (80.0, 119), (150.0, 119), (400.0, 119), (1000.0, 1000))]


def plain(o):
    if isinstance(o, dict):
        return {key: plain(value) for key, value in o.items()}
    if isinstance(o, (list, tuple, np.ndarray)):
        return [plain(value) for value in o]
    if isinstance(o, (np.integer, int)):
        return int(o)
    if isinstance(o, (np.floating, float)):
        return float(o) if math.isfinite(o) else None
    return o


print(json.dumps(plain(OUT), indent=1))
