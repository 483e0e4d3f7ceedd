// test-mutations.mjs: changes the domain and the token checks in one small way after another, and reports which changes no
// test notices: `npm run test:mutations -- --mutate 'src/auth/**'`. Stryker and its options are installed next to its
// configuration, the first time: nobody else needs its 170 packages. See docs/testing.md.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stryker = 'test/mutation/node_modules/@stryker-mutator/core/bin/stryker.js'

/** Ends this process, too, when the command fails. */
function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

// Its peer, vitest, is the one of the project: it is not to be installed a second time.
if (!existsSync(`${root}/${stryker}`))
  run('npm', 'ci', '--prefix', 'test/mutation', '--legacy-peer-deps', '--no-audit', '--no-fund')
run(process.execPath, stryker, 'run', 'test/mutation/stryker.config.json', ...process.argv.slice(2))
