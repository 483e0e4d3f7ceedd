import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NamespaceFolders } from '../../src/data-dir/namespace-folders.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Fixture } from '../../src/fixtures/fixture.ts'
import { DEFAULT_FIXTURES, readFixture } from '../../src/read-fixture.ts'
import { Persistence } from '../../src/sandbox/persistence.ts'
import { recordedLog } from './recorded-log.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const demo = () => readFixture(DEFAULT_FIXTURES, undefined)

/** Opens a directory with this fixture, as a start does. */
const open = (path: string, fixture: Fixture) =>
  Persistence.open(new NamespaceFolders(path), { life: undefined, fixture, seed: 7, fsync: false, log: recordedLog() })

test('no entry of a timed journal is kept before the move of the clock that it follows', async () => {
  const path = temporaryDirectory()
  const persistence = await open(path, await demo())
  const clock = new SandboxClock()
  persistence.follow(clock, recordedLog())
  const journal = await persistence.timedJournal<number>('made-up')
  const offset = () => JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')).clock.offset
  for (let move = 1; move <= 20; move++) {
    clock.advance(1_000)
    await journal.append(move)
    expect(offset()).toBe(move * 1_000)
  }
  await journal.close()
  await persistence.close()
})

test('the last state of the clock that is asked for is the one that is kept, also when it was kept before', async () => {
  const path = temporaryDirectory()
  const persistence = await open(path, await demo())
  const onDisk = () => JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')).clock
  const [planned, between] = [
    { offset: 3_600_000, frozen_at: 1_800_003_600_000 },
    { offset: 0, frozen_at: 1_800_000_000_000 },
  ]
  await persistence.keepClock(planned)
  void persistence.keepClock(between)
  await persistence.keepClock(planned)
  expect(onDisk()).toEqual(planned)
  await persistence.close()
  expect(onDisk()).toEqual(planned)
})

test('a directory is refused with a fixture that names its protocols, tenants or chains otherwise', async () => {
  const path = temporaryDirectory()
  const fixture = await demo()
  await (await open(path, fixture)).close()
  const { settings, tenants, chains } = fixture
  const others: Fixture[] = [
    { ...fixture, settings: { ...settings, protocols: ['aave', 'vaults'] } },
    { ...fixture, tenants: tenants.slice(1) },
    { ...fixture, chains: chains.map((chain) => ({ ...chain, chain_id: '1' })) },
  ]
  for (const other of others) await expect(open(path, other)).rejects.toThrow(/made from a fixture file with other/)
  await (await open(path, { ...fixture, settings: { ...settings, name: 'Another name' } })).close()
})

test('a run that was killed owes repairs if a fault has broken something in it, or if an older version had it', async () => {
  const path = temporaryDirectory()
  const fixture = await demo()
  const clock = new SandboxClock()
  /** One more run, which is killed. */
  const run = async (inside: (run: Persistence) => Promise<void> = async () => {}) => {
    const persistence = await open(path, fixture)
    const { closedInOrder, mayOweRepairs } = persistence
    await persistence.begin()
    await inside(persistence)
    await persistence.abandon()
    return { closedInOrder, mayOweRepairs }
  }
  await run((first) => first.whole(clock))
  expect(await run()).toEqual({ closedInOrder: false, mayOweRepairs: false })
  expect(await run((broken) => broken.mayBreak())).toEqual({ closedInOrder: false, mayOweRepairs: false })
  expect(await run()).toEqual({ closedInOrder: false, mayOweRepairs: true })
  expect(await run((repaired) => repaired.whole(clock))).toEqual({ closedInOrder: false, mayOweRepairs: true })
  const byOlder = ({ storage: { manifest } }: Persistence) => manifest.update({ runs: manifest.data.runs + 1 })
  expect(await run(byOlder)).toEqual({ closedInOrder: false, mayOweRepairs: false })
  expect(await run()).toEqual({ closedInOrder: false, mayOweRepairs: true })
})
