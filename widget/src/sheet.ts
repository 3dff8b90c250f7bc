/** Variables that an app sets on the element of the widget or above: `--openearn-…`. First light, then dark. */
const colours = {
  background: ['#ffffff', '#14171c'],
  surface: ['#f3f5f8', '#1f242c'],
  text: ['#15181d', '#f1f3f6'],
  muted: ['#4a5260', '#b4bcc9'],
  border: ['#77808e', '#7d8796'],
  accent: ['#0b57c9', '#8ab8ff'],
  'accent-text': ['#ffffff', '#0b1526'],
  danger: ['#a8201a', '#ff9d97'],
} as const

const colourOf = (at: 0 | 1) =>
  Object.entries(colours)
    .map(([name, values]) => `--${name}: var(--openearn-${name}, ${values[at]});`)
    .join(' ')

/**
 * The styles of the widget. A rule that is important inside of a shadow root wins over every rule of the page, so that the page's
 * styles for its own elements do not reach in. Lengths are pixels: the page decides what a `rem` is.
 */
const text = `
:host { all: initial !important; display: block !important; contain: layout style !important; isolation: isolate !important;
  min-width: 0 !important; max-width: 100% !important; box-sizing: border-box !important; }
* { box-sizing: border-box; unicode-bidi: isolate; }
.root { ${colourOf(0)} color-scheme: light; background: var(--background); color: var(--text);
  font: 400 16px/1.5 var(--openearn-font, system-ui, sans-serif); padding: 16px; border: 1px solid var(--border);
  border-radius: var(--openearn-radius, 12px); max-width: 640px; text-align: start; overflow-wrap: anywhere; }
.root.bare { background: none; padding: 0; border: 0; max-width: none; }
.root[data-theme="dark"] { ${colourOf(1)} color-scheme: dark; }
@media (prefers-color-scheme: dark) { .root[data-theme="auto"] { ${colourOf(1)} color-scheme: dark; } }
h2, h3, p, ul, ol, fieldset { margin: 0; padding: 0; border: 0; min-width: 0; }
h2 { font-size: 20px; line-height: 1.3; } h3 { font-size: 18px; line-height: 1.3; }
ul { list-style: none; } ol { padding-inline-start: 24px; }
.stack { display: grid; gap: 12px; grid-template-columns: minmax(0, 1fr); }
.row { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; min-width: 0; }
.between { justify-content: space-between; }
.card { background: var(--surface); border-radius: 8px; padding: 12px; }
.panel { border: 2px solid var(--accent); border-radius: 8px; padding: 12px; }
.muted { color: var(--muted); } .small { font-size: 14px; }
.alert { color: var(--danger); }
.figure { font-variant-numeric: tabular-nums; min-width: 0; max-width: 100%; }
button, input, select { font: inherit; color: inherit; min-height: 44px; max-width: 100%; min-width: 0; padding: 8px 12px;
  border: 1px solid var(--border); border-radius: 8px; background: var(--background); margin: 0; }
input, select { width: 100%; }
label { display: grid; gap: 4px; grid-template-columns: minmax(0, 1fr); }
button { cursor: pointer; }
button.main { background: var(--accent); color: var(--accent-text); border-color: var(--accent); font-weight: 600; }
button[aria-current="page"] { border-color: var(--accent); box-shadow: inset 0 -3px 0 var(--accent); }
button:disabled { cursor: not-allowed; opacity: 1; color: var(--muted); }
button.vault { display: grid; gap: 4px; grid-template-columns: minmax(0, 1fr); width: 100%; text-align: start; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[tabindex="-1"]:focus { outline: none; }
@media (prefers-reduced-motion: no-preference) { button { transition: border-color .1s; } }
`

let sheet: CSSStyleSheet | undefined

/** Gives a shadow root the styles. A constructed sheet is no inline style: a Content-Security-Policy has nothing against it. */
export function adopt(root: ShadowRoot): void {
  if (!sheet) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet]
}
