import { expect, test } from 'vitest'
import { renderReports } from '../../../src/verdict/render/render-reports.ts'
import { mergedReport, type Report } from '../../../src/verdict/report.ts'
import { dataOf, headingsOf, shownOf } from '../../helpers/page-data.ts'
import { HOSTILE, sampleReport } from './sample-report.ts'

const renderHtml = (reports: readonly Report[]) => renderReports('html', reports)

test('is small beside its data, needs nothing from elsewhere, and runs nothing', () => {
  const page = renderHtml([sampleReport()])
  const shown = shownOf(page)
  expect(Buffer.byteLength(shown)).toBeLessThan(60 * 1024)
  expect(shown).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=/i)
  expect(page).toContain("default-src 'none'")
})

test('holds the data of its JSON form, so that it can be shown again', () => {
  const reports = [sampleReport(), sampleReport()]
  expect(dataOf(renderHtml(reports))).toEqual({ kind: 'report', data: mergedReport(reports) })
  expect(dataOf(renderHtml(reports.slice(1)))).toEqual({ kind: 'report', data: reports[1] })
})

test.each(HOSTILE)('escapes whatever a client sent (%#)', (text) => {
  const page = renderHtml([sampleReport(text)])
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(page.match(/<\/script/g)).toHaveLength(1)
  expect(shownOf(page)).not.toMatch(/<script|<img|<!\[CDATA/)
  expect(page).not.toMatch(/\p{Cs}|[^\P{Cc}\n]|[\u202e\u2066\u2028]/u)
  expect(Buffer.byteLength(page)).toBeLessThan(600_000)
})

test('the verdict comes first, then the money, the set-up, what was broken, what needs review, and folded the rest', () => {
  const page = renderHtml([sampleReport()])
  const [first, ...others] = headingsOf(page)
  expect(first).toMatch(/^A (dropped|repeated)/)
  expect(others).toEqual([
    'What became of the money',
    'Set-up',
    'Broken',
    'Needs review',
    'Errored',
    'Kept',
    'Not tested',
    'Coverage',
  ])
  const folds = [...page.matchAll(/<details class="fold"( open)?><summary><h2>(.*?)</g)]
  expect(folds.map(([, open, text]) => [open, text!.trim()])).toEqual(
    ['Kept', 'Not tested', 'Coverage'].map((title) => [undefined, title]),
  )
})

test('compares the keys of requests that ask for the same, and shows an answer that was lost', () => {
  const { exchanges } = sampleReport()
  const page = renderHtml([sampleReport()])
  const [card = ''] = /<article class="card stack bad" id="finding-.*?<\/article>/s.exec(page) ?? []
  expect(exchanges).toHaveLength(3)
  expect(card.match(/<div class="exchange">/g)).toHaveLength(2)
  expect(card).toMatch(
    /class="again bad">.*sent again with <b>a new key<\/b>.*<code>1f3a9c1e…<\/code> ≠ <code>2f3a9c1e…</,
  )
  expect(
    card.match(/<li class="warn"><b><svg[^>]*>.*?<\/svg> Answer lost<\/b><span>connection reset after 220 ms/g),
  ).toHaveLength(1)
})

test('shows the body of a request, folded, and whose answer showed a total', () => {
  const report = sampleReport()
  const [first, second, ...others] = report.exchanges
  const exchanges = [{ ...first!, request_body: '{"amount": "<1>"}' }, { ...second!, shown_by: 'req_9' }, ...others]
  const page = renderHtml([{ ...report, exchanges }])
  expect(page).toContain(
    '<details class="body"><summary>body</summary><pre>{&quot;amount&quot;: &quot;&lt;1>&quot;}</pre>',
  )
  expect(page).toMatch(/the total that <small class="mute">req_9<\/small> showed/)
})

test('says which operations, error codes and faults the client met', () => {
  const page = renderHtml([sampleReport()])
  const { operations } = sampleReport().coverage
  const met = operations.filter(({ exercised }) => exercised)
  expect(page).toContain(`Operations <small class="mute">${met.length} of ${operations.length}</small>`)
  for (const { id, count } of met) expect(page).toContain(`<li class="on">✓ ${id} ×${count}</li>`)
})

test('of several reports, a table has every rule that one of them tested, by scenario, the broken ones first', () => {
  const report = sampleReport()
  const page = renderHtml([report, { ...report, scenario: 'second' }])
  expect(page).toContain('<a href="#run-1">second</a>')
  expect(page).toContain('id="run-1"')
  const rows = [...page.matchAll(/<tr><th scope="row"> <small>(.*?)<\/small><\/th>(.*?)<\/tr>/g)]
  const cells = rows.map(([, id, text]) => [
    id,
    ...[...text!.matchAll(/aria-label="(.*?)">(.)</g)].map(([, ...cell]) => cell.join(' ')),
  ])
  const tested = report.findings.filter(({ outcome }) => outcome !== 'not_exercised')
  expect(cells).toHaveLength(tested.length)
  const [failed] = tested.filter(({ outcome }) => outcome === 'failed')
  expect(cells[0]).toEqual([failed!.id, 'Broken ✗', 'Broken ✗'])
  const words = cells.map(([, word]) => word)
  expect([...new Set(words)]).toEqual(['Broken ✗', 'Needs review ?', 'Errored !', 'Kept ✓'])
})

test("nobody's home folder is named: commands have ~ for it", () => {
  const report = sampleReport()
  const command = "yield-sandbox exec --fixtures /home/bob/f.yaml -- '/Users/Ann/x' /root/y /homes/z"
  const findings = report.findings.map((finding) => ({ ...finding, exercise_with: command }))
  const page = renderHtml([{ ...report, findings }])
  expect(page).toContain("yield-sandbox exec --fixtures ~/f.yaml -- '~/x' ~/y /homes/z")
  expect(page).not.toMatch(/\/home\/bob|\/Users\/Ann|\/root/)
})
