// Pointing, zooming and the dark: added to charts whose metadata says what they show.
#include "report_assets.hpp"

namespace apps {

const std::string_view report_script = R"js(
'use strict';
const make = (name, attributes, parent) => {
  const e = document.createElementNS(parent.namespaceURI, name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  parent.append(e);
  return e;
};
const button = (text, title, parent, click) => {
  const b = document.createElement('button');
  b.type = 'button';
  b.textContent = text;
  b.title = title;
  b.setAttribute('aria-label', title);
  b.onclick = click;
  parent.append(b);
  return b;
};
const shown = v => String(v).replace('-', '\u2212').replace(/e\+?(.+)/, '\u00d710^$1');
const clamp = (v, lo, hi) => Math.min(Math.max(v, lo), hi);

/* Round numbers between two, about so many. */
const roundNumbers = (lo, hi, count) => {
  const rough = (hi - lo) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(m => m * power >= rough);
  const out = [];
  for (let k = Math.ceil(lo / step); hi >= k * step; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
};

/* A chart, with what its metadata says of it. */
const enliven = svg => {
  const data = JSON.parse(svg.querySelector('metadata').textContent);
  const [left, top, width, height] = data.plot, figure = svg.parentNode, plot = svg.querySelector('svg');
  const full = {x: data.x, y: data.y};
  let view = full, row = -1, dragFrom = null;
  const toX = (v, range = view.x) => width * (v - range[0]) / (range[1] - range[0]);
  const toY = (v, range = view.y) => height * (1 - (v - range[0]) / (range[1] - range[0]));
  const inView = i => data.at[i] >= view.x[0] && view.x[1] >= data.at[i];

  const overlay = make('g', {}, svg), ticks = make('g', {'font-size': 12, fill: '#5f6670'}, svg);
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  tip.setAttribute('role', 'status');
  figure.append(tip);
  svg.setAttribute('tabindex', 0);

  /* Where a pointer is, in the chart's own units from the left of the plot. */
  const pointer = event => {
    const box = svg.getBoundingClientRect();
    return clamp((event.clientX - box.left) * svg.viewBox.baseVal.width / box.width - left, 0, width);
  };
  const nearest = x => {
    let best = -1, away = Infinity;
    data.at.forEach((v, i) => {
      const d = Math.abs(toX(v) - x);
      if (inView(i) && away > d && data.columns.some(c => c[2][i] !== null)) { best = i; away = d; }
    });
    return best;
  };
  const point = i => {
    row = i;
    overlay.replaceChildren();
    tip.hidden = i === -1;
    if (tip.hidden) return;
    const x = left + toX(data.at[i]);
    make('path', {d: `M${x},${top}v${height}`, class: 'cursor'}, overlay);
    const lines = [];
    for (const [name, color, values] of data.columns) {
      if (values[i] === null) continue;
      const y = toY(values[i]), line = document.createElement('div'), what = document.createElement('span');
      const dot = make('circle', {cx: x, cy: top + y, r: 4, fill: color, class: 'picked'}, overlay);
      what.style.setProperty('--dot', getComputedStyle(dot).fill);
      if (-1 > y || y > height + 1) dot.remove();
      what.textContent = name;
      line.append(what, shown(values[i]));
      lines.push(line);
    }
    const head = document.createElement('b');
    head.textContent = data.labels[i];
    tip.replaceChildren(head, ...lines);
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width, at = x * scale;
    const room = figure.scrollLeft + figure.clientWidth - at;
    tip.style.left = (room > tip.offsetWidth + 14 ? at + 10 : Math.max(4, at - tip.offsetWidth - 10)) + 'px';
    tip.style.top = Math.max(4, Math.min(top * scale + 6, figure.clientHeight - tip.offsetHeight - 4)) + 'px';
  };

  /* The values that can be seen, with some room. */
  const valueRange = () => {
    const seen = data.columns.flatMap(c => c[2].filter((v, i) => v !== null && inView(i)));
    const lo = seen.reduce((a, b) => Math.min(a, b), Infinity), hi = seen.reduce((a, b) => Math.max(a, b), -Infinity);
    const room = 0.06 * (hi - lo) || 1;
    return hi >= lo ? [Math.max(lo - room, full.y[0]), Math.min(hi + room, full.y[1])] : full.y;
  };
  const draw = () => {
    const zoomed = view !== full;
    const kx = (full.x[1] - full.x[0]) / (view.x[1] - view.x[0]), ky = (full.y[1] - full.y[0]) / (view.y[1] - view.y[0]);
    const dx = toX(full.x[0]), dy = toY(full.y[1]);
    for (const e of plot.querySelectorAll('path, line, rect')) {
      e.classList.toggle('closer', zoomed);
      e.setAttribute('transform', `matrix(${kx},0,0,${ky},${dx},${dy})`);
    }
    for (const e of plot.querySelectorAll('circle, text'))
      for (const [name, k, d] of e.tagName === 'circle' ? [['cx', kx, dx], ['cy', ky, dy]] : [['x', kx, dx]]) {
        if (e.dataset[name] === undefined) e.dataset[name] = e.getAttribute(name);
        e.setAttribute(name, k * e.dataset[name] + d);
      }
    for (const e of svg.querySelectorAll('.axis')) e.style.display = zoomed ? 'none' : '';
    ticks.replaceChildren();
    reset.hidden = !zoomed;
    point(-1);
    if (!zoomed) return;
    for (const v of roundNumbers(...view.y, height > 130 ? 5 : 3)) {
      const y = top + toY(v);
      plot.before(make('path', {d: `M${left},${y}h${width}`, stroke: '#e4e7eb', class: 'zoomed'}, ticks));
      make('text', {x: left - 8, y: y + 4, 'text-anchor': 'end'}, ticks).textContent = shown(v);
    }
    const rows = data.at.map((v, i) => i).filter(inView), letters = Math.max(...data.labels.map(l => l.length));
    const every = Math.max(1, Math.ceil(rows.length / Math.max(1, Math.floor(width / (8 * letters + 24)))));
    for (const i of rows.filter((v, k) => k % every === 0)) {
      const x = left + toX(data.at[i]);
      make('path', {d: `M${x},${top + height}v5`, stroke: '#8a919b'}, ticks);
      const within = clamp(x, 4 * letters, svg.viewBox.baseVal.width - 4 * letters);
      make('text', {x: within, y: top + height + 19, 'text-anchor': 'middle'}, ticks).textContent = data.labels[i];
    }
  };
  const show = (lo, hi) => {
    for (const e of svg.querySelectorAll('.zoomed')) e.remove();
    lo = Math.max(lo, full.x[0]);
    hi = Math.min(hi, full.x[1]);
    const all = lo === full.x[0] && hi === full.x[1], some = data.at.filter(v => v >= lo && hi >= v).length > 1;
    if (!all && !some) return;
    view = all ? full : {x: [lo, hi], y: full.y};
    if (!all) view.y = valueRange();
    draw();
  };
  /* Closer or further by a factor, around a place of the plot. */
  const zoom = (factor, x = row === -1 ? width / 2 : toX(data.at[row])) => {
    const [lo, hi] = view.x, at = lo + (hi - lo) * x / width;
    show(at - (at - lo) * factor, at + (hi - at) * factor);
  };
  const showAll = () => show(...full.x);

  const tools = document.createElement('div');
  tools.className = 'tools';
  const reset = button('Reset', 'Show all again (double click)', tools, showAll);
  reset.hidden = true;
  if (data.zoom) {
    button('+', 'Look closer', tools, () => zoom(0.5));
    button('\u2212', 'Look from further away', tools, () => zoom(2));
    figure.append(tools);
    figure.classList.add('zooms');
  }

  svg.addEventListener('pointermove', event => {
    const x = pointer(event);
    if (dragFrom === null) return point(nearest(x));
    point(-1);
    make('rect', {x: left + Math.min(x, dragFrom), y: top, width: Math.abs(x - dragFrom), height, class: 'chosen'}, overlay);
  });
  svg.addEventListener('pointerdown', event => {
    if (event.pointerType === 'mouse' && event.button === 0 && data.zoom) {
      dragFrom = pointer(event);
      svg.setPointerCapture(event.pointerId);
    } else {
      point(nearest(pointer(event)));
    }
  });
  svg.addEventListener('pointerup', event => {
    if (dragFrom === null) return;
    const ends = [dragFrom, pointer(event)].sort((a, b) => a - b), [lo, hi] = view.x;
    dragFrom = null;
    if (ends[1] - ends[0] > 6) show(...ends.map(x => lo + (hi - lo) * x / width));
    else point(nearest(ends[1]));
  });
  svg.addEventListener('pointercancel', () => { dragFrom = null; });
  svg.addEventListener('pointerleave', event => { if (event.pointerType === 'mouse' && dragFrom === null) point(-1); });
  svg.addEventListener('blur', () => point(-1));
  if (data.zoom) {
    svg.addEventListener('dblclick', showAll);
    svg.addEventListener('wheel', event => {  /* elsewhere it scrolls the page */
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== svg) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, pointer(event));
    }, {passive: false});
  }
  svg.addEventListener('keydown', event => {
    const rows = data.at.map((v, i) => i).filter(i => inView(i) && data.columns.some(c => c[2][i] !== null));
    const at = rows.indexOf(row), to = {ArrowLeft: at === -1 ? rows.length - 1 : Math.max(at - 1, 0),
      ArrowRight: Math.min(at + 1, rows.length - 1), Home: 0, End: rows.length - 1}[event.key];
    if (to !== undefined && rows.length) point(rows[to]);
    else if (event.key === 'Escape') { if (row !== -1) point(-1); else showAll(); }
    else if (data.zoom && event.key === '+') zoom(0.5);
    else if (data.zoom && event.key === '-') zoom(2);
    else if (data.zoom && event.key === '0') showAll();
    else return;
    event.preventDefault();
  });
};
for (const metadata of document.querySelectorAll('metadata')) enliven(metadata.parentNode);

/* Day and night: as the system has it until the reader says otherwise. */
const root = document.documentElement, night = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : night.matches;
const theme = button('', 'Light or dark', document.querySelector('main'), () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  name();
});
theme.id = 'theme';
const name = () => { theme.textContent = isDark() ? '\u2600 Light' : '\u263e Dark'; };
night.addEventListener('change', name);
name();
)js";

}  // namespace apps
