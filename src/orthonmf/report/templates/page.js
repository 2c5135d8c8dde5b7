"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const color = (number, palette) => (number < 0 ? "var(--none)" : `var(--${palette}${number % 12})`);
  const make = (tag, className, textContent = "") =>
    Object.assign(document.createElement(tag), { className, textContent });
  const makeButton = (className, text) => Object.assign(make("button", className, text), { type: "button" });

  /* Theme: as the system says, until the button is pressed. */
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  function applyTheme() {
    root.dataset.theme = chosen || (dark.matches ? "dark" : "light");
    const button = document.getElementById("theme");
    const isDark = root.dataset.theme === "dark";
    button.textContent = isDark ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark ? "Switch to light colors" : "Switch to dark colors");
    maps.forEach(paint);
  }

  /* Heat maps: one pixel of the canvas is one cell, the style sheet makes it large. */
  const maps = Object.entries(data.maps).map(([id, bytes]) => {
    const levels = Uint8Array.from(atob(bytes), (byte) => byte.charCodeAt(0));
    const [rows, columns] = data.cells[id === "original" ? "came" : "ordered"];
    const field = document.querySelector(`#map-${id} .field`);
    return { id, levels, rows, columns, field, canvas: field.querySelector("canvas"), at: null };
  });

  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

  function ramp() {
    const stops = [1, 2, 3, 4].map((i) => rgb(css("--ramp" + i)));
    const table = [rgb(css("--ramp0"))];
    for (let level = 1; level < 256; level++) {
      const place = ((level - 1) / 254) * 3;
      const low = Math.min(2, Math.floor(place));
      const share = place - low;
      table.push(stops[low].map((v, c) => Math.round(v + (stops[low + 1][c] - v) * share)));
    }
    return table;
  }

  function paint(map) {
    const { canvas, levels } = map;
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    const table = ramp();
    for (let i = 0; i < levels.length; i++) {
      const [r, g, b] = table[levels[i]];
      image.data.set([r, g, b, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
  }

  function valueText(level) {
    if (level === 0) return "nothing";
    const { low, high } = data.scale;
    const value = low * Math.pow(high / low, (level - 1) / 254);
    return (level === 1 && data.scale.clipped ? "at most " : "about ") + Number(value.toPrecision(2));
  }

  const tip = document.getElementById("tip");
  const readout = document.getElementById("readout");

  function showCell(map, row, column, x, y, aloud) {
    const { width, height } = map.canvas;
    const value = valueText(map.levels[row * width + column]);
    const lines = [map.rows[row], map.columns[column], `root mean square: ${value}`];
    const cursor = map.field.querySelector(".cursor");
    cursor.hidden = tip.hidden = false;
    Object.assign(cursor.style, {
      left: `${((column + 0.5) / width) * 100}%`,
      top: `${((row + 0.5) / height) * 100}%`,
      width: `${100 / width}%`,
      height: `${100 / height}%`,
    });
    map.at = [row, column];
    tip.replaceChildren(...lines.map((line) => make("div", "", line)));
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.width - 8))}px`;
    tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18}px`;
    if (aloud) readout.textContent = lines.join(" · ");
  }

  function hideCell(map) {
    tip.hidden = true;
    map.field.querySelector(".cursor").hidden = true;
  }

  const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const clamp = (value, most) => Math.max(0, Math.min(most - 1, value));

  maps.forEach((map) => {
    const { field, canvas } = map;
    field.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      const column = clamp(Math.floor(((event.clientX - box.left) / box.width) * canvas.width), canvas.width);
      const row = clamp(Math.floor(((event.clientY - box.top) / box.height) * canvas.height), canvas.height);
      showCell(map, row, column, event.clientX, event.clientY, false);
    });
    field.addEventListener("pointerleave", () => hideCell(map));
    field.addEventListener("blur", () => hideCell(map));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return hideCell(map);
      const move = MOVES[event.key];
      if (!move) return undefined;
      event.preventDefault();
      const step = event.shiftKey ? 10 : 1;
      const [row, column] = map.at || [0, 0];
      const next = map.at ? [row + move[0] * step, column + move[1] * step] : [0, 0];
      const at = [clamp(next[0], canvas.height), clamp(next[1], canvas.width)];
      const box = canvas.getBoundingClientRect();
      const x = box.left + ((at[1] + 0.5) / canvas.width) * box.width;
      const y = box.top + ((at[0] + 0.5) / canvas.height) * box.height;
      return showCell(map, ...at, x, y, true);
    });
  });

  /* Search: names of rows and columns, where they are and what they belong to. */
  const MOST_HITS = 60;
  const input = document.getElementById("search");
  const hits = document.getElementById("hits");
  const count = document.getElementById("hit-count");

  function matches(text) {
    const wanted = text.toLowerCase();
    const named = [];
    ["rows", "columns"].forEach((side) => {
      const names = data.names[side];
      names.name.forEach((name, i) => {
        const place = name.toLowerCase().indexOf(wanted);
        if (place >= 0) named.push({ side, i, name, place });
      });
    });
    return named.sort((a, b) => a.place - b.place || a.name.length - b.name.length);
  }

  function mark(side, i) {
    const names = data.names[side], component = names.component[i];
    document.querySelectorAll("line.found").forEach((line) => line.remove());
    document.querySelectorAll(".card.found, tr.found").forEach((card) => card.classList.remove("found"));
    maps.forEach((map) => {
      const place = (map.id === "original" ? names.number[i] : names.place[i]) + 0.5;
      const share = place / names.total;
      const [x1, y1, x2, y2] = side === "rows" ? [0, share, 1, share] : [share, 0, share, 1];
      const line = `<line class="found" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
      map.field.querySelector("svg").insertAdjacentHTML("beforeend", line);
    });
    document.getElementById(`${names.belongs}-${component}`)?.classList.add("found");
    const belongs = component < 0 ? `belongs to no ${names.belongs}` : `${names.belongs} ${component}`;
    readout.textContent = `${names.name[i]}: ${belongs}; marked in red in the pictures`;
  }

  function hitElement(hit) {
    const names = data.names[hit.side];
    const component = names.component[hit.i];
    const belongs = component < 0 ? "none" : `${names.belongs} ${component}`;
    const what = `${hit.side === "rows" ? "row" : "feature"}, ${belongs}`;
    const item = make("li", ""), button = makeButton("hit", ""), dot = make("i", "dot-c");
    dot.style.background = color(component, names.palette);
    button.append(dot, make("span", "name", hit.name), make("span", "what", what));
    button.addEventListener("click", () => mark(hit.side, hit.i));
    item.append(button, copies(makeButton("copy", "copy"), () => hit.name));
    return item;
  }

  input.addEventListener("input", () => {
    const text = input.value.trim();
    const named = text ? matches(text) : [];
    hits.replaceChildren(...named.slice(0, MOST_HITS).map(hitElement));
    const more = named.length > MOST_HITS ? `, the first ${MOST_HITS} shown` : "";
    count.textContent = text ? `${named.length} found${more}` : "";
  });

  /* Names to take along: the clipboard where the browser allows it, else a selection. */
  function copyText(text) {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.appendChild(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }

  function copies(button, textOf) {
    button.addEventListener("click", () => {
      const before = button.textContent;
      const done = () => {
        button.textContent = "copied";
        setTimeout(() => { button.textContent = before; }, 1200);
      };
      const text = textOf();
      if (!navigator.clipboard) { copyText(text); done(); return; }
      navigator.clipboard.writeText(text).catch(() => copyText(text)).then(done);
    });
    return button;
  }

  document.querySelectorAll("h4 .copy").forEach((button) => copies(button, () =>
    [...button.closest("h4").nextElementSibling.querySelectorAll(".name")].map((name) => name.title).join("\n")));

  /* Tables: a click on a heading sorts by it, a second one the other way round. */
  const keyOf = (cell) => {
    const text = (cell.dataset.value ?? cell.textContent).trim();
    const number = Number(text.replace(/[,%]/g, ""));
    return text === "" || Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));

  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      if (!head.textContent.trim()) return;
      const button = makeButton("sort", "");
      button.append(...head.childNodes);
      head.appendChild(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row.cells[at]), row]);
        rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
        table.tBodies[0].append(...rows.map((pair) => pair[1]));
      });
    });
  });

  document.getElementById("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    applyTheme();
  });
  dark.addEventListener("change", applyTheme);
  window.addEventListener("beforeprint", () => { root.dataset.theme = "light"; maps.forEach(paint); });
  window.addEventListener("afterprint", applyTheme);
  applyTheme();
  root.dataset.ready = "yes";
})();
