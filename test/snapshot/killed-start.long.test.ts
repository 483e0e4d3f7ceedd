import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { connectSandbox } from '../../src/index.ts'
import { commandStarter } from '../cli/command-starter.ts'
import { runHere } from '../cli/in-process.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { testSandbox } from '../helpers/partner.ts'
import { BEGINNING, richState, shownBy } from './rich-state.ts'

let sandbox: SandboxHandle
let before: string
beforeAll(async () => {
  sandbox = await testSandbox({ clock: BEGINNING })
  await richState(sandbox)
  before = await shownBy(sandbox)
})
afterAll(() => sandbox.stop())

const start = commandStarter()

async function saved(): Promise<string> {
  const file = join(temporaryDirectory(), 'a.snapshot')
  expect(await runHere(['snapshot', 'save', file], { YIELD_SANDBOX_URL: sandbox.baseUrl })).toMatchObject({ code: 0 })
  return file
}

/** Starts with the flags, and ends in order. Resolves to what it showed, or to what it refused with. */
async function shownByStart(flags: readonly string[]): Promise<string> {
  const command = start(['--port', '0', '--json', '--confirmation-delay', '0', '--log-level', 'error', ...flags])
  const url = await command.credentials().then(
    ({ base_url }) => base_url,
    () => undefined,
  )
  if (url === undefined) return (await command.ended).stderr
  const shown = await shownBy(await connectSandbox({ url }))
  expect(await new ControlClient(url).audit()).toMatchObject({ ok: true })
  command.kill('SIGTERM')
  await command.ended
  return shown
}

test.each(['manifest.json', 'namespace.json', 'ledger.journal', 'chain-31337.journal', 'blocks-31337.journal'])(
  'a start that is killed when %s has appeared is begun again, or was whole',
  async (file) => {
    const flags = ['--data-dir', join(temporaryDirectory(), 'data'), '--snapshot', await saved()]
    const killed = start(['--port', '0', '--json', ...flags])
    while (!existsSync(join(flags[1]!, file))) await new Promise(setImmediate)
    killed.kill('SIGKILL')
    await killed.ended
    const again = await shownByStart(flags)
    if (again !== before) expect(again).toMatch(/: it holds a state already, and --snapshot begins with another one/)
    expect(await shownByStart(flags.slice(0, 2))).toBe(before)
  },
)

test('what of it is salvaged from its data directory shows the same', async () => {
  const [dataDir, copy] = [join(temporaryDirectory(), 'data'), join(temporaryDirectory(), 'copy')]
  expect(await shownByStart(['--data-dir', dataDir, '--snapshot', await saved()])).toBe(before)
  expect(await runHere(['doctor', '--data-dir', dataDir, '--salvage', copy])).toMatchObject({ code: 0 })
  // Rates are mended in a copy, as after a kill.
  const withoutRates = (shown: string) => shown.replaceAll(/"(apy|apy_snapshot|[a-z]+_apy)": "?[\d.]+"?/g, '$1')
  expect(withoutRates(await shownByStart(['--data-dir', copy]))).toBe(withoutRates(before))
})
