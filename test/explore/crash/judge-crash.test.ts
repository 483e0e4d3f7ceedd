import { describe, expect, test } from 'vitest'
import { afterCrash, crashOutcome } from '../../../src/explore/crash/judge-crash.ts'
import { type OperationOutcome, OUTCOMES, type OutcomeId } from '../../../src/oracle/outcome.ts'

function operation(outcome: OutcomeId, parts: Partial<OperationOutcome> = {}): OperationOutcome {
  const { level } = OUTCOMES[outcome]
  return {
    ...{ outcome, level, sentence: `${outcome}.`, tenant: 'acme', external_id: 'alice', type: 'deposit' },
    ...{ idempotency_key: 'k', amount_minor: '1', portfolio_id: 'p', request_ids: [] },
    ...parts,
  }
}

const ended = (code: number) => ({ code, signal: null, timedOut: false, leftBehind: [] })
const WELL = { end: ended(0), recovers: false }
const FAILED = { end: ended(75), recovers: false }
const worstOf = (...terms: Parameters<typeof afterCrash>) => {
  const [worst] = afterCrash(...terms)
  return worst && [crashOutcome(worst), worst.level]
}

describe('a killed command that ended well at its last start', () => {
  test.each(['gave_up', 'gave_up_looked', 'put_off', 'not_asked_for', 'stopped'] as const)(
    'has left undone what %s',
    (outcome) => {
      expect(worstOf([operation(outcome)], WELL)).toEqual(['left_undone', 'critical'])
      expect(worstOf([operation(outcome, { type: 'create_portfolio' })], WELL)).toEqual(['left_undone', 'serious'])
      expect(afterCrash([operation(outcome)], WELL)[0]?.sentence).toMatch(
        /^\w+\. The command was killed, and ended well /,
      )
    },
  )

  test('has not what was refused, and what went wrong is what it is', () => {
    for (const outcome of ['refused', 'paid_twice', 'untold', 'lucky', 'taken_back'] as const) {
      expect(worstOf([operation(outcome)], WELL)).toEqual([outcome, OUTCOMES[outcome].level])
    }
  })

  test('has left undone before all else what is worst', () => {
    const [first] = afterCrash([operation('lucky'), operation('gave_up')], WELL)
    expect(first?.outcome).toBe('gave_up')
    expect(worstOf([operation('paid_twice'), operation('gave_up')], WELL)).toEqual(['paid_twice', 'critical'])
  })

  test('with another command after the kill need not do what was never sent', () => {
    const recovering = { ...WELL, recovers: true }
    expect(afterCrash([operation('not_asked_for'), operation('stopped')], recovering)).toEqual([])
    expect(worstOf([operation('gave_up')], recovering)).toEqual(['left_undone', 'critical'])
  })
})

describe('a killed command that failed at its last start', () => {
  test.each(['gave_up', 'gave_up_looked', 'put_off', 'not_asked_for', 'stopped', 'left_open'] as const)(
    'gave up safely after %s',
    (outcome) => {
      expect(worstOf([operation(outcome)], FAILED)).toEqual(['gave_up_safely', 'warning'])
      expect(afterCrash([operation(outcome)], FAILED)[0]?.sentence).toContain(': the command ended with code 75')
    },
  )

  test('did not if money is elsewhere', () => {
    expect(worstOf([operation('left_open'), operation('paid_twice')], FAILED)).toEqual(['paid_twice', 'critical'])
    const byASignal = { end: { ...ended(0), code: null, signal: 'SIGSEGV' as const }, recovers: false }
    expect(worstOf([operation('gave_up')], byASignal)).toEqual(['gave_up_safely', 'warning'])
  })
})
