/** The element in which a page holds the data that it was made of. */
const DATA = /<script type="application\/json" id="(report|exploration|certificate)">(.*?)<\/script>/s

/** A page without its data: what a reader sees. */
export function shownOf(page: string): string {
  return page.replace(DATA, '')
}

/** The data in a page; its kind is the id of the element. */
export function dataOf(page: string): { kind: string; data: unknown } {
  const [, kind = '', json = ''] = DATA.exec(page) ?? []
  return { kind, data: JSON.parse(json) }
}

/** Headings of a page in their order, without the numbers beside them. */
export function headingsOf(page: string, levels = '12'): string[] {
  const texts = [...page.matchAll(new RegExp(`<h[${levels}][^>]*>(.*?)<`, 'g'))]
  return texts.map(([, text = '']) => text.trim().replaceAll('&quot;', '"'))
}
