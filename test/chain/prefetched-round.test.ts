import { expect, test } from 'vitest'
import type { ChainReader } from '../../src/chain/reading/chain-reader.ts'
import { PrefetchedRound, type TransferJob } from '../../src/chain/rounds/transfer-round.ts'

// What is read does not matter here, only whether it may still be used: on a chain, the version changes in moments that a
// test cannot meet.
function workbench() {
  const state = { version: 1, snapshot: async () => ({ timestamp: 1, values: [], results: [] }) }
  const jobs = [1, 2, 3].map(() => ({ wallet: { address: '0x1' } }) as unknown as TransferJob)
  return { state, jobs, ahead: new PrefetchedRound(state as unknown as ChainReader) }
}

test('what was read ahead is used for those it was read for, once', () => {
  const { jobs, ahead } = workbench()
  ahead.begin(jobs.slice(0, 2))
  ahead.hold()
  expect(ahead.take(jobs)?.jobs).toEqual(jobs.slice(0, 2))
  expect(ahead.take(jobs)).toBeUndefined()
})

test('it is not used when the chain has changed since', () => {
  const { state, jobs, ahead } = workbench()
  ahead.begin(jobs)
  ahead.hold()
  state.version++
  expect(ahead.take(jobs)).toBeUndefined()
})

test('it is not used when the round it was read after did not go as it should', () => {
  const { jobs, ahead } = workbench()
  ahead.begin(jobs)
  expect(ahead.take(jobs)).toBeUndefined()
  ahead.begin(jobs)
  ahead.hold()
  ahead.drop()
  expect(ahead.take(jobs)).toBeUndefined()
})

test('it is not used when others come first', () => {
  const { jobs, ahead } = workbench()
  ahead.begin(jobs.slice(0, 2))
  ahead.hold()
  expect(ahead.take([jobs[1]!, jobs[0]!])).toBeUndefined()
})
