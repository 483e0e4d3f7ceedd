import { plainText, xmlEscaped } from './safe-text.ts'

/** Forbids the page to load or run anything, whatever a client sent. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** Parts of a page. */
export interface PageParts {
  title: string
  /** The sandbox's own CSS, never text from outside. */
  style: string
  header: Markup
  main: Markup
  footer: Markup
}

/** A self-contained page: no network, no script. */
export function page({ title, style, header, main, footer }: PageParts): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta http-equiv="Content-Security-Policy" content="${raw(POLICY)}"><meta name="referrer" content="no-referrer"><title>${title}</title><style>${raw(style.replace(/\n/g, ''))}</style></head>
<body><header>${header}</header>
<main>${main}</main>
<footer>${footer}</footer></body></html>
`.text
}

/** HTML that may stand in a page unescaped. */
export class Markup {
  constructor(readonly text: string) {}
}

/** A part of a template: text is escaped, markup is not; undefined, null and false give nothing. */
export type Part = Markup | string | number | undefined | null | false | readonly Part[]

/** A template that escapes its parts, for elements and for attributes in quotation marks. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.map((string, i) => string + (i < parts.length ? textOf(parts[i]) : '')).join(''))
}

/** Markup from the sandbox itself: the text must not contain anything from outside. */
export function raw(text: string): Markup {
  return new Markup(text)
}

function textOf(part: Part): string {
  if (part === undefined || part === null || part === false) return ''
  if (part instanceof Markup) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return xmlEscaped(plainText(String(part)))
}

/** CSS of every page. Text colours have a contrast of at least 4.5 to 1 against their background, in the light and the dark. */
export const STYLE = `
:root{color-scheme:light dark;
--paper:#fff;--card:#f7f8fa;--ink:#1a2029;--soft:#56606e;--line:#dfe3e8;--code:#eef0f3;
--pass:#14713d;--fail:#b3261e;--review:#8a5300;--none:#56606e;--setup:#5b3fb5;
--k0:#0b62c4;--k1:#a83e00;--k2:#7a2fa8;--k3:#0f6f6a;--k4:#b0245f;--k5:#5d6300}
@media (prefers-color-scheme:dark){:root{
--paper:#12161c;--card:#1a2028;--ink:#e8ebef;--soft:#a3adba;--line:#323b46;--code:#232b35;
--pass:#5fd08d;--fail:#ff8a80;--review:#f0b35a;--none:#a3adba;--setup:#b9a5ff;
--k0:#7db8ff;--k1:#ffa56b;--k2:#d3a0ff;--k3:#63d3cb;--k4:#ff8fbb;--k5:#cfd65f}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main,header,footer{max-width:54rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
h1,h2,h3{line-height:1.25;text-wrap:balance;margin:0}
h1{font-size:clamp(1.4rem,4.5vw,2.1rem);letter-spacing:-.015em}
h2{font-size:1.2rem;margin:2.75rem 0 1rem;display:flex;gap:.6rem;align-items:baseline}
h2 small{font-size:.9rem;font-weight:400;color:var(--soft)}
h3{font-size:1.05rem}
p{margin:.5rem 0}
ul,ol{margin:0;padding:0;list-style:none}
code,pre,kbd{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--code);border-radius:.25rem;padding:.1em .35em}
pre{background:var(--code);border-radius:.4rem;padding:.65rem .8rem;margin:.35rem 0 0;overflow-x:auto;overflow-wrap:normal}
pre code{background:none;padding:0}
.brand{display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;font-size:.9rem;color:var(--soft);margin-bottom:1.5rem}
.brand b{color:var(--ink)}
.verdict{display:inline-block;font-size:.8rem;font-weight:700;letter-spacing:.08em;text-transform:uppercase;color:var(--paper);background:var(--tone);border-radius:99px;padding:.2rem .8rem;margin-bottom:.8rem}
.passed{--tone:var(--pass)}.failed,.errored,.critical,.serious{--tone:var(--fail)}.inconclusive,.needs_review,.review,.warning{--tone:var(--review)}.not_exercised,.note{--tone:var(--none)}.setup{--tone:var(--setup)}
.numbers{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.6rem;margin:1.5rem 0 0}
.numbers div{background:var(--card);border-top:3px solid var(--tone);border-radius:.4rem;padding:.65rem .7rem;display:flex;flex-direction:column-reverse}
.numbers dd{margin:0;font-size:1.9rem;font-weight:650;line-height:1.1;color:var(--tone);font-variant-numeric:tabular-nums}
.numbers dt{color:var(--soft);font-size:clamp(.75rem,3.2vw,.9rem);overflow-wrap:normal}
.unmet{margin-top:1rem}.unmet li{padding-left:1.1rem;position:relative}.unmet li::before{content:"–";position:absolute;left:0;color:var(--soft)}
article{background:var(--card);border-left:4px solid var(--tone);border-radius:.4rem;padding:1.1rem 1.25rem;margin:0 0 1rem}
.tag{display:inline-block;font-size:.75rem;font-weight:600;color:var(--tone);border:1px solid currentColor;border-radius:99px;padding:0 .55rem;margin-right:.4rem}
.id{color:var(--soft);font-size:.85rem}
.facts{margin:.9rem 0 0;display:grid;grid-template-columns:minmax(0,1fr);gap:.65rem}
.facts dt{font-size:.75rem;font-weight:700;letter-spacing:.05em;text-transform:uppercase;color:var(--soft)}
.facts dd{margin:0}
.half{border-top:2px solid var(--tone);padding-top:.35rem}
@media (min-width:40rem){.facts{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}.facts>div{grid-column:1/-1}.facts>.half{grid-column:auto}}
blockquote{margin:0;padding-left:.8rem;border-left:2px solid var(--line);color:var(--soft)}
.list li{padding:.65rem 0;border-top:1px solid var(--line)}.list li:first-child{border-top:0}
.list p{margin:.15rem 0 0;color:var(--soft);font-size:.925rem}
.list b::before{content:var(--sign);color:var(--tone);margin-right:.5rem}
.passed{--sign:"✓"}.not_exercised{--sign:"–"}
.chips{display:flex;flex-wrap:wrap;gap:.4rem;margin:.4rem 0 1.1rem}
.chips li{font-size:.825rem;border:1px solid var(--line);border-radius:99px;padding:.05rem .65rem;color:var(--soft)}
.chips .on{background:var(--card);color:var(--ink);border-color:var(--pass)}.chips .on::before{content:"✓ ";color:var(--pass)}
.fold{margin-top:2.75rem}.fold h2{display:inline-flex;margin:0}.fold>:not(summary){margin-top:1rem}summary{cursor:pointer}summary::marker{color:var(--soft)}
.rest{color:var(--tone)}
.scroll{overflow-x:auto}.rules td{text-align:center}.rules thead th{vertical-align:bottom;text-align:center}.rules thead a{writing-mode:vertical-rl}.rules tbody th{white-space:nowrap}
table{overflow-wrap:normal;border-collapse:collapse;width:100%;font-size:.925rem}th,td{text-align:left;padding:.45rem .6rem;border-top:1px solid var(--line)}
th{color:var(--soft);font-weight:600}
@media (max-width:40rem){table{font-size:.85rem}th,td{padding:.4rem .35rem}.rules tbody th{white-space:normal}}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td b{color:var(--tone)}
.run{border-top:1px solid var(--line);margin-top:3rem;padding-top:2rem}
footer{color:var(--soft);font-size:.85rem;padding-top:2.5rem;padding-bottom:2.5rem}
@media print{:root{--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--code:#f2f2f2}body{font-size:11pt}article,.list li,.seq li{break-inside:avoid}h2{break-after:avoid}article{border:1px solid var(--line);border-left:4px solid var(--tone)}pre{white-space:pre-wrap}.verdict{print-color-adjust:exact}}
`

/** The head of a page. */
export interface VerdictHead {
  verdict: 'passed' | 'failed' | 'inconclusive'
  /** Begins with the verdict, as every summary does: `Passed: …`. */
  summary: string
  /** Counts and their names: successes, failures, open points. */
  numbers: readonly [well: Count, wrong: Count, open: Count]
}
type Count = readonly [count: number, name: string]

const TONES = ['passed', 'failed', 'not_exercised']

/** The verdict in one sentence, and three numbers. The sentence omits the word that the badge above it shows. */
export function verdictHead({ verdict, summary, numbers }: VerdictHead, level: 'h1' | 'h2' = 'h1'): Markup {
  const said = summary.replace(/^(passed|failed|inconclusive)[^:]*: /i, '')
  const sentence = said.charAt(0).toUpperCase() + said.slice(1)
  return html`<p class="verdict ${verdict}">${verdict}</p>
${level === 'h1' ? html`<h1>${sentence}</h1>` : html`<h2>${sentence}</h2>`}
<dl class="numbers">${numbers.map(([count, name], i) => html`<div class="${TONES[i]}"><dt>${name}</dt><dd>${count}</dd></div>`)}</dl>`
}

/** Numbers of rules that were kept, broken and not tested. */
export function findingNumbers(of: { proved: number; contradicted: number; unproved: number }): VerdictHead['numbers'] {
  return [
    [of.proved, 'rules kept'],
    [of.contradicted, 'broken'],
    [of.unproved, 'not tested'],
  ]
}
