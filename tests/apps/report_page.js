// Runs the script of a report in a page of its own making: no browser, only as much of one as the script asks for.
// node report_page.js page.html: throws where a reader would see something wrong.
'use strict';
const assert = require('assert');

class Element {
  constructor(tagName, attributes = {}) {
    Object.assign(this, {tagName, attributes, children: [], parentNode: null, listeners: {}, hidden: false, namespaceURI: ''});
    Object.assign(this, {dataset: {}, style: {setProperty() {}}, scrollLeft: 0, clientWidth: 500, clientHeight: 300});
    Object.assign(this, {offsetWidth: 120, offsetHeight: 60});
    this.viewBox = {baseVal: {width: Number((attributes.viewBox || '').split(' ')[2])}};
  }
  get classes() { return (this.attributes.class || '').split(' ').filter(c => c); }
  set className(c) { this.attributes.class = c; }
  get classList() {
    const toggle = (c, on) => { this.attributes.class = [...this.classes.filter(o => o !== c), ...(on ? [c] : [])].join(' '); };
    return {toggle, add: c => toggle(c, true)};
  }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.attributes[name]; }
  append(...nodes) {
    for (const n of nodes) {
      if (n.remove) n.remove();
      if (n.tagName) n.parentNode = this;
      this.children.push(n);
    }
  }
  remove() {
    if (this.parentNode) this.parentNode.children = this.parentNode.children.filter(c => c !== this);
    this.parentNode = null;
  }
  before(node) {
    node.remove();
    node.parentNode = this.parentNode;
    this.parentNode.children.splice(this.parentNode.children.indexOf(this), 0, node);
  }
  replaceChildren(...nodes) {
    for (const c of [...this.children]) if (c.remove) c.remove();
    this.children = [];
    this.append(...nodes);
  }
  get textContent() { return this.children.map(c => c.tagName ? c.textContent : c).join(''); }
  set textContent(text) { this.replaceChildren(text); }
  get all() { return this.children.filter(c => c.tagName).flatMap(c => [c, ...c.all]); }
  querySelectorAll(selectors) {
    return this.all.filter(e => selectors.split(', ').some(s => s[0] === '.' ? e.classes.includes(s.slice(1)) : e.tagName === s));
  }
  querySelector(selectors) { return this.querySelectorAll(selectors)[0] || null; }
  getBoundingClientRect() { return {left: 30, width: this.viewBox.baseVal.width / 2}; }  // a page at half its size
  setPointerCapture() {}
  addEventListener(name, f) { this.listeners[name] = f; }
  tell(name, event) { this.listeners[name]({preventDefault() {}, pointerType: 'mouse', button: 0, ...event}); }
}

// The page is written so that every tag is closed.
const page = require('fs').readFileSync(process.argv[2], 'utf8');
const script = page.match(/<script>([^]*)<\/script>/)[1];
const top = new Element('document');
const meant = text => text.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&#39;/g, '\'').replace(/&amp;/g, '&');
let open = top;
for (const [, close, name, rest, empty, text] of
     page.replace(/<(style|script)>[^]*?<\/\1>|<!DOCTYPE html>|<!--[^]*?-->/g, '').matchAll(/<(\/?)([\w:]+)([^>]*?)(\/?)>|([^<]+)/g)) {
  if (text) { if (text.trim()) open.append(meant(text)); continue; }
  if (close) { assert.equal(name, open.tagName); open = open.parentNode; continue; }
  const element = new Element(name, Object.fromEntries([...rest.matchAll(/([\w:-]+)='([^']*)'/g)].map(a => [a[1], meant(a[2])])));
  open.append(element);
  if (!empty) open = element;
}
assert.equal(open, top);

const system = {matches: false, addEventListener(name, f) { this.changed = f; }};
const document = {documentElement: top.querySelector('html'), activeElement: null,
                  createElement: name => new Element(name), createElementNS: (space, name) => new Element(name),
                  querySelector: s => top.querySelector(s), querySelectorAll: s => top.querySelectorAll(s)};
new Function('document', 'matchMedia', 'getComputedStyle', script)(document, () => system, () => ({fill: '#000'}));

const shown = v => String(v).replace('-', '\u2212').replace(/e\+?(.+)/, '\u00d710^$1');
let readouts = 0;
for (const metadata of top.querySelectorAll('metadata')) {
  const svg = metadata.parentNode, data = JSON.parse(metadata.textContent), [left, , width] = data.plot;
  const tip = svg.parentNode.querySelector('.tip'), told = () => tip.hidden ? [] : tip.children.map(c => c.textContent);
  const rows = data.at.map((v, i) => i).filter(i => data.columns.some(c => c[2][i] !== null));
  const expected = i => [data.labels[i], ...data.columns.filter(c => c[2][i] !== null).map(c => c[0] + shown(c[2][i]))];
  const client = (v, [lo, hi] = data.x) => 30 + (left + width * (v - lo) / (hi - lo)) / 2;
  const look = (v, range) => { svg.tell('pointermove', {clientX: client(v, range)}); return told(); };
  const key = k => { svg.tell('keydown', {key: k}); return told(); };

  // Pointing tells the values of the nearest row, also from beside it; going away tells nothing.
  rows.forEach((i, k) => {
    const next = rows[k + 1];
    if (data.at[i] === data.at[rows[k - 1]]) return;  // the same day of a leap year's season
    assert.deepEqual(look(data.at[i]), expected(i));
    if (next !== undefined) assert.deepEqual(look(0.6 * data.at[i] + 0.4 * data.at[next]), expected(i));
    ++readouts;
  });
  svg.tell('pointerleave', {});
  assert.deepEqual(told(), []);
  assert.deepEqual(key('Home'), expected(rows[0]));
  assert.deepEqual(key('ArrowRight'), expected(rows[1]));
  assert.deepEqual(key('End'), expected(rows.at(-1)));
  assert.deepEqual(key('Escape'), []);
  if (!data.zoom) continue;

  // A third of the plot chosen with the mouse: positions mean other rows then, and Reset brings all of it back.
  const reset = svg.parentNode.querySelectorAll('button').find(b => b.textContent === 'Reset'), third = (data.x[1] - data.x[0]) / 3;
  const range = [data.x[0] + third, data.x[1] - third], curve = svg.querySelector('svg').querySelector('path');
  assert(reset.hidden);
  svg.tell('pointerdown', {clientX: client(range[0])});
  svg.tell('pointermove', {clientX: client(data.at[rows[0]])});
  assert.equal(svg.querySelectorAll('.chosen').length, 1);
  svg.tell('pointerup', {clientX: client(range[1])});
  assert(!reset.hidden && svg.querySelectorAll('.axis').every(e => e.style.display === 'none'));
  assert.equal(Number(curve.getAttribute('transform').match(/[\d.]+/)[0]).toFixed(6), '3.000000');
  for (const i of rows.filter(i => data.at[i] > range[0] && data.at[i] < range[1])) assert.deepEqual(look(data.at[i], range), expected(i));
  reset.onclick();
  assert(reset.hidden && svg.querySelectorAll('.zoomed').length === 0);
  assert.equal(curve.getAttribute('transform'), 'matrix(1,0,0,1,0,0)');
  assert.deepEqual(look(data.at[rows[0]]), expected(rows[0]));
}
assert(readouts > 0);

// Day and night: by the system until the reader says otherwise.
const theme = top.querySelectorAll('button').find(b => b.id === 'theme'), root = document.documentElement.dataset;
assert(theme.textContent.includes('Dark') && root.theme === undefined);
system.matches = true;
system.changed();
assert(theme.textContent.includes('Light'));
theme.onclick();
assert(root.theme === 'light' && theme.textContent.includes('Dark'));
theme.onclick();
assert(root.theme === 'dark' && theme.textContent.includes('Light'));
console.log(`${readouts} readouts`);
