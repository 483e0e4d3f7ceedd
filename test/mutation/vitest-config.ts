import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../helpers/patience.ts'

export default defineConfig({
  test: {
    include: [
      'test/support/**/*.test.ts',
      'test/domain/**/*.test.ts',
      'test/auth/**/*.test.ts',
      'test/store/**/*.test.ts',
    ],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: PATIENCE } },
    isolate: false,
  },
})
