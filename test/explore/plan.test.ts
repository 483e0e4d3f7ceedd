import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { readFault } from '../../src/exec/exec.ts'
import { repeatCommand } from '../../src/explore/plan/find-trial.ts'
import { HAZARDS } from '../../src/explore/plan/hazards.ts'
import {
  faultRules,
  faultText,
  heldFor,
  planTrials,
  trialOf,
  UNTRIED,
  untriedInWords,
  waits,
} from '../../src/explore/plan/plan.ts'
import { type Place, placesIn, placesOf, positionName } from '../../src/explore/plan/positions.ts'
import { checkRule } from '../../src/faults/fault-rule.ts'
import { KINDS } from '../../src/faults/kinds/index.ts'
import type { CausedTransfer } from '../../src/traffic/recorded-exchange.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'

const key = { key: 'k', use: 'first' } as const
const moved: CausedTransfer = {
  type: 'deposit',
  transaction_id: 'tx',
  tx_hash: '0x1',
  portfolio_id: 'p',
  amount_minor: '1',
  shown_by: null,
  steps: [],
}

/** One exchange of every operation, and a second page. */
const RUN: ExchangeParts[] = [
  { operation: 'token', external_id: null },
  { operation: 'list_pools', external_id: null },
  { operation: 'list_pools', external_id: null, request: { query: [['starting_after', 'c']] } },
  { operation: 'create_end_user', external_id: 'alice' },
  { operation: 'create_portfolio', idempotency: key },
  { operation: 'deposit', idempotency: key, transfer: moved },
  { operation: 'withdraw', idempotency: key, transfer: { ...moved, type: 'withdraw' } },
  { operation: 'list_portfolios' },
  { operation: 'list_transactions' },
]
const places = (run = RUN, stable = ['alice']): Place[] => placesOf(run.map(exchange), new Set(stable))

describe('positions', () => {
  test('are named by operation, end user and ordinal', () => {
    expect(places().map(({ position }) => positionName(position))).toEqual([
      'token#1',
      'list_pools#1',
      'list_pools#2',
      'create_end_user#1',
      'create_portfolio#1@alice',
      'deposit#1@alice',
      'withdraw#1@alice',
      'list_portfolios#1@alice',
      'list_transactions#1@alice',
    ])
  })

  test('go by the order in which end users appear where their names change', () => {
    const run = ['u-77', 'u-12', 'u-77'].map((external_id) => ({ operation: 'deposit', external_id }) as const)
    expect(places(run, []).map(({ position }) => positionName(position))).toEqual([
      'deposit#1@1',
      'deposit#1@2',
      'deposit#2@1',
    ])
  })

  test('name the tenant where there are several', () => {
    const run = ['acme', 'globex'].map((tenant) => ({ operation: 'deposit', tenant }) as const)
    expect(places(run).map(({ position }) => positionName(position))).toEqual([
      'deposit#1@alice(acme)',
      'deposit#1@alice(globex)',
    ])
  })

  test('transfer at the attempt that carries it out alone: a replay and one that joins it move nothing', () => {
    const run = (['first', 'replayed', 'joined'] as const).map(
      (use): ExchangeParts => ({ operation: 'deposit', idempotency: { key: 'k', use }, transfer: moved }),
    )
    expect(places(run).map(({ transferred }) => transferred)).toEqual([true, false, false])
    const refused: ExchangeParts = { operation: 'deposit', idempotency: key, transfer: { ...moved, tx_hash: null } }
    expect(places([refused]).map(({ transferred }) => transferred)).toEqual([false])
  })

  test('of trials are those of single faults: the retry that a pair harms is none of its own', () => {
    const [single] = planTrials(places(), { kinds: ['revert'], operations: ['deposit'] })
    const [strike] = single!.harms
    const both = [single!, trialOf([strike!, { ...strike!, position: { ...strike!.position, ordinal: 2 } }])]
    expect(both.map(({ harms }) => harms.length)).toEqual([1, 2])
    expect(placesIn(both)).toEqual(['deposit#1@alice'])
    expect(placesIn(both.filter(({ harms }) => harms.length > 1))).toEqual([])
  })

  test('know how they were answered, and whether a cursor was sent', () => {
    const answers: [ExchangeParts, string][] = [
      [{}, '200'],
      [{ response: { status: 422, code: 'insufficient_balance' } }, '422 insufficient_balance'],
      [{ end: 'dropped' }, 'dropped'],
      [{ end: 'dropped', response: null }, 'dropped'],
    ]
    expect(places(answers.map(([parts]) => parts)).map(({ answer }) => answer)).toEqual(answers.map(([, said]) => said))
    const asked = (name: string): ExchangeParts => ({ operation: 'list_pools', request: { query: [[name, 'x']] } })
    const cursors = places(['limit', 'starting_after', 'ending_before'].map(asked)).map(({ has_cursor }) => has_cursor)
    expect(cursors).toEqual([false, true, true])
    expect(places([{ operation: 'deposit', idempotency: null, transfer: moved }])[0]?.transferred).toBe(false)
  })

  test('make rules that match by name, else by the order of appearance, and by tenant where there are several', () => {
    const hazard = HAZARDS[0]!
    const position = { operation: 'deposit', tenant: null, external_id: 'alice', end_user: 1, ordinal: 2 } as const
    const matchOf = (parts: object) => faultRules([{ position: { ...position, ...parts }, hazard }])[0]?.match
    expect(matchOf({})).toEqual({ operation: 'deposit', external_id: 'alice', ordinal: 2 })
    expect(matchOf({ external_id: null })).toEqual({ operation: 'deposit', end_user: 1, ordinal: 2 })
    expect(matchOf({ external_id: null, end_user: null })).toEqual({ operation: 'deposit', ordinal: 2 })
    expect(matchOf({ tenant: 'acme' })).toMatchObject({ tenant: 'acme' })
  })

  test('what is no request to the service is none', () => {
    expect(places([{ operation: null }])).toEqual([])
  })
})

/** Kinds of scope service that end neither with the exchange nor by themselves. */
const LASTING = new Set<string>(
  KINDS.filter(({ kind, scope }) => scope === 'service' && kind !== 'outage' && kind !== 'reorg').map(
    ({ kind }) => kind,
  ),
)

const everything = { kinds: [], operations: [] } as const

describe('a plan', () => {
  test('has every hazard at every place where it fits, and each of its rules is sound', () => {
    const trials = planTrials(places(), everything)
    expect(new Set(trials.map(({ id }) => id)).size).toBe(trials.length)
    expect(new Set(trials.flatMap(({ harms }) => harms.map(({ hazard }) => hazard.id)))).toEqual(
      new Set(HAZARDS.filter(({ onlyNamed }) => onlyNamed === undefined).map(({ id }) => id)),
    )
    for (const { harms } of trials)
      for (const rule of faultRules(harms)) expect(checkRule(rule, ['acme'])).not.toBeInstanceOf(Array)
  })

  test('has every kind of fault, but for those that are known not to be tried', () => {
    const tried = new Set<string>(HAZARDS.map(({ rule }) => rule.kind))
    const untried = KINDS.map(({ kind }) => kind as string).filter((kind) => !tried.has(kind))
    expect(untried.sort()).toEqual(Object.keys(UNTRIED).sort())
    for (const reason of Object.values(UNTRIED)) expect(reason).toMatch(/^[a-z].{20,}[a-z]$/)
    const named = [10, 29, 59].map((s) => `answer-after-${s}s (each run takes ${s} s of real time)`).join(', ')
    expect(untriedInWords()).toMatch(/^not among the faults: apy_change \(business time /)
    expect(untriedInWords().split('; only where --faults names them: ')[1]).toBe(named)
  })

  test('lends a pool out only where money is taken out', () => {
    const trials = planTrials(places(), { ...everything, kinds: ['illiquid_pool'] })
    expect(trials.map(({ id }) => id)).toEqual(['withdraw#1@alice illiquid-pool'])
  })

  test('has what the client waits for last', () => {
    const trials = planTrials(places(), everything)
    const waiting = trials.map(waits)
    expect(waiting.indexOf(true)).toBe(waiting.length - waiting.filter(Boolean).length)
    expect(waiting.filter(Boolean).length).toBeGreaterThan(0)
    for (const trial of trials) {
      const urgencies = trial.harms.map(({ hazard }) => hazard.urgency)
      expect(waits(trial)).toBe(urgencies.includes('wait'))
      if (waits(trial)) expect(urgencies).toEqual(['wait'])
    }
  })

  test('makes a client wait that has one wait among its faults', () => {
    const of = (...kinds: string[]) => planTrials(places(), { ...everything, kinds })[0]!.harms
    expect(waits({ id: 'one of two', harms: [...of('revert'), ...of('hang')] })).toBe(true)
  })

  test('has first those that are urgent', () => {
    const order = ['money', 'retry', 'rest']
    const quick = planTrials(places(), everything).filter((trial) => !waits(trial))
    const ranks = quick.map(({ harms }) => {
      return harms.length * 100 + Math.max(...harms.map(({ hazard }) => order.indexOf(hazard.urgency)))
    })
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b))
  })

  test('has what takes a minute of real time only where it is named', () => {
    const plan = (...kinds: string[]) => planTrials(places(), { ...everything, kinds }).map(({ id }) => id)
    expect(plan('answer-after-59s')).toContain('deposit#1@alice answer-after-59s')
    for (const id of [...plan(), ...plan('latency')]) expect(id).not.toMatch(/answer-after/)
  })

  test('takes away in time what would last: business time stands still', () => {
    const held = (kinds: string[]) => new Set(planTrials(places(), { ...everything, kinds }).map(heldFor))
    expect(held(['stuck', 'chain_down', 'pool_paused', 'illiquid_pool', 'slow-answer'])).toEqual(new Set([3_000]))
    expect(held(['answer-after-29s'])).toEqual(new Set([29_000]))
    expect(held(['drop_connection', 'hang', 'outage'])).toEqual(new Set([0]))
    // What is kept broken for everybody outlasts the request: a right client would never get to its end.
    const forEver = HAZARDS.filter(({ rule, holds }) => LASTING.has(rule.kind) && holds === undefined)
    expect(forEver.map(({ id }) => id)).toEqual([])
  })

  test('begins with what can cost money and ends with what waits', () => {
    const trials = planTrials(places(), everything)
    const urgencies = trials.map(({ harms }) => harms[0]?.hazard.urgency)
    expect(urgencies).toEqual([...urgencies].sort((a, b) => rank(a) - rank(b)))
    expect(urgencies[0]).toBe('money')
    expect(waits(trials.at(-1)!)).toBe(true)
  })

  test('hits money only where money moved', () => {
    const refused: ExchangeParts = { operation: 'withdraw', idempotency: key, transfer: { ...moved, tx_hash: null } }
    const ids = planTrials(places([refused]), everything).map(({ harms }) => harms[0]?.hazard.id)
    expect(ids).toContain('reset-on-request')
    expect(ids).not.toContain('revert')
    expect(ids).not.toContain('reset-after-broadcast')
  })

  test('takes kinds, names and operations for a choice', () => {
    const plan = (wish: Partial<Parameters<typeof planTrials>[1]>) => planTrials(places(), { ...everything, ...wish })
    expect(plan({ kinds: ['revert'] }).map(({ id }) => id)).toEqual([
      'deposit#1@alice revert',
      'withdraw#1@alice revert',
    ])
    expect(plan({ kinds: ['half-a-body'], operations: ['token'] }).map(({ id }) => id)).toEqual(['token#1 half-a-body'])
    expect(plan({ kinds: ['expired_cursor'] }).map(({ id }) => id)).toEqual(['list_pools#2 expired-cursor'])
  })
})

describe('a command that does it again', () => {
  const trials = planTrials(places(), everything)

  test('has rules that --fault reads as they were', () => {
    for (const rule of trials.flatMap(({ harms }) => faultRules(harms)))
      expect(readFault(faultText(rule))).toEqual(rule)
  })

  test('is read by a shell word by word', () => {
    const terms = {
      command: ['npm', 'test', "it's $HOME; #"],
      seed: 7,
      clock: '2026-01-01T00:00:00Z',
      flags: ['--before', 'psql -c \'delete from "payments"\''],
    }
    const id = `deposit#1@o'neill + "son" $(true)\n reset-after-broadcast`
    // A function that prints its arguments stands for the command.
    const repeated = repeatCommand(id, terms).replace('yield-sandbox', 'words')
    const { stdout } = spawnSync('sh', ['-c', `words() { printf '%s\\0' "$@"; }; ${repeated}`], { encoding: 'utf8' })
    expect(stdout.split('\0').slice(0, -1)).toEqual([
      ...['explore', '--trial', id, '--seed', '7', '--clock', '2026-01-01T00:00:00Z'],
      ...[...terms.flags, '--', 'npm', 'test', "it's $HOME; #"],
    ])
  })
})

function rank(urgency: string | undefined): number {
  return ['money', 'retry', 'rest', 'wait'].indexOf(urgency ?? '')
}
