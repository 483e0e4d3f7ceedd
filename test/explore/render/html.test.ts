import { expect, test } from 'vitest'
import type { Exploration } from '../../../src/explore/exploration.ts'
import { renderExploration } from '../../../src/explore/render/render-exploration.ts'
import { dataOf, headingsOf, shownOf } from '../../helpers/page-data.ts'
import { HOSTILE, sampleReport } from '../../verdict/render/sample-report.ts'
import { sampleExploration } from './sample-exploration.ts'

// In Chromium: html.long.test.ts.
const renderHtml = (exploration: Exploration) => renderExploration('html', exploration)

test('is small beside its data, needs nothing from elsewhere, and runs nothing', () => {
  const page = renderHtml(sampleExploration())
  const shown = shownOf(page)
  expect(Buffer.byteLength(shown)).toBeLessThan(60 * 1024)
  expect(shown).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=/i)
  expect(page).toContain("default-src 'none'")
})

test('holds the data of its JSON form, so that it can be shown again', () => {
  const exploration = sampleExploration()
  const data = JSON.parse(renderExploration('json', exploration))
  expect(dataOf(renderHtml(exploration))).toEqual({ kind: 'exploration', data })
})

test('the verdict comes first, then the matrix, what went wrong, what is to be known, what is open', () => {
  const [first, ...others] = headingsOf(renderHtml(sampleExploration()))
  expect(first).toMatch(/^Money went astray in 6 of \d+ runs/)
  expect(others).toEqual(['Every fault at every place', 'Went wrong', 'To be known', 'Left open'])
})

test('a cell says in words what its sign and its colour say', () => {
  const page = renderHtml(sampleExploration())
  expect(page).toContain(
    '<span role="img" class="cell bad" title="paid twice: 2 of 2" aria-label="paid twice: 2 of 2">✗ 2</span>',
  )
})

test('the matrix has the worst faults first, and says of each outcome in it what it means', () => {
  const page = renderHtml(sampleExploration())
  const faults = [...page.matchAll(/<th scope="row">(.*?)<\/th>/g)].map(([, fault]) => fault)
  expect(faults.slice(0, 4)).toEqual(['reset after broadcast', 'close after broadcast', 'hangs on request', 'reverted'])
  expect(page).toContain('<b class="bad">✗ paid twice</b>: the same order moved money more than once')
  expect(page).toContain('<b class="plain">· not tried</b>: the run did not take place')
})

const cardsOf = (page: string) => page.match(/<article class="card stack bad">.*?<\/article>/gs) ?? []

test('alike failures are one, with the commands of all', () => {
  const [card = ''] = cardsOf(renderHtml(sampleExploration()))
  expect(card).toContain('<h3>reset after broadcast <span class="mute">at deposit 1 of alice</span></h3>')
  expect(card).toContain(': their 3 commands</summary>')
  expect(card.match(/again -- alice/g)).toHaveLength(4)
})

test('a run without exchanges is whole; with them, its requests and its money are shown', () => {
  const exploration = sampleExploration()
  const bare = cardsOf(renderHtml(exploration))[0]!
  expect(bare).not.toMatch(/class="exchange"|class="card money"/)
  const exchanges = sampleReport().exchanges.slice(0, 2)
  const owner = { tenant: 'acme', external_id: 'alice', pool_id: 'aave-usdc' }
  const amounts = { before_minor: '0', expected_minor: '1000000000', is_minor: '2000000000' }
  const money = [{ ...owner, token_symbol: 'USDC', token_decimals: 6, ...amounts }]
  const results = exploration.results.map((result) => ({ ...result, exchanges, money }))
  const card = cardsOf(renderHtml({ ...exploration, results }))[0]!
  expect(card.match(/class="exchange"/g)).toHaveLength(2)
  expect(card).toMatch(/<data value="1000000000" title="1,000,000,000 minor units">1,000\.00<\/data> too much/)
  const same = results.map((result) => ({ ...result, money: [{ ...money[0]!, is_minor: '1000000000' }] }))
  expect(cardsOf(renderHtml({ ...exploration, results: same }))[0]).not.toContain('class="card money"')
})

test.each(HOSTILE)('escapes whatever the command is called (%#)', (text) => {
  const page = renderHtml(sampleExploration(text))
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(page.match(/<\/script/g)).toHaveLength(1)
  expect(shownOf(page)).not.toMatch(/<script|<img|<!\[CDATA/)
  expect(page).not.toMatch(/\p{Cs}|[^\P{Cc}\n]|[\u202e\u2066\u2028]/u)
  expect(Buffer.byteLength(page)).toBeLessThan(600_000)
})
