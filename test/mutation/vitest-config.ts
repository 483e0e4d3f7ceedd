import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../helpers/patience.ts'

/** They start sandboxes or commands, or judge much random traffic: a mutant would take minutes. */
const SLOW = [
  'test/**/*.long.test.ts',
  'test/verdict/{any-traffic,wrong-clients}.test.ts',
  'test/explore/{clients,crowd,outage,random,shrink-exec}.test.ts',
  'test/certify/certify.test.ts',
  'test/oracle/clients.test.ts',
]

/** They make or look at pages and documents, for which the build is needed. */
const OF_PAGES = [
  'test/verdict/render/**',
  'test/verdict/findings-page.test.ts',
  'test/{explore,oracle}/documentation.test.ts',
  'test/oracle/outcomes-page.test.ts',
  'test/certify/{cards,page,text}.test.ts',
  'test/exec/planted-links.test.ts',
]

export default defineConfig({
  test: {
    include: [
      'test/support/**/*.test.ts',
      'test/domain/**/*.test.ts',
      'test/auth/**/*.test.ts',
      'test/store/**/*.test.ts',
      'test/oracle/**/*.test.ts',
      'test/verdict/**/*.test.ts',
      'test/explore/*.test.ts',
      'test/certify/*.test.ts',
      'test/exec/*.test.ts',
    ],
    exclude: [...SLOW, ...OF_PAGES],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: PATIENCE } },
    isolate: false,
  },
})
