import { defineConfig } from 'vitest/config'
import { PATIENCE } from './test/helpers/patience.ts'
import { BUILT_SOURCE, nativeSource } from './test/native-source.ts'

export default defineConfig({
  // Not while changes are watched: those of src/ would not be seen.
  plugins: process.argv.includes('run') ? [nativeSource()] : [],
  test: {
    server: { deps: { external: [BUILT_SOURCE] } },
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/global-setup.ts',
    // Only what hangs takes them, on a busy machine as well.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Vitest's own limit is one second, which a busy machine needs for a new Anvil alone.
    expect: { poll: { timeout: PATIENCE } },
    // Every file has a sandbox of its own and shares no state through modules: importing them once per worker is enough.
    isolate: false,
    // Tests mostly wait for Anvil and for each other's processes; four keep two cores busy.
    maxWorkers: 4,
    // Each test runs most functions a few times: to optimise them costs V8 more than it saves. Only Node 20 has the flag.
    execArgv: process.version.startsWith('v20.') ? ['--interrupt-budget=1500000'] : [],
  },
})
