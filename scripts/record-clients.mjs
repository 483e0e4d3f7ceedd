// record-clients.mjs: runs every wrong client and the reference clients once, and keeps what there is to judge of them in
// test/verdict/recordings: `npm run record:clients`. For when a client, a mistake, a scenario or what is recorded of requests has changed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const recordings = `${root}/test/verdict/recordings`
rmSync(recordings, { recursive: true, force: true })
mkdirSync(recordings)
const env = { ...process.env, MATRIX_RECORD: '1' }
const { status } = spawnSync('npx', ['vitest', 'run', 'test/verdict/matrix.long.test.ts'], {
  cwd: root,
  env,
  stdio: 'inherit',
})
process.exit(status ?? 1)
