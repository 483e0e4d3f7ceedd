import { mock } from 'node:test'
import { test } from 'vitest'
import { FORMS, holdWith, load, useEverything } from './fake-timer-forms.ts'

// The other forms: fake-timers.long.test.ts.
holdWith(FORMS.slice(0, 1))

test("the mock timers of Node's own test runner, which reach into its modules", async () => {
  const { startSandbox } = load()
  const now = Date.now.bind(Date)
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] })
  try {
    await using sandbox = await startSandbox({ port: 0, confirmationDelay: '20ms' })
    await useEverything(sandbox, now)
  } finally {
    mock.timers.reset()
  }
})
