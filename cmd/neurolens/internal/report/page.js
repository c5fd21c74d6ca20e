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
const command = (table, key) => table.dataset.command && key ? table.dataset.command.replace("KEY", key) : "";
const tables = [];

// How many rows of a table stand in the page at a time: a browser takes long to lay out thousands.
const most = 500;

const prepare = (table) => {
  const name = table.dataset.name, body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  let place = 0;
  const at = heads.map((h) => "stored" in h.dataset ? ++place : 0);
  const all = [...body.rows].map((row, i) => ({row, i}));
  const dataOf = (r) => r.data ??= (r.row.dataset.v || "").split(";");
  const keyOf = (r) => dataOf(r)[0];
  const textOf = (r, c) => r.row.cells[c].textContent.trim();
  const valueOf = (r, c) => at[c] ? dataOf(r)[at[c]] || "" : textOf(r, c);
  let sorted = all, matching = () => true, whole = state.get("rows." + name) === "all";
  const matches = () => sorted.filter(matching);
  const inWords = (n) => n.toLocaleString("en") + (n === 1 ? " row" : " rows");
  const count = make("span", {role: "status"});
  const more = button("", () => { // all rows, or the first ones
    whole = !whole;
    keep("rows." + name, whole ? "all" : "");
    show();
  });
  const show = () => {
    const rows = matches(), shown = whole ? rows : rows.slice(0, most);
    body.replaceChildren(...shown.map((r) => r.row));
    for (const r of shown) r.row.classList.toggle("picked", !!picked && keyOf(r) === picked);
    count.textContent = (rows.length < all.length ? rows.length.toLocaleString("en") + " of " : "") + inWords(all.length) + (shown.length < rows.length ? ", the first " + most + " are shown" : "");
    more.hidden = rows.length <= most;
    more.textContent = whole ? "Show the first " + most : "Show all " + rows.length.toLocaleString("en");
  };
  const sort = (by) => { // -3: by the third column, the largest first
    const c = Math.abs(by) - 1, sign = Math.sign(by);
    heads.forEach((h, i) => by && i === c ? h.setAttribute("aria-sort", by > 0 ? "ascending" : "descending") : h.removeAttribute("aria-sort"));
    sorted = all;
    if (by && heads[c]) {
      const known = [], others = [];
      for (const r of all) {
        const value = valueOf(r, c);
        value === "" ? others.push(r) : known.push({r, value, number: at[c] ? Number(value) : number(value)});
      }
      const numeric = !known.some((k) => Number.isNaN(k.number));
      known.sort((a, b) => sign * (numeric ? a.number - b.number : collator.compare(a.value, b.value)) || a.r.i - b.r.i);
      sorted = known.map((k) => k.r).concat(others);
    }
    show();
    keep("sort." + name, by ? String(by) : "");
  };
  const filter = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    matching = words.length === 0 ? () => true : (r) => {
      r.find ??= heads.map((_, c) => textOf(r, c)).join("\n").toLowerCase();
      return words.every((w) => w.length > 1 && w[0] === "-" ? !r.find.includes(w.slice(1)) : r.find.includes(w));
    };
    show();
    keep("find." + name, text.trim());
  };
  heads.forEach((h, i) => {
    const text = h.textContent;
    const b = button("", () => {
      const now = h.getAttribute("aria-sort");
      sort(now === "ascending" ? -(i + 1) : now ? 0 : i + 1);
      say(now === "ascending" ? text + ", largest first" : now ? "the order of the report" : text + ", smallest first");
    });
    b.append(...h.childNodes);
    b.title = "Sort by " + text;
    h.append(b);
  });
  const buttons = heads.map((h) => h.firstChild), texts = buttons.map((b) => b.textContent);
  const tools = make("div", {className: "tools"}), box = table.parentNode;
  const title = table.caption.textContent;
  if (all.length > 15) {
    const find = make("input", {type: "search", placeholder: "Filter: words, -word", value: state.get("find." + name) || ""});
    find.setAttribute("aria-label", "Filter rows of " + title);
    find.oninput = () => filter(find.value);
    tools.append(find);
    if (find.value) filter(find.value);
  }
  tools.append(button("Copy as CSV", () => {
    const shows = !!table.dataset.command;
    const head = ["id", ...heads.map((h) => h.textContent + (h.dataset.unit ? " (" + h.dataset.unit + ")" : "")), ...shows ? ["command"] : []];
    const rows = matches(), values = (r) => heads.map((_, c) => valueOf(r, c));
    copy(csv([head, ...rows.map((r) => [keyOf(r), ...values(r), ...shows ? [command(table, keyOf(r))] : []])]), inWords(rows.length));
  }, "Copy as CSV: " + title), more, count);
  box.before(tools);
  const by = Number(state.get("sort." + name));
  if (by) sort(by);
  else if (!count.textContent) show();
  body.onclick = (e) => {
    const row = e.target.closest("tr"), key = (row?.dataset.v || "").split(";")[0];
    if (key && !getSelection().toString()) pick(key === picked ? "" : key, command(table, key));
  };
  box.onkeydown = (e) => { // rows, one after the other
    if (e.target !== box || !["ArrowDown", "ArrowUp"].includes(e.key) || !e.altKey) return;
    e.preventDefault();
    const shown = [...body.rows].filter((r) => r.dataset.v), i = shown.findIndex((r) => r.dataset.v.split(";")[0] === picked);
    const next = shown[Math.max(0, Math.min(shown.length - 1, i + (e.key === "ArrowDown" ? 1 : -1)))];
    if (!next) return;
    const key = next.dataset.v.split(";")[0];
    pick(key, command(table, key));
    next.scrollIntoView({block: "nearest"});
    say([...next.cells].map((c) => c.textContent.trim()).join(", "));
  };
  addEventListener("beforeprint", () => {
    body.replaceChildren(...matches().map((r) => r.row));
    heads.forEach((h, i) => h.replaceChildren(texts[i])); // browsers repeat no header with buttons on the next page
  });
  addEventListener("afterprint", () => {
    heads.forEach((h, i) => h.replaceChildren(buttons[i]));
    show();
  });
  tables.push({commandOf: (key) => all.some((r) => keyOf(r) === key) ? command(table, key) : ""});
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
  const key = state.get("pick");
  pick(key, tables.map((t) => t.commandOf(key)).find(Boolean) || "");
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
