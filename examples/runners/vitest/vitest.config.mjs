export default { test: { globalSetup: 'yield-sandbox/vitest/setup' } }
