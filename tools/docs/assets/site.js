// Search, the menu of small screens, and the theme.
"use strict";
const root = document.documentElement;
document.getElementById("theme").onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
};
const side = document.querySelector("nav");
document.getElementById("menu").onclick = () => side.classList.toggle("open");
const here = side.querySelector(".here");
if (here) here.scrollIntoView({block: "center"});

const query = document.getElementById("query"), results = document.getElementById("results");
let chosen = 0;

// A name that is the query, then one that starts with it, then one that holds it, then a comment that does.
function rank([name, scope, , brief], words) {
  let total = 0;
  for (const word of words) {
    const at = name.toLowerCase(), full = (scope + "::" + name).toLowerCase();
    if (at === word || full === word) total += 0;
    else if (at.startsWith(word)) total += 1 + at.length / 100;
    else if (full.includes(word)) total += 2 + at.length / 100;
    else if (brief.toLowerCase().includes(word)) total += 4;
    else return Infinity;
  }
  return total;
}
function escaped(text) {
  return text.replace(/[&<>]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[c]);
}
function show() {
  const words = query.value.toLowerCase().replace(/\b(np|numpy)::/g, "numpy::").replace(/\b(ct|cotan)::/g, "").split(/\s+/).filter(Boolean);
  const seen = new Set();
  const found = !words.length ? [] : window.search_index.map(row => [rank(row, words), row]).filter(([r]) => r < Infinity)
    .sort((a, b) => a[0] - b[0]).map(([, row]) => row).filter(([name, scope]) => {
      const key = scope + "::" + name;  // overloads stand one after another on their page
      return !seen.has(key) && seen.add(key);
    }).slice(0, 30);
  results.innerHTML = found.map(([name, scope, url, brief]) => `<li><a href="${url}"><b>${escaped(name)}</b> ` +
    `<span class="where">${escaped(scope)}</span><span class="brief">${escaped(brief)}</span></a></li>`).join("");
  results.classList.toggle("open", found.length > 0);
  choose(0);
}
function choose(i) {
  const links = results.querySelectorAll("a");
  if (!links.length) return;
  chosen = (i + links.length) % links.length;
  links.forEach((a, k) => a.classList.toggle("chosen", k === chosen));
  links[chosen].scrollIntoView({block: "nearest"});
}
query.oninput = show;
query.onkeydown = event => {
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Enter") results.querySelectorAll("a")[chosen]?.click();
  else if (event.key === "Escape") { query.value = ""; show(); query.blur(); }
  else return;
  event.preventDefault();
};
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== query) { event.preventDefault(); query.focus(); }
});
document.addEventListener("click", event => {
  if (!event.target.closest("#find")) results.classList.remove("open");
  else if (event.target.closest("a")) results.classList.remove("open");
});

const asked = new URLSearchParams(location.search).get("q");  // …?q=word
if (asked) { query.value = asked; show(); query.focus(); }
