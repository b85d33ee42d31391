// Charts that grow while a measurement goes on. What they show also stands in words beside them.

import { amount, h } from "./dom.js";

const HEIGHT = 130;
const charts = new WeakMap();

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/// Draws `data` in `place`, anew if the number of lines or the width has changed.
function draw(place, name, options, data) {
  const width = Math.max(160, place.clientWidth);
  const known = charts.get(place);
  const shape = `${data.length} ${width} ${options.scales?.x?.range} ${options.scales?.y?.range} ${document.documentElement.dataset.theme}`;
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", name);
  if (known?.shape === shape) return known.plot.setData(data);
  known?.plot.destroy();
  const plot = new uPlot({ width, height: HEIGHT, legend: { show: false }, cursor: { show: false }, ...options }, data, place);
  charts.set(place, { plot, shape });
}

/// Says in words why nothing is drawn.
function undrawn(place, text) {
  charts.get(place)?.plot.destroy();
  charts.delete(place);
  for (const name of ["role", "aria-label"]) place.removeAttribute(name);
  place.replaceChildren(h("p", { class: "quiet" }, text));
}

function axes(values, across) {
  const line = { stroke: colour("--ink3"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
  return [{ ...line, size: 24, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000], values: (plot, ticks) => ticks.map(across) }, { ...line, size: 62, values: (plot, ticks) => ticks.map(values) }];
}

/// What is shown as times, the first that is measured.
const TIMES = ["first-byte", "rtt", "connect", "lookup"];

/// The rates within transfers and the times of answers, of both families on one scale, with gaps while the
/// other family had its turn.
export function courses(panels, trials, questions, element) {
  const good = trials.filter((trial) => trial.valid && !trial.null);
  const metric = TIMES.find((name) => questions.some((question) => question.metric === name));
  const timed = questions.find((question) => question.metric === metric);
  const fast = questions.some((question) => question.metric === "throughput");
  const rates = {}, times = {};
  for (const family of ["v4", "v6"]) {
    const own = good.filter((trial) => trial.family === family);
    rates[family] = [[], []];
    for (const trial of own.filter((trial) => trial.course?.length)) {
      for (const [at, rate] of trial.course) {
        rates[family][0].push(trial.started_s + at);
        rates[family][1].push(rate);
      }
      rates[family][0].push(trial.started_s + trial.duration_s);
      rates[family][1].push(null);
    }
    const of = own.filter((trial) => trial.cell === timed?.cell);
    times[family] = [of.map((trial) => trial.started_s), of.map((trial) => trial.values[metric])];
    const last = (values) => values.findLast((value) => value !== null && value !== undefined) ?? null;
    const whole = own.findLast((trial) => trial.values.throughput !== undefined);
    panels[family].tell(fast ? whole?.values.throughput ?? null : undefined, last(times[family][1]), timed && timed.label[0].toLowerCase() + timed.label.slice(1));
  }
  const both = (of, at) => [...of.v4[at], ...of.v6[at]].filter((value) => value !== null && value !== undefined);
  // Of a long run there are more than a call takes.
  const most = (all, least) => all.reduce((a, b) => Math.max(a, b), least);
  const most_rate = most(both(rates, 1), 1) * 1.15;
  const most_time = most(both(times, 1), 1e-6) * 1.1;
  const end = most(both(times, 0), most(both(rates, 0), 1));
  element.dataset.points = both(rates, 1).length + both(times, 1).length;
  for (const family of ["v4", "v6"]) {
    const name = family === "v4" ? "IPv4" : "IPv6";
    const own = { stroke: colour(`--${family}`), fill: "transparent", width: 1.5, points: { show: false } };
    const dots = { stroke: colour(`--${family}`), width: 0, paths: () => null, points: { show: true, size: 5, fill: colour(`--${family}`) } };
    const scales = (most) => ({ x: { time: false, range: [0, end] }, y: { range: [0, most] } });
    panels[family].element.dataset.most = String(Math.round(most_rate));
    panels[family].rates.hidden = !both(rates, 1).length;
    panels[family].dots.hidden = !both(times, 1).length;
    if (both(rates, 1).length) draw(panels[family].rates, `Throughput of ${name} over time`, { scales: scales(most_rate), series: [{}, own], axes: axes((v) => amount(v, "bit/s"), (s) => `${s} s`) }, rates[family]);
    if (both(times, 1).length) draw(panels[family].dots, `${timed.label} over ${name}, over time`, { scales: scales(most_time), series: [{}, dots], axes: axes((v) => amount(v, "s"), (s) => `${s} s`) }, times[family]);
  }
}

/// How the range of a difference narrows with the pairs.
export function funnel(place, pairs, question, of) {
  const seen = pairs.map((pair) => [pair.pairs, pair.so_far.find((q) => q.cell === question.cell && q.metric === question.metric)])
    .filter(([, q]) => q?.range);
  if (!seen.length) return undrawn(place, "No range yet: a few pairs are needed.");
  if (!place.querySelector(".uplot")) place.replaceChildren();
  // What is a share differs by points.
  const unit = question.unit === "" ? "points" : "%";
  const values = (at) => seen.map(([, q]) => q.range[at] * 100);
  const ends = [...values(1), ...values(2), 0];
  const band = { stroke: colour("--axis"), width: 1, dash: [3, 3], points: { show: false } };
  const line = { stroke: colour("--ink"), width: 2, points: { show: false } };
  const zero = { stroke: colour("--ink3"), width: 1, points: { show: false } };
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const room = (most - least) * 0.1 || 0.1;
  draw(place, `${question.label}: ${of} so far, ${seen.at(-1)[1].text}`, {
    scales: { x: { time: false }, y: { range: [least - room, most + room] } },
    series: [{}, line, band, band, zero],
    bands: [{ series: [3, 2], fill: colour("--zone") }],
    axes: axes((value) => `${Number(value.toPrecision(3))} ${unit}`, (pairs) => `${pairs} pairs`),
  }, [seen.map(([count]) => count), values(0), values(1), values(2), seen.map(() => 0)]);
}
