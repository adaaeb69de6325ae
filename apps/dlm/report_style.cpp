// The style of a report, by day, by night and on paper.
#include "report_assets.hpp"

namespace apps {

const std::string_view report_style = R"(
:root { color-scheme: light dark;
  --paper: light-dark(#ffffff, #16191d); --desk: light-dark(#f4f5f6, #0d0f12); --ink: light-dark(#1f2328, #e6e8eb);
  --soft: light-dark(#5f6670, #a3abb6); --rule: light-dark(#d8dce1, #363c45); --thin: light-dark(#eceef0, #262b32);
  --strong: light-dark(#8a919b, #7d8590); --accent: light-dark(#0072B2, #56B4E9); }
:root[data-theme='light'] { color-scheme: light; }
:root[data-theme='dark'] { color-scheme: dark; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--desk); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 980px; margin: 28px auto; padding: 40px 48px 32px; background: var(--paper);
  border: 1px solid var(--rule); border-radius: 6px; }
header { border-bottom: 3px solid var(--accent); padding-bottom: 14px; margin-bottom: 22px; }
h1, h2 { font-family: Charter, "Iowan Old Style", Georgia, "DejaVu Serif", serif; line-height: 1.2;
  overflow-wrap: anywhere; }
h1 { font-size: 27px; margin: 0; text-wrap: balance; }
h2 { font-size: 21px; margin: 40px 0 8px; }

p { margin: 0 0 12px; max-width: 46em; overflow-wrap: anywhere; }
.subtitle { color: var(--soft); margin: 6px 0 0; max-width: none; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 1px;
  margin: 0 0 26px; border: 1px solid var(--rule); border-radius: 6px; overflow: hidden; }
.facts div { box-shadow: 0 0 0 1px var(--rule); padding: 12px 16px; }
.facts dt { color: var(--soft); font-size: 13px; }
.facts dd { margin: 0; font-size: 21px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.facts dd.note { font-size: 13px; color: var(--soft); }
.tables { display: flex; flex-wrap: wrap; gap: 8px 48px; align-items: flex-start; }
.table { overflow-x: auto; max-width: 100%; margin: 6px 0 14px; }
table { border-collapse: collapse; font-size: 15px; font-variant-numeric: tabular-nums; }
caption, summary { text-align: left; font-weight: 600; padding: 0 0 6px; }
summary { cursor: pointer; color: var(--accent); padding: 4px 0; }
th, td { padding: 5px 22px 5px 0; text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
th { color: var(--soft); font-weight: 500; font-size: 13px; border-bottom: 1px solid var(--strong);
  vertical-align: bottom; }
tbody tr + tr td { border-top: 1px solid var(--thin); }
tbody tr:last-child td { border-bottom: 1px solid var(--strong); }
.number { text-align: right; white-space: nowrap; }
/* As wide as the table, and no reason for it to be wider. */
.tablenote { color: var(--soft); font-size: 13px; margin: 6px 0 0; width: 0; min-width: 100%; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(270px, 100%), 1fr)); gap: 12px 20px;
  margin: 10px 0 4px; }
figure { position: relative; margin: 0; min-width: 0; overflow-x: auto; border: 1px solid var(--thin); border-radius: 4px; }
figure.wide { grid-column: 1 / -1; }
figure > svg { display: block; width: 100%; height: auto; }
figure.wide > svg { min-width: 600px; }
figure.narrow > svg { min-width: 260px; }
footer { margin-top: 40px; padding-top: 12px; border-top: 1px solid var(--rule); color: var(--soft);
  font-size: 13px; overflow-wrap: anywhere; }
/* Colours of the charts, which are made for white paper, as they are in the dark. */
figure [fill='#ffffff'] { fill: var(--paper); }
figure [stroke='#ffffff'] { stroke: var(--paper); }
figure [fill='#222222'] { fill: var(--ink); }
figure [fill='#4a4f57'] { fill: light-dark(#4a4f57, #c3c9d1); }
figure [fill='#5f6670'] { fill: var(--soft); }
figure [stroke='#5f6670'] { stroke: var(--soft); }
figure [fill='#8a919b'] { fill: var(--strong); }
figure [stroke='#8a919b'] { stroke: var(--strong); }
figure [fill='#9aa1ab'] { fill: light-dark(#9aa1ab, #5d6570); }
figure [stroke='#b9bec6'] { stroke: light-dark(#b9bec6, #4b525c); }
figure [stroke='#e4e7eb'] { stroke: light-dark(#e4e7eb, #2a2f36); }
figure [fill='#0072B2'] { fill: var(--accent); }
figure [stroke='#0072B2'] { stroke: var(--accent); }
figure [fill='#D55E00'] { fill: light-dark(#D55E00, #ff8a3d); }
figure [stroke='#D55E00'] { stroke: light-dark(#D55E00, #ff8a3d); }
figure [stroke='#009E73'] { stroke: light-dark(#009E73, #2ec79b); }
figure [stroke='#AA4499'] { stroke: light-dark(#AA4499, #dd8fcf); }
/* What the script adds. */
button { font: inherit; font-size: 13px; line-height: 1; color: var(--soft); background: var(--paper);
  border: 1px solid var(--rule); border-radius: 4px; padding: 5px 8px; cursor: pointer; }
button:hover, button:focus-visible { color: var(--ink); border-color: var(--strong); }
button[hidden] { display: none; }
#theme { position: absolute; top: 12px; right: 12px; }
main { position: relative; }
figure .tools { position: absolute; top: 6px; right: 6px; display: flex; gap: 4px; }
figure svg:focus { outline: none; }
figure svg:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
figure.zooms > svg { cursor: crosshair; user-select: none; -webkit-user-select: none; }
.closer { vector-effect: non-scaling-stroke; }
.cursor { stroke: var(--strong); stroke-dasharray: 2 3; pointer-events: none; }
.picked { stroke: var(--paper); pointer-events: none; }
.chosen { fill: var(--accent); fill-opacity: 0.15; pointer-events: none; }
.tip { position: absolute; z-index: 1; pointer-events: none; padding: 6px 10px; border: 1px solid var(--rule); border-radius: 4px;
  background: var(--paper); box-shadow: 0 2px 8px #0003; font-size: 13px; line-height: 1.4; white-space: nowrap; }
.tip b { font-weight: 600; }
.tip div { display: flex; justify-content: space-between; gap: 14px; font-variant-numeric: tabular-nums; }
.tip span::before { content: ''; display: inline-block; width: 9px; height: 9px; margin-right: 6px; border-radius: 50%;
  background: var(--dot); }
@media (max-width: 640px) {
  main { margin: 0; padding: 22px 16px; border: 0; border-radius: 0; }
  h1 { font-size: 25px; }
  .facts { grid-template-columns: repeat(2, 1fr); }
  .facts dd { font-size: 18px; }
  th, td { padding-right: 14px; }
  figure .tools { position: sticky; left: 0; justify-content: flex-end; padding: 0 6px 6px; }
}
@media print {
  :root, :root[data-theme='dark'] { color-scheme: light; }
  button, .tip { display: none; }
  @page { margin: 16mm 14mm; }
  body { background: var(--paper); font-size: 10pt; }
  h1 { font-size: 19pt; }
  h2 { font-size: 13pt; margin-top: 22px; }
  section > p { break-after: avoid; }
  table { font-size: 9.5pt; }
  th, td { padding-top: 2px; padding-bottom: 2px; }
  .facts { grid-template-columns: repeat(auto-fit, minmax(115px, 1fr)); margin-bottom: 16px; }
  .facts div { padding: 7px 10px; }
  .facts dd { font-size: 13pt; }
  main { margin: 0; padding: 0; border: 0; max-width: none; }
  h2 { break-after: avoid; }
  figure, tr, .facts { break-inside: avoid; }
  figure { border: 0; overflow: visible; }
  figure.wide > svg, figure.narrow > svg { min-width: 0; }
  .charts { grid-template-columns: 1fr 1fr 1fr; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
)";

}  // namespace apps
