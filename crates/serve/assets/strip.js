// The history of a question as a strip: what the program draws and says of it.

import { h } from "./dom.js";

/// The picture with its edges in words, and below it a table that says the same.
export function strip(found, { open = false } = {}) {
  const [top, bottom] = found.edges;
  const [from, to] = found.ends;
  const rows = found.rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell))));
  return h("figure", { class: "strip", id_: "strip" },
    h("figcaption", {}, h("b", {}, found.label)),
    h("p", { class: "edge" }, top),
    picture(found.svg),
    h("p", { class: "edge" }, bottom),
    h("div", { class: "row edge" }, h("span", {}, from), h("span", { class: "space" }), h("span", {}, `${to} (UTC)`)),
    h("details", { open }, h("summary", {}, "The same in figures"),
      h("p", { class: "quiet" }, found.foot),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": found.title }, h("table", {},
        h("thead", {}, h("tr", {}, found.columns.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows)))));
}

/// The program's own drawing, whose texts it has escaped. A page of this server runs no script that stands in it.
function picture(svg) {
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  return drawn.nodeName === "svg" ? document.importNode(drawn, true) : h("p", { class: "quiet" }, "The picture cannot be shown; the table below says the same.");
}

/// Its changes, each in sentences.
export function changes(found) {
  return found.changes.map(({ first, sentences }) => h("li", {}, h("b", {}, `${found.label}, ${first} (UTC). `), sentences.join(" ")));
}
