import { html, type Markup, raw } from './markup.ts'

/** Nothing is loaded and nothing runs, whatever a client sent. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** What a page is made of. */
export interface PageParts {
  title: string
  /** CSS of the sandbox's own. */
  style: string
  header: Markup
  main: Markup
  footer: Markup
}

/** One page that needs nothing but itself: no network, no script. */
export function page({ title, style, header, main, footer }: PageParts): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta http-equiv="Content-Security-Policy" content="${raw(POLICY)}"><meta name="referrer" content="no-referrer"><title>${title}</title><style>${raw(style.replace(/\n/g, ''))}</style></head>
<body><header>${header}</header>
<main>${main}</main>
<footer>${footer}</footer></body></html>
`.text
}
