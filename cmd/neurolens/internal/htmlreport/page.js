"use strict";
// Sorts and filters tables, copies them, zooms charts, and shows what belongs to one run or point. Without it all is there to be
// read. What was done stands in the address: #SECTION?theme=dark&sort.points=-3&find.points=fp16&pick=ID&zoom.c1=X,Y,W,H
(() => {
const all = (what, within = document) => [...within.querySelectorAll(what)];
const make = (name, set, ...children) => {
  const e = Object.assign(document.createElement(name), set);
  e.append(...children);
  return e;
};

// The address: a section, and what was done to the page.
const [, section, rest] = /^#?([^?]*)\??(.*)$/.exec(location.hash);
const state = new URLSearchParams(rest);
let place = section;
const keep = (name, value) => {
  value ? state.set(name, value) : state.delete(name);
  const text = state.toString();
  history.replaceState(null, "", "#" + place + (text && "?" + text));
};
const go = () => document.getElementById(decodeURIComponent(place))?.scrollIntoView();
addEventListener("hashchange", () => {
  place = location.hash.slice(1).split("?")[0];
  keep("", "");
});

// What is read out, and what is shown beside a mark.
const said = make("div", {className: "said", role: "status"});
const tip = make("div", {className: "tip", hidden: true});
const say = (text) => { said.textContent = text; };
document.body.append(said, tip);

const copy = async (text, what) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", {value: text, className: "said"});
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(what + " copied");
};
const button = (text, act, label) => {
  const b = make("button", {type: "button", textContent: text, onclick: act});
  if (label) b.setAttribute("aria-label", label);
  return b;
};

// Light, dark, or as the system has it.
const themes = ["", "light", "dark"];
const themeButton = button("", () => theme(themes[(themes.indexOf(state.get("theme") || "") + 1) % 3]));
const theme = (name) => {
  name ? document.documentElement.dataset.theme = name : delete document.documentElement.dataset.theme;
  themeButton.textContent = "Theme: " + (name || "system");
  keep("theme", name);
};
document.querySelector("header").append(themeButton);
theme(themes.includes(state.get("theme")) ? state.get("theme") || "" : "");

// CSV as spreadsheets read it; what could be a formula gets an apostrophe.
const cell = (text) => {
  if (/^[=+\-@\t\r]/.test(text) && !/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
};
const csv = (rows) => rows.map((row) => row.map(cell).join(",") + "\n").join("");

// Tables.
const number = (text) => /^[-+−]?[\d,]*\.?\d+(e[-+]?\d+)?$/i.test(text) ? Number(text.replaceAll(",", "").replace("−", "-")) : NaN;
const collator = new Intl.Collator(undefined, {numeric: true});
const unknown = (text) => text === "" || text === "–";
const command = (table, key) => table.dataset.command && key ? table.dataset.command.replace("KEY", key) : "";
const tables = new Map();

const prepare = (table) => {
  const name = table.dataset.name, body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  let place = 0;
  const at = heads.map((h) => "stored" in h.dataset ? ++place : 0);
  let read;
  const rows = () => read ??= [...body.rows].map((row, i) => {
    const data = (row.dataset.v || "").split(";"), texts = [...row.cells].map((c) => c.textContent.trim());
    return {row, i, key: data[0], texts, find: texts.join("\n").toLowerCase(), values: texts.map((t, c) => at[c] ? data[at[c]] || "" : t)};
  });
  let sorted;
  const inOrder = () => sorted ?? rows();
  const count = make("span", {role: "status"});
  const inWords = (n) => n.toLocaleString("en") + (n === 1 ? " row" : " rows");
  const counted = () => {
    const n = rows().length, shown = rows().filter((r) => !r.row.hidden).length;
    count.textContent = shown === n ? inWords(n) : shown.toLocaleString("en") + " of " + inWords(n);
  };
  const sort = (by) => { // -3: by the third column, the largest first
    const c = Math.abs(by) - 1, sign = Math.sign(by);
    heads.forEach((h, i) => by && i === c ? h.setAttribute("aria-sort", by > 0 ? "ascending" : "descending") : h.removeAttribute("aria-sort"));
    sorted = undefined;
    if (by && heads[c]) {
      const known = rows().filter((r) => !unknown(r.values[c])), numbers = known.map((r) => at[c] ? Number(r.values[c]) : number(r.values[c]));
      const numeric = !numbers.some(Number.isNaN), keys = new Map(known.map((r, i) => [r, numeric ? numbers[i] : r.values[c]]));
      known.sort((a, b) => sign * (numeric ? keys.get(a) - keys.get(b) : collator.compare(keys.get(a), keys.get(b))) || a.i - b.i);
      sorted = known.concat(rows().filter((r) => unknown(r.values[c])));
    }
    const fragment = document.createDocumentFragment();
    body.remove(); // rows that are in no page are moved without the page
    for (const r of inOrder()) fragment.append(r.row);
    body.append(fragment);
    table.append(body);
    keep("sort." + name, by ? String(by) : "");
  };
  const filter = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const r of rows()) {
      r.row.hidden = !words.every((w) => w.length > 1 && w[0] === "-" ? !r.find.includes(w.slice(1)) : r.find.includes(w));
    }
    counted();
    keep("find." + name, text.trim());
  };
  heads.forEach((h, i) => {
    const text = h.textContent;
    h.replaceChildren(button(text, () => {
      const now = h.getAttribute("aria-sort");
      sort(now === "ascending" ? -(i + 1) : now ? 0 : i + 1);
      say(now === "ascending" ? text + ", largest first" : now ? "the order of the report" : text + ", smallest first");
    }));
    h.querySelector("button").title = "Sort by " + text;
  });
  const tools = make("div", {className: "tools"}), box = table.parentNode;
  const title = table.caption.textContent;
  if (body.rows.length > 15) {
    const find = make("input", {type: "search", placeholder: "Filter: words, -word", value: state.get("find." + name) || ""});
    find.setAttribute("aria-label", "Filter rows of " + title);
    find.oninput = () => filter(find.value);
    tools.append(find);
    if (find.value) filter(find.value);
  }
  tools.append(button("Copy as CSV", () => {
    const shows = !!table.dataset.command;
    const head = ["id", ...heads.map((h) => h.textContent + (h.dataset.unit ? " (" + h.dataset.unit + ")" : "")), ...shows ? ["command"] : []];
    const shown = inOrder().filter((r) => !r.row.hidden);
    copy(csv([head, ...shown.map((r) => [r.key, ...r.values.map((v) => unknown(v) ? "" : v), ...shows ? [command(table, r.key)] : []])]), inWords(shown.length));
  }, "Copy as CSV: " + title), count);
  box.before(tools);
  const by = Number(state.get("sort." + name));
  if (by) sort(by);
  count.textContent ||= inWords(body.rows.length);
  body.onclick = (e) => {
    const row = e.target.closest("tr"), key = (row?.dataset.v || "").split(";")[0];
    if (key && !getSelection().toString()) pick(key === picked ? "" : key, command(table, key));
  };
  box.onkeydown = (e) => { // rows, one after the other
    if (e.target !== box || !["ArrowDown", "ArrowUp"].includes(e.key) || !e.altKey) return;
    e.preventDefault();
    const shown = inOrder().filter((r) => !r.row.hidden && r.key), i = shown.findIndex((r) => r.key === picked);
    const next = shown[Math.max(0, Math.min(shown.length - 1, i + (e.key === "ArrowDown" ? 1 : -1)))];
    if (!next) return;
    pick(next.key, command(table, next.key));
    next.row.scrollIntoView({block: "nearest"});
    say(next.texts.join(", "));
  };
  tables.set(name, {sort, filter});
};

// What belongs to one run or point: its marks and its rows.
let picked = "";
const bar = make("div", {className: "bar", hidden: true, role: "region"}), barText = make("code", {className: "command"});
bar.setAttribute("aria-label", "Chosen run or point");
bar.append(barText, button("Copy", () => copy(barText.textContent, "command")), button("Clear", () => pick("", "")));
document.body.append(bar);
const pick = (key, text) => {
  picked = key;
  all(".picked").forEach((e) => e.classList.remove("picked"));
  all("svg.has-picked").forEach((e) => e.classList.remove("has-picked"));
  if (key) {
    const id = CSS.escape(key);
    all(`tr[data-v="${id}"],tr[data-v^="${id};"],[data-run="${id}"],[data-point="${id}"]`).forEach((e) => {
      e.classList.add("picked");
      e.closest("svg")?.classList.add("has-picked");
    });
  }
  barText.textContent = text || key;
  bar.hidden = !key;
  keep("pick", key);
};

// Charts.
const showTip = (text, x, y) => {
  tip.textContent = text;
  tip.hidden = !text;
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - width - 4)) + "px";
  tip.style.top = (y + 16 + height > innerHeight ? y - height - 10 : y + 16) + "px";
};
const chart = (figure) => {
  const svg = figure.querySelector(".chart svg"), box = figure.querySelector(".chart");
  if (!svg) return;
  const whole = (svg.getAttribute("viewBox") || "").split(/[\s,]+/).map(Number), title = figure.querySelector("h3").textContent;
  const marks = () => all("[data-x],[data-y]", svg);
  const texts = new WeakMap(); // of marks: the browser need not show them as well
  const textOf = (mark) => {
    if (!texts.has(mark)) {
      const t = mark.querySelector("title");
      texts.set(mark, t ? t.textContent : mark.getAttribute("aria-label") || "");
      if (t) {
        mark.setAttribute("aria-label", t.textContent);
        t.remove();
      }
    }
    return texts.get(mark);
  };
  const markOf = (e) => e.target.closest?.("[data-x],[data-y]");
  svg.addEventListener("pointermove", (e) => {
    const mark = !drag && markOf(e);
    mark ? showTip(textOf(mark), e.clientX, e.clientY) : tip.hidden = true;
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  const choose = (mark) => {
    const key = mark.dataset.point || mark.dataset.run;
    if (key) pick(key === picked ? "" : key, mark.dataset.command || "");
  };

  // Zoom: what is seen of the drawing.
  let seen = whole;
  const see = (view) => {
    if (whole.length !== 4 || view.length !== 4 || view.some((v) => !Number.isFinite(v)) || view[2] <= 0 || view[3] <= 0) return;
    const w = Math.min(view[2], whole[2]), h = Math.min(view[3], whole[3]);
    seen = [Math.max(whole[0], Math.min(view[0], whole[0] + whole[2] - w)), Math.max(whole[1], Math.min(view[1], whole[1] + whole[3] - h)), w, h];
    svg.setAttribute("viewBox", seen.map((v) => +v.toFixed(2)).join(" "));
    svg.classList.toggle("zoomed", w < whole[2]);
    keep("zoom." + figure.id, w < whole[2] ? seen.map((v) => +v.toFixed(1)).join(",") : "");
  };
  const zoom = (by, x = seen[0] + seen[2] / 2, y = seen[1] + seen[3] / 2) =>
    see([x - (x - seen[0]) * by, y - (y - seen[1]) * by, seen[2] * by, seen[3] * by]);
  const point = (e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let drag;
  svg.addEventListener("pointerdown", (e) => {
    if (e.button || e.pointerType === "touch") return;
    drag = {x: e.clientX, y: e.clientY, seen, moved: false};
  });
  addEventListener("pointermove", (e) => {
    if (!drag) return;
    drag.moved ||= Math.hypot(e.clientX - drag.x, e.clientY - drag.y) > 4;
    if (!drag.moved || seen[2] >= whole[2]) return;
    const scale = seen[2] / svg.getBoundingClientRect().width;
    see([drag.seen[0] - (e.clientX - drag.x) * scale, drag.seen[1] - (e.clientY - drag.y) * scale, seen[2], seen[3]]);
  });
  addEventListener("pointerup", () => { setTimeout(() => { drag = undefined; }); });
  svg.addEventListener("click", (e) => { const mark = markOf(e); if (mark && !drag?.moved) choose(mark); });
  svg.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const p = point(e);
    zoom(e.deltaY > 0 ? 1.25 : .8, p.x, p.y);
  }, {passive: false});
  svg.addEventListener("dblclick", (e) => { const p = point(e); zoom(.5, p.x, p.y); });

  // By keys: from mark to mark, and closer.
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", title + ". Arrow keys go from mark to mark, Enter chooses, plus and minus zoom.");
  let now = -1;
  box.addEventListener("keydown", (e) => {
    const list = marks(), step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
    const old = list[now];
    if (step || e.key === "Home" || e.key === "End") now = step ? (now + step + list.length) % list.length : e.key === "Home" ? 0 : list.length - 1;
    else if (e.key === "Enter" && old) choose(old);
    else if (e.key === "+" || e.key === "=") zoom(.8);
    else if (e.key === "-") zoom(1.25);
    else if (e.key === "0") see(whole);
    else if (e.key === "Escape") { pick("", ""); now = -1; tip.hidden = true; }
    else return;
    e.preventDefault();
    old?.classList.remove("at");
    if (!list[now]) return;
    list[now].classList.add("at");
    const r = list[now].getBoundingClientRect();
    showTip(textOf(list[now]), r.right, r.top);
    say(textOf(list[now]));
  });
  box.addEventListener("blur", () => { tip.hidden = true; all(".at", svg).forEach((m) => m.classList.remove("at")); });

  const names = ["x", "y", "low", "high", "value", "run", "point"];
  figure.querySelector("figcaption").append(make("div", {className: "tools"},
    button("+", () => zoom(.8), "Zoom in: " + title), button("−", () => zoom(1.25), "Zoom out: " + title), button("Reset", () => see(whole), "Reset: " + title),
    button("Copy values", () => copy(csv([[...names, "text"], ...marks().map((m) => [...names.map((n) => m.dataset[n] || ""), textOf(m)])]), marks().length + " values"), "Copy values: " + title)));
  const view = state.get("zoom." + figure.id);
  if (view) see(view.split(",").map(Number));
};

all("table[data-name]").forEach(prepare);
all("figure").forEach(chart);
if (state.get("pick")) {
  const key = state.get("pick"), row = document.querySelector(`tr[data-v="${CSS.escape(key)}"],tr[data-v^="${CSS.escape(key)};"]`);
  pick(key, row ? command(row.closest("table"), key) : "");
}
all("code.command").forEach((code) => code.after(" ", button("Copy", () => copy(code.textContent, "command"), "Copy: " + code.textContent)));
addEventListener("beforeprint", () => all("details").forEach((d) => { d.open = true; }));
addEventListener("keydown", (e) => { if (e.key === "Escape" && picked) pick("", ""); });

// The contents say where the reader is.
const links = new Map(all("nav a").map((a) => [a.hash.slice(1), a]));
const watch = new IntersectionObserver((entries) => entries.forEach((e) => {
  if (!e.isIntersecting) return;
  links.forEach((a) => a.removeAttribute("aria-current"));
  links.get(e.target.id)?.setAttribute("aria-current", "true");
}), {rootMargin: "0px 0px -75% 0px"});
all("main>section").forEach((s) => watch.observe(s));
if (rest && place) go();
})();
