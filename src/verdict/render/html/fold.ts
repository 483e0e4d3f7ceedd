import { html, type Markup } from './markup.ts'

/** A chapter that a reader opens: what is well, or was not tested. */
export function fold(title: string, count: number | undefined, content: Markup): Markup {
  return html`<details class="fold"><summary><h2>${title}${count !== undefined && html` <small>${count}</small>`}</h2></summary>${content}</details>`
}
