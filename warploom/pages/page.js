"use strict";
// Charts, downloads, and statistics of runs. Data and Plotly are in the page, compressed (warploom/pages/rendering.py).

const root = document.documentElement;
const PAPER_WIDTH = 660;
const PAPER_HEIGHT = { wide: 220, square: 300 }, SQUARE_HEIGHT = "30rem"; // as page.css has them
const SHORT_LEGEND = 4, LEGEND_LINE = 19; // groups of marks, and pixels for a line of the legend

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (one) => one.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// ---------------------------------------------------------------- charts

function theme() {
  const style = getComputedStyle(root);
  const of = (name) => style.getPropertyValue(name).trim();
  return { of, font: { family: of("--sans"), size: root.classList.contains("on-paper") ? 10 : 13, color: of("--ink") } };
}

function axis(given, { of }) {
  const title = { ...given.title, font: { color: of("--soft") } };
  return { ...given, title, gridcolor: of("--line"), zerolinecolor: of("--soft"), linecolor: of("--line"),
           tickcolor: of("--line"), automargin: true };
}

function draw(place, data, width) {
  const { data: traces, layout, least } = data.charts[place.dataset.chart];
  const look = theme();
  const coloured = traces.map((trace) => {
    const color = look.of(`--series-${trace.meta.colour}`);
    const pattern = { ...trace.marker?.pattern, bgcolor: look.of("--paper"), fgcolor: color, size: 6 };
    return { ...trace, marker: { ...trace.marker, color, ...(trace.type === "bar" ? { pattern } : {}) } };
  });
  place.style.minWidth = width ? "0" : `${least}px`;
  const kind = place.classList.contains("square") ? "square" : "wide";
  // A long legend, a line for each group of marks, takes no height from the plot.
  const legend = kind === "square" && traces.length > SHORT_LEGEND ? traces.length * LEGEND_LINE : 0;
  const height = width ? `${PAPER_HEIGHT[kind]}px` : SQUARE_HEIGHT;
  place.style.height = legend ? `calc(${height} + ${legend}px)` : "";
  const styled = {
    ...layout, font: look.font, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    xaxis: axis(layout.xaxis, look), yaxis: axis(layout.yaxis, look), margin: { l: 56, r: 12, t: 12, b: 40 },
    shapes: (layout.shapes || []).map((shape) => ({ ...shape, line: { ...shape.line, color: look.of("--soft") } })),
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: look.font },
    hoverlabel: { bgcolor: look.of("--panel"), bordercolor: look.of("--line"), font: look.font },
    autosize: !width, width: width || undefined, height: width ? PAPER_HEIGHT[kind] + legend : undefined,
  };
  Plotly.react(place, coloured, styled, { displayModeBar: false, responsive: !width });
  const scroll = place.closest(".scroll");
  if (scroll.scrollWidth > scroll.clientWidth) scroll.tabIndex = 0; // for keys
  if (place.classList.contains("waiting")) {
    place.classList.remove("waiting");
    place.on("plotly_click", ({ points: [point] }) => follow(place, point));
  }
}

function follow(place, point) {
  // A bar leads to the runs that it is computed from, its row in the table to those of the whole row.
  const row = place.closest("section").querySelector(`a[data-row="${CSS.escape(point.x)}"]`);
  if (!row) return;
  const settings = point.data.meta.settings;
  const [slug, workload] = row.hash.slice("#run=".length).split("/");
  location.hash = settings.length ? `#run=${slug}/${workload}/${encodeURIComponent(settings.join("|"))}` : row.hash;
}

function startCharts(data) {
  const places = [...document.querySelectorAll("[data-chart]")];
  const drawn = () => places.filter((place) => !place.classList.contains("waiting"));
  const watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) {
        watch.unobserve(target);
        draw(target, data);
      }
    }
  }, { rootMargin: "600px" });
  places.forEach((place) => watch.observe(place));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn().forEach((one) => draw(one, data)));
  addEventListener("beforeprint", () => {
    root.classList.add("on-paper");
    document.querySelectorAll("details:not([open], .on-screen)").forEach((one) => {
      one.open = true;
      one.dataset.closed = "";
    });
    places.forEach((place) => draw(place, data, PAPER_WIDTH));
  });
  addEventListener("afterprint", () => {
    root.classList.remove("on-paper");
    document.querySelectorAll("details[data-closed]").forEach((one) => {
      one.open = false;
      delete one.dataset.closed;
    });
    places.forEach((place) => draw(place, data));
  });
}

// ---------------------------------------------------------------- downloads

function startDownloads(data) {
  document.addEventListener("click", ({ target }) => {
    const { download, kind } = target.dataset ?? {};
    if (!download) return;
    const file = data.files[download][kind];
    const text = kind === "json" ? JSON.stringify(file, null, 1) : file;
    const url = URL.createObjectURL(new Blob([text], { type: kind === "json" ? "application/json" : "text/csv" }));
    element("a", "", { href: url, download: `${download}.${kind}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  });
}

// ---------------------------------------------------------------- runs

function* leaves(value, name = "") {
  if (value !== null && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) yield* leaves(inner, name ? `${name}: ${key}` : key);
  } else {
    yield [name, value];
  }
}

function shown(value) {
  if (typeof value !== "number") return String(value ?? "–");
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toPrecision(5);
}

function statistics(workload, settings, runs) {
  const columns = settings.map((setting) => new Map(leaves(runs[setting])));
  const table = element("table");
  table.append(element("caption", `Statistics of ${workload}: counts unless docs/json.md says otherwise`));
  const head = element("tr");
  head.append(element("th", "statistic", { scope: "col" }));
  settings.forEach((setting) => head.append(element("th", setting, { scope: "col" })));
  const body = element("tbody");
  for (const name of new Set(columns.flatMap((column) => [...column.keys()]))) {
    const row = element("tr");
    row.append(element("th", name.replaceAll("_", " "), { scope: "row" }));
    columns.forEach((column) => row.append(element("td", shown(column.get(name)))));
    body.append(row);
  }
  table.append(element("thead"), body);
  table.tHead.append(head);
  return table;
}

function startRuns(data) {
  const dialog = document.getElementById("run");
  const show = () => {
    if (!location.hash.startsWith("#run=")) {
      dialog.close();
      return;
    }
    const [slug, workload, chosen] = location.hash.slice("#run=".length).split("/").map(decodeURIComponent);
    const { title, commands, runs } = data.runs[slug] ?? {};
    if (!runs?.[workload]) return;
    const settings = chosen.split("|").filter((setting) => setting in runs[workload]);
    document.getElementById("run-title").textContent = `${workload} in “${title}”`;
    const content = document.getElementById("run-content");
    content.replaceChildren();
    const repeated = settings.filter((setting) => commands[setting]);
    if (repeated.length) {
      content.append(element("h3", repeated.length > 1 ? "Commands that repeat these runs" : "Command that repeats it"));
      const lines = repeated.map((setting) => `${commands[setting].replace("KERNEL", workload)}  # ${setting}`);
      content.append(element("pre", lines.join("\n"), { tabindex: "0" }));
    }
    const scroll = element("div", undefined, { class: "scroll", tabindex: "0", role: "group",
                                               "aria-label": "Statistics" });
    scroll.append(statistics(workload, settings, runs[workload]));
    content.append(scroll);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  };
  dialog.addEventListener("close", () => {
    if (location.hash.startsWith("#run=")) history.replaceState(null, "", location.pathname + location.search);
  });
  document.getElementById("run-close").addEventListener("click", () => dialog.close());
  addEventListener("hashchange", show);
  show();
}

async function start() {
  const [data, plotly] = await Promise.all([unpacked("data").then(JSON.parse), unpacked("plotly")]);
  startDownloads(data);
  startRuns(data);
  document.head.append(element("script", plotly));
  startCharts(data);
  root.dataset.ready = "yes";
}

start();
