import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it, vi } from 'vitest'
import { AnvilBinaryMissingError, anvilBinary } from '../../src/chain/anvil-binary.ts'
import { AnvilProcess } from '../../src/chain/anvil-process.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { rpc, silent } from './chain-fixture.ts'

const options = { chainId: '31337', clock: new SandboxClock(), log: silent }

describe('an Anvil process', () => {
  it('answers when it is started, and is gone when it is stopped', async () => {
    const anvil = await AnvilProcess.start(options)
    expect(await rpc(anvil.url, 'eth_chainId')).toBe('0x7a69')
    expect(anvil.exit).toBeUndefined()
    const started = performance.now()
    await anvil.stop()
    expect(performance.now() - started).toBeLessThan(1_000)
    expect(isAlive(anvil.pid)).toBe(false)
    expect(anvil.exit).toMatch(/ended with/)
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

  it('says in its own words why it did not start', async () => {
    await expect(AnvilProcess.start({ ...options, flags: ['--no-such-flag'] })).rejects.toThrow(/--no-such-flag/)
  })

  it('names the missing package and the remedy when its binary is not installed', () => {
    expect(() => anvilBinary('darwin', 'arm64')).toThrow(AnvilBinaryMissingError)
    expect(() => anvilBinary('darwin', 'arm64')).toThrow(/@foundry-rs\/anvil-darwin-arm64.*--include=optional/)
    expect(() => anvilBinary('sunos', 'x64')).toThrow(/no Anvil for sunos-x64/)
  })

  it('does not outlive a parent that is killed', async () => {
    const parent = await compiledParent()
    try {
      const child = spawn(process.execPath, [parent.script], { stdio: ['ignore', 'pipe', 'inherit'] })
      const [line] = (await once(child.stdout, 'data')) as [Buffer]
      const anvil = JSON.parse(line.toString()) as { pid: number; directory: string }
      expect(isAlive(anvil.pid)).toBe(true)
      child.kill('SIGKILL')
      await vi.waitFor(() => expect(isAlive(anvil.pid)).toBe(false), 5_000)
      await vi.waitFor(() => expect(existsSync(anvil.directory)).toBe(false), 5_000)
    } finally {
      await rm(parent.directory, { recursive: true, force: true })
    }
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A program that starts an Anvil and tells its pid: the sources as Node 20 runs them, beside the packages they import. */
async function compiledParent(): Promise<{ script: string; directory: string }> {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const directory = await mkdtemp(join(root, 'node_modules', '.orphan-test-'))
  for (const room of ['chain', 'domain']) {
    await cp(join(root, 'src', room), join(directory, 'src', room), { recursive: true })
  }
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    rewriteRelativeImportExtensions: true,
    verbatimModuleSyntax: true,
  }
  for (const entry of await readdir(directory, { recursive: true })) {
    if (!entry.endsWith('.ts')) continue
    const source = await readFile(join(directory, entry), 'utf8')
    const { outputText } = ts.transpileModule(source, { compilerOptions })
    await writeFile(join(directory, entry.replace(/\.ts$/, '.js')), outputText)
  }
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  const script = join(directory, 'parent.js')
  await writeFile(
    script,
    `import { readdirSync } from 'node:fs'
    import { tmpdir } from 'node:os'
    import { join } from 'node:path'
    import { AnvilProcess } from './src/chain/anvil-process.js'
    import { SandboxClock } from './src/domain/clock.js'
    const before = new Set(readdirSync(tmpdir()))
    const anvil = await AnvilProcess.start({ chainId: '31337', clock: new SandboxClock(), log: console })
    const made = readdirSync(tmpdir()).filter((name) => name.startsWith('yield-sandbox-anvil-') && !before.has(name))
    console.log(JSON.stringify({ pid: anvil.pid, directory: join(tmpdir(), made[0]) }))`,
  )
  return { script, directory }
}
