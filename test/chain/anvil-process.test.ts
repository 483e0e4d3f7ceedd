import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { BlockArchive } from '../../src/chain/archive/block-archive.ts'
import { genesisOf } from '../../src/chain/history/checkpoint.ts'
import { RpcServer } from '../../src/chain/json-rpc/rpc-server.ts'
import { embeddedCheckpoint } from '../../src/chain/markets/embedded-market.ts'
import {
  AnvilBinaryMissingError,
  AnvilProcess,
  anvilBinary,
  loopbackAddress,
} from '../../src/chain/node/anvil-process.ts'
import { ForkUpstreamStub } from '../../src/chain/node/fork-upstream-stub.ts'
import { orphanGuard } from '../../src/chain/node/orphan-guard.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { isAlive } from '../helpers/children-of.ts'
import { rpc, silent } from './chain-fixture.ts'

const options = { chainId: '31337', clock: new SandboxClock(), log: silent }

describe('an Anvil process', () => {
  it('answers when it is started, and is gone when it is stopped', async () => {
    const anvil = await AnvilProcess.start(options)
    expect(await rpc(anvil.url, 'eth_chainId')).toBe('0x7a69')
    expect(anvil.exit).toBeUndefined()
    await anvil.stop()
    expect(isAlive(anvil.pid)).toBe(false)
    expect(anvil.exit).toMatch(/ended with (?!SIGKILL)/)
    await expect(anvil.stop()).resolves.toBeUndefined()
  })

  it('is ended with force when it does not heed', async () => {
    const anvil = await AnvilProcess.start(options)
    process.kill(anvil.pid, 'SIGSTOP')
    await anvil.stop()
    expect(isAlive(anvil.pid)).toBe(false)
  })

  it('has its files for its owner alone, and takes them away', async () => {
    const { TMPDIR } = process.env
    const directory = temporaryDirectory()
    const umask = process.umask(0)
    process.env.TMPDIR = directory
    try {
      const anvil = await AnvilProcess.start({ ...options, genesis: '{"alloc":{}}' })
      const [own = ''] = await readdir(directory)
      expect((await stat(join(directory, own))).mode & 0o777).toBe(0o700)
      expect((await stat(join(directory, own, 'genesis.json'))).mode & 0o777).toBe(0o600)
      await anvil.stop()
      expect(await readdir(directory)).toEqual([])
    } finally {
      process.umask(umask)
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
    }
  })

  it.runIf(process.platform === 'linux')('trusts one certificate authority, whatever the system has', async () => {
    const anvil = await AnvilProcess.start(options)
    const environment = await readFile(`/proc/${anvil.pid}/environ`, 'utf8')
    const [, file = ''] = /SSL_CERT_FILE=([^\0]+)/.exec(environment) ?? []
    const [only, ...more] = (await readFile(file, 'utf8')).split(/^(?=-----BEGIN)/m)
    await anvil.stop()
    expect(more).toEqual([])
    expect(new X509Certificate(only!).subject).toBe('CN=nobody')
    expect(existsSync(file)).toBe(false)
  })

  it('says in its own words why it did not start', async () => {
    await expect(AnvilProcess.start({ ...options, flags: ['--no-such-flag'] })).rejects.toThrow(/--no-such-flag/)
  })

  it('names the missing package and the remedy when its binary is not installed', () => {
    expect(() => anvilBinary('darwin', 'arm64')).toThrow(AnvilBinaryMissingError)
    expect(() => anvilBinary('darwin', 'arm64')).toThrow(/@foundry-rs\/anvil-darwin-arm64.*--include=optional/)
    expect(() => anvilBinary('sunos', 'x64')).toThrow(/no Anvil for sunos-x64/)
  })

  it('says in one clean line why it ended', async () => {
    const anvil = await AnvilProcess.start(options)
    await rpc(anvil.url, 'eth_feeHistory', `0x${'f'.repeat(30)}`, 'latest', []).catch(() => {})
    expect(await anvil.exited).toMatch(/^Anvil ended with SIGABRT: Uint conversion error: Overflow\(256, \d+, \d+\)$/)
    await anvil.stop()
  })

  describe.runIf(process.platform === 'linux')('on Linux', () => {
    it('listens at another address each time, which lets no web page in', async () => {
      const [one, other] = await Promise.all([AnvilProcess.start(options), AnvilProcess.start(options)])
      const hosts = [one, other].map(({ url }) => new URL(url).hostname)
      for (const host of hosts) expect(host).toMatch(/^127\.\d+\.\d+\.\d+$/)
      expect(new Set([...hosts, '127.0.0.1']).size).toBe(3)
      const { port } = new URL(one.url)
      // Somebody else may listen there by chance, but no Anvil does.
      expect(await rpc(`http://127.0.0.1:${port}`, 'eth_chainId').catch(() => 'nothing')).toBe('nothing')
      for (const method of ['OPTIONS', 'POST']) {
        const allowed = Object.keys(await headersOf(one.url, method)).filter((name) =>
          name.startsWith('access-control'),
        )
        expect(allowed).toEqual([])
      }
      await Promise.all([one.stop(), other.stop()])
    })

    it('shows nobody where its fork reads from, and keeps its files to itself', async () => {
      const checkpoint = await embeddedCheckpoint()
      const parts = { chainId: '31337', checkpoint, archive: new BlockArchive() }
      const source = await RpcServer.listen(new ForkUpstreamStub(parts).answer)
      const genesis = genesisOf(checkpoint, '31337')
      const flags = ['--fork-block-number', String(Number(checkpoint.block.number))]
      const before = new Set(await readdir(tmpdir()))
      const anvil = await AnvilProcess.start({ ...options, source: source.url, genesis, flags })
      expect(Number(await rpc(anvil.url, 'eth_blockNumber'))).toBe(Number(checkpoint.block.number))
      expect(await readFile(`/proc/${anvil.pid}/cmdline`, 'utf8')).not.toContain(new URL(source.url).port)
      const directory = await readFile(`/proc/${anvil.pid}/environ`, 'utf8').then(
        (all) => /HOME=([^\0]+)/.exec(all)?.[1],
      )
      expect(before.has(directory!.slice(tmpdir().length + 1))).toBe(false)
      const modes = [directory!, ...['genesis.json', 'foundry.toml'].map((name) => join(directory!, name))]
      expect(await Promise.all(modes.map(async (path) => (await stat(path)).mode & 0o777))).toEqual([
        0o700, 0o600, 0o600,
      ])
      await anvil.stop()
      source.close()
    })

    it('is asked for the first time when it has asked its source: before, it does not listen', async () => {
      const checkpoint = await embeddedCheckpoint()
      const stub = new ForkUpstreamStub({ chainId: '31337', checkpoint, archive: new BlockArchive() })
      const clock = new SandboxClock()
      const sleep = vi.spyOn(clock, 'wallSleep')
      let attempts: number | undefined
      const source = await RpcServer.listen((body) => {
        attempts ??= sleep.mock.calls.filter(([milliseconds]) => milliseconds === 5).length // the pause after a refused one
        return stub.answer(body)
      })
      const flags = ['--fork-block-number', String(Number(checkpoint.block.number))]
      const from = { source: source.url, asked: stub.asked }
      const genesis = genesisOf(checkpoint, '31337')
      const anvil = await AnvilProcess.start({ ...options, clock, ...from, genesis, flags })
      expect(attempts).toBe(0)
      await anvil.stop()
      source.close()
    })

    it('is ended by the system before it takes up all memory, and named first should that run out', async () => {
      const anvil = await AnvilProcess.start(options)
      expect(await readFile(`/proc/${anvil.pid}/oom_score_adj`, 'utf8')).toBe('1000\n')
      expect(await readFile(`/proc/${anvil.pid}/limits`, 'utf8')).toMatch(/^Max data size +2147483648 +2147483648/m)
      await anvil.stop()
    })
  })

  it('listens at the usual address where there is no other', async () => {
    expect(await loopbackAddress('darwin')).toEqual({ host: '127.0.0.1', port: expect.any(Number) })
  })

  it('is no longer to be killed once it has ended: its id can be that of another process', async () => {
    const guard = vi.spyOn(orphanGuard, 'guard')
    const anvil = await AnvilProcess.start(options)
    const watch = vi.spyOn(guard.mock.results[0]!.value, 'watch')
    guard.mockRestore()
    process.kill(anvil.pid, 'SIGKILL')
    await anvil.exited
    expect(watch.mock.calls).toEqual([[undefined]])
    await anvil.stop()
  })
})

/** Of the answer to a web page that would look in. */
function headersOf(url: string, method: string): Promise<object> {
  return new Promise((resolve, reject) => {
    const headers = { origin: 'https://evil.example', 'content-type': 'application/json' }
    const outgoing = request(url, { method, headers }, (incoming) => resolve(incoming.resume().headers))
    outgoing.on('error', reject).end('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')
  })
}
