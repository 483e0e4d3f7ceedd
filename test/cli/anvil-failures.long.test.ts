import { existsSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ANVIL_PACKAGES, ANVIL_VERSION, anvilBinary } from '../../src/chain/node/anvil-process.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { type Ended, ROOT, run } from './command.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

const START = ['--port', '0', '--quiet']

/** A folder with the package in it, and in the place of its Anvil a file of these contents, or nothing. */
async function packageWith(anvil?: string | Buffer): Promise<string> {
  const root = temporaryDirectory()
  const modules = join(root, 'node_modules')
  await mkdir(modules)
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.') && name !== '@foundry-rs')
      await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  }
  for (const name of ['bin', 'dist', 'fixtures', 'contracts/out', 'package.json']) {
    await cp(join(ROOT, name), join(root, name), { recursive: true })
  }
  if (anvil === undefined) return root
  const binary = join(root, anvilBinary().slice(anvilBinary().indexOf('node_modules')))
  await mkdir(join(binary, '..'), { recursive: true })
  await writeFile(binary, anvil, { mode: 0o755 })
  return root
}

describe('an Anvil that does not start ends the start with code 1 and what to do', () => {
  const startWith = async (anvil: string | Buffer): Promise<Ended> => run(START, { root: await packageWith(anvil) })

  test('because it is not installed', async () => {
    const line = /Anvil's binary for .* is not installed.*@foundry-rs.*npm install/
    expectClear(await run(START, { root: await packageWith() }), { code: 1, line })
  })

  test.runIf(process.platform === 'linux')('because its loader is missing, as on Alpine', async () => {
    const loader = /\/lib(64)?\/ld-linux-[\w-]+\.so\.\d/.exec(readFileSync(process.execPath, 'latin1'))?.[0] ?? ''
    const orphan = Buffer.from(
      readFileSync('/bin/true', 'latin1').replace(loader, loader.replace('ld-', 'no-')),
      'latin1',
    )
    const line = /loader is missing. Anvil needs glibc 2\.35 or later; this system has .* Fix: use a system/
    expectClear(await startWith(orphan), { code: 1, line })
  })

  test('because the C library is too old', async () => {
    const line =
      /^yield-sandbox: Anvil ended with exit code 1: Anvil needs glibc 2\.35 or later; this system has .* Fix: use/
    const words = [33, 34, 35].map((n) => `anvil: /lib/libc.so.6: version \`GLIBC_2.${n}' not found`).join('\n')
    expectClear(await startWith(`#!/bin/sh\ncat >&2 << 'END'\n${words}\nEND\nexit 1\n`), { code: 1, line })
  })

  test.runIf(process.platform === 'linux')('because too few files may be open', async () => {
    const line = /^yield-sandbox: Anvil ended with exit code 1: too many files are open\. Fix: raise .*ulimit -n/
    // Only Anvil has so few: the sandbox itself needs more or less of them, depending on which happens first.
    const few = `#!/bin/sh\nulimit -n 12\nexec '${anvilBinary()}' "$@"\n`
    expectClear(await startWith(few), { code: 1, line })
  })

  test('because it may not be executed', async () => {
    const root = await packageWith('#!/bin/sh\n')
    const binary = join(root, anvilBinary().slice(anvilBinary().indexOf('node_modules')))
    await chmod(binary, 0o600)
    expectClear(await run(START, { root }), { code: 1, line: /anvil may not be executed. Fix: allow it.*noexec/ })
  })

  test('because it is another one than this was made for', async () => {
    const other = `#!${process.execPath}
      const answer = async (request, response) => {
        const calls = JSON.parse(Buffer.concat(await request.toArray()))
        const result = 'anvil/v1.0.0'
        response.end(JSON.stringify([calls].flat().map(({ id }) => ({ jsonrpc: '2.0', id, result }))))
      }
      const valueOf = (flag) => process.argv[process.argv.indexOf(flag) + 1]
      require('node:http').createServer(answer).listen(valueOf('--port'), valueOf('--host'))`
    const line = new RegExp(
      `this needs Anvil ${ANVIL_VERSION.replaceAll('.', '\\.')}; installed is anvil/v1\\.0\\.0\\. Fix: install`,
    )
    expectClear(await startWith(other), { code: 1, line })
  })
})

test('the Anvil this needs is the one it depends on', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(optionalDependencies).toEqual(Object.fromEntries(ANVIL_PACKAGES.map((name) => [name, ANVIL_VERSION])))
})

describe('a temporary directory that cannot be used ends the start with code 1 and what to do', () => {
  const line = /Anvil's files cannot be made in the temporary directory \/.* \(E[A-Z]+: .*\)\. Fix: .*TMPDIR/

  test.each(['/proc/yield-sandbox', '/dev/null', '/nowhere'])('as one that is not writable: %s', async (TMPDIR) => {
    expectClear(await runHere(START, { TMPDIR }), { code: 1, line })
  })

  test.runIf(existsSync('/bin/sh'))('as one that is full', async () => {
    const TMPDIR = temporaryDirectory()
    expectClear(await run(START, { env: { TMPDIR }, kilobytes: 64 }), { code: 1, line })
    expect(await readdir(TMPDIR)).toEqual([])
  })

  test('and a data directory whose lock would be there', async () => {
    const long = join(temporaryDirectory(), 'a'.repeat(80), 'b'.repeat(80))
    const ended = await runHere([...START, '--data-dir', long], { TMPDIR: '/proc/yield-sandbox' })
    expectClear(ended, { code: 1, line: /its lock cannot be made in the temporary directory \/proc.*TMPDIR/ })
  })
})
