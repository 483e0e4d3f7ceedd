import { expect, test } from 'vitest'
import { ownCommand } from '../../src/cli/start-command.ts'

test.each([
  ['/app/node_modules/.bin/yield-sandbox', 'npx yield-sandbox'],
  ['/app/node_modules/yield-sandbox/bin/yield-sandbox.js', 'npx yield-sandbox'],
  ['/app/bin/yield-sandbox.js', 'node bin/yield-sandbox.js'],
  ['/other place/bin/yield-sandbox.js', "node '../other place/bin/yield-sandbox.js'"],
  ['/usr/bin/yield-sandbox', 'yield-sandbox'],
])('started as %s, it is called %s', (path, command) => {
  expect(ownCommand(path, '/app')).toBe(command)
})
