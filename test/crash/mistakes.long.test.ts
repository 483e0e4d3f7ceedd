import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import type { Exploration } from '../../src/explore/exploration.ts'
import type { ExploreTerms } from '../../src/explore/explore.ts'
import { ENV, exploring } from '../explore/exploring.ts'
import { CRASH_KINDS, type CrashKind, EXPECTED, EXPECTED_FAULTS, type ExpectedOutcome } from './expected.ts'

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-mistakes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const TRANSFERS = ['deposit#1@customer-1', 'deposit#2@customer-1', 'withdraw#1@customer-1'] as const

const FAULTS = ['reset-on-request', 'reset-after-broadcast', 'internal-error', 'gateway-timeout-after-broadcast']

const KILLS: Record<CrashKind, string> = {
  request: 'killed-on-request',
  unanswered: 'killed-unanswered',
  under_way: 'killed-under-way',
}

/** Explores the worker with this mistake, at its transfers. */
function exploringWorker(mistake: string, wish: Partial<ExploreTerms>): Promise<Exploration> {
  const env = { ...ENV, MISTAKE: mistake, WORKER_DIR: folder }
  return exploring([process.execPath, WORKER], { operations: ['deposit', 'withdraw'], env, ...wish })
}

/** What came of each trial, by the transfer and the hazard. */
function outcomesOf({ results }: Exploration) {
  const named = new Map(results.map(({ trial, outcome }) => [trial.id, outcome]))
  return (hazard: string) => TRANSFERS.map((place) => named.get(`${place} ${hazard}`))
}

/** Each outcome that the table leaves to chance and that it allows is as the table has it. */
function asExpected(came: readonly (string | undefined)[], expected: readonly ExpectedOutcome[]): unknown[] {
  return came.map((outcome, i) => {
    const allowed = expected[i] ?? null
    return allowed === null || (typeof allowed !== 'string' && allowed.some((one) => one === outcome))
      ? allowed
      : outcome
  })
}

describe.each(Object.entries(EXPECTED))('the worker with the mistake "%s"', (mistake, { kills }) => {
  test('comes to what is expected when it is killed', async () => {
    const restart = { recover: undefined, kill: undefined, restarts: 3 }
    const came = outcomesOf(await exploringWorker(mistake, { crash: restart }))
    const table = CRASH_KINDS.map((kind) => [kind, asExpected(came(KILLS[kind]), kills[kind].outcomes)])
    expect(Object.fromEntries(table)).toEqual(
      Object.fromEntries(CRASH_KINDS.map((kind) => [kind, kills[kind].outcomes])),
    )
  })

  test('has books that are right or wrong, as expected, when it is killed', async () => {
    const restart = { recover: undefined, kill: undefined, restarts: 3 }
    const { results } = await exploringWorker(mistake, { crash: restart, books: `node ${WORKER} books` })
    const wrong = new Map(
      results.map(({ trial, operations }) => [trial.id, operations.some(({ outcome }) => outcome === 'wrong_books')]),
    )
    const came = CRASH_KINDS.map((kind) => {
      const letters = TRANSFERS.map((place) => (wrong.get(`${place} ${KILLS[kind]}`) ? 'w' : 'r'))
      return [kind, letters.map((letter, i) => (kills[kind].books[i] === '?' ? '?' : letter)).join('')]
    })
    expect(Object.fromEntries(came)).toEqual(Object.fromEntries(CRASH_KINDS.map((kind) => [kind, kills[kind].books])))
  })

  test('comes to what is expected when a fault strikes', async () => {
    const came = outcomesOf(await exploringWorker(mistake, { kinds: FAULTS }))
    for (const fault of FAULTS) {
      const expected = EXPECTED_FAULTS[mistake]?.[fault] ?? 'survived'
      expect([fault, ...came(fault)]).toEqual([fault, expected, expected, expected])
    }
  })
})
