import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/index.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { ROOT } from './command.ts'

/** A user of every Linux who owns nothing. */
const NOBODY = 65_534

/** Starts with a data directory as another user. Resolves to its exit code and what it said. */
async function startAsNobody(dataDir: string, place: string): Promise<{ code: number; said: string }> {
  const args = [join(ROOT, 'bin/yield-sandbox.js'), 'start', '--port', '0', '--data-dir', dataDir]
  const env = { PATH: process.env.PATH, XDG_RUNTIME_DIR: place, TMPDIR: place }
  const child = spawn(process.execPath, args, {
    uid: NOBODY,
    gid: NOBODY,
    cwd: place,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk
  })
  const [code] = await once(child, 'close')
  return { code, said }
}

test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
  'a data directory of another user is refused in a sentence, whether it may be written or is in use',
  async () => {
    const place = temporaryDirectory()
    chmodSync(place, 0o777)
    const dataDir = join(place, 'data')
    const sandbox = await startSandbox({ port: 0, dataDir })
    try {
      expect(await startAsNobody(dataDir, place)).toEqual({
        code: 1,
        said: `yield-sandbox: ${dataDir}: it must not be written by this user. Fix: give this user the right to, or choose another --data-dir.\n`,
      })
      chmodSync(dataDir, 0o777)
      expect(await startAsNobody(dataDir, place)).toEqual({
        code: 1,
        said: `yield-sandbox: ${dataDir}: another sandbox uses it. Fix: stop that one, or choose another --data-dir.\n`,
      })
      expect(existsSync(join(dataDir, 'ledger.journal'))).toBe(true)
    } finally {
      await sandbox.stop()
    }
  },
)
