import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { ControlClient } from '../../src/control/client.ts'
import type { FixtureFile } from '../../src/fixtures/fixture-schema.ts'
import { DEFAULT_FIXTURES } from '../../src/read-fixture.ts'
import { rpc } from '../chain/chain-fixture.ts'
import { forked } from '../chain/forked-fixture.ts'
import { startUpstream, type UpstreamChain } from '../chain/upstream-chain.ts'
import { partnerAt } from '../helpers/partner.ts'
import { Command } from './command.ts'

let upstream: UpstreamChain
let directory: string
let fixtures: string
beforeAll(async () => {
  upstream = await startUpstream('8453')
  directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-fork-'))
  fixtures = join(directory, 'fixtures.yaml')
  const text = readFileSync(DEFAULT_FIXTURES, 'utf8').replaceAll(
    'demo-keys/',
    `${dirname(DEFAULT_FIXTURES)}/demo-keys/`,
  )
  const fixture: FixtureFile = parse(text)
  forked(upstream)(fixture)
  fixture.chains = [{ chain_id: '8453' }]
  writeFileSync(fixtures, stringify(fixture))
})
afterAll(async () => {
  await upstream.stop()
  rmSync(directory, { recursive: true, force: true })
})

let command: Command
afterEach(async () => {
  command.kill('SIGKILL')
  await command.ended
})

function start(...args: string[]): Command {
  const where = ['--fixtures', fixtures, '--fork-url', upstream.url, '--data-dir', join(directory, 'data')]
  command = new Command([
    '--port',
    '0',
    '--json',
    '--confirmation-delay',
    '0',
    '--log-level',
    'warn',
    ...where,
    ...args,
  ])
  return command
}

test('a fork goes on from where it was killed, from its block or a later checkpoint, and from no other block', async () => {
  const block = Number(await rpc(upstream.anvilUrl, 'eth_blockNumber'))
  let acme = partnerAt(await start().credentials())
  const portfolio = await acme.open('carol')
  const hashes: string[] = []
  const deposit = async () => {
    const { status, body } = await acme.deposit('carol', portfolio, '1000000')
    expect(status).toBe(200)
    hashes.push(body.tx_hash)
  }
  // In the second round, more is done than may wait for a quiet moment: a checkpoint is taken in the midst of it.
  for (const blocks of [1, 850, 1]) {
    const { rpc_urls } = await acme.sandbox.credentials()
    await deposit()
    await rpc(rpc_urls['8453']!, 'anvil_mine', blocks)
    await deposit()
    await rpc(upstream.anvilUrl, 'evm_mine') // what the real chain does goes by the fork
    command.kill('SIGKILL')
    await command.ended

    const credentials = await start().credentials()
    acme = partnerAt(credentials)
    for (const hash of hashes) {
      const receipt = await rpc<{ status: string }>(credentials.rpc_urls['8453']!, 'eth_getTransactionReceipt', hash)
      expect(receipt.status).toBe('0x1')
    }
    const { checks } = await new ControlClient(credentials.base_url).audit()
    expect(checks.filter(({ ok }) => !ok)).toEqual([])
  }
  const { body } = await acme.get('end_users/carol/transactions')
  expect(body.data.map(({ tx_hash }: { tx_hash: string }) => tx_hash)).toEqual(hashes.toReversed())
  const kept = readFileSync(join(directory, 'data', 'chain-8453.journal'), 'utf8')
  expect(Number(/"number":"(0x[0-9a-f]+)"/.exec(kept)![1])).toBeGreaterThan(block + 400)
  command.kill('SIGTERM')
  expect((await command.ended).code).toBe(0)

  const { code, stderr } = await start('--fork-block-number', String(block + 1)).ended
  expect(stderr).toMatch(new RegExp(`forked at block ${block}, not ${block + 1}.*data directory`))
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(code).toBe(1)
})
