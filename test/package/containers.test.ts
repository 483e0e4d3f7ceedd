import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { startCommand } from '../../src/cli/start-command.ts'
import { ROOT } from '../cli/command.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const { services, volumes } = parse(read('examples/compose/compose.yaml'))
const { sandbox, app } = services

test('the sandbox of the Compose file is started by flags that there are, under the name that the app uses', () => {
  const command = startCommand().exitOverride()
  expect(command.parseOptions(sandbox.command)).toEqual({ operands: [], unknown: [] })
  expect(command.opts()).toMatchObject({ publicUrl: 'http://sandbox:4010', dataDir: '/data' })
  expect(app.environment.YIELD_CONTROL_URL).toBe(`${command.opts().publicUrl}/_sandbox`)
  expect(Object.keys(services)).toContain(new URL(command.opts().publicUrl).hostname)
  expect(app.environment.YIELD_SANDBOX_CONTROL_TOKEN).toBe(sandbox.environment.YIELD_SANDBOX_CONTROL_TOKEN)
})

test('it may write to its volume and to /tmp alone, and the image lets any user id do so', () => {
  expect(sandbox).toMatchObject({ read_only: true, tmpfs: ['/tmp'], user: expect.stringMatching(/^\d+:\d+$/) })
  expect(sandbox.volumes).toEqual(Object.keys(volumes).map((name) => `${name}:/data`))
  const image = read('Dockerfile')
  expect(image).toMatch(/^RUN install -d -m 1777 .*\/data$/m)
  const [, healthCheck = ''] = /^HEALTHCHECK .*CMD (.*)$/m.exec(image) ?? []
  expect(sandbox.healthcheck.test).toEqual(['CMD', ...JSON.parse(healthCheck)])
  expect(image).toContain(`FROM ${app.image}`)
})
