// Links in a table that is walked through with arrow keys: one of them is a stop of the tab key, not two thousand.

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/// Has the links in the body of a table walked through, from the one with the address `at`, which gets the focus, or else the first.
export function rove(box, at) {
  const rows = [...box.querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.querySelector("a")));
  const links = rows.flat().filter(Boolean);
  if (!links.length) return;
  const left = at === null ? undefined : links.find((link) => link.getAttribute("href") === at);
  for (const link of links) link.tabIndex = -1;
  (left ?? links[0]).tabIndex = 0;
  left?.focus({ preventScroll: true });
  function go(link) {
    for (const other of links) if (other.tabIndex === 0) other.tabIndex = -1;
    link.tabIndex = 0;
    link.focus();
  }
  box.addEventListener("focusin", (event) => {
    const link = event.target.closest("td a, th a");
    if (!link || link.tabIndex === 0) return;
    for (const other of links) if (other.tabIndex === 0) other.tabIndex = -1;
    link.tabIndex = 0;
  });
  box.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const link = event.target.closest("td a, th a");
    if (!step || !link || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const cell = link.closest("td, th");
    let [row, column] = [cell.parentElement.sectionRowIndex + step[0], cell.cellIndex + step[1]];
    // Over what leads nowhere, as the path of a host to itself.
    while (rows[row] !== undefined && column >= 0 && column < rows[row].length) {
      if (rows[row][column]) return go(rows[row][column]);
      [row, column] = [row + step[0], column + step[1]];
    }
  });
}
