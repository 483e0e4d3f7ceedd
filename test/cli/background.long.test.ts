import { appendFileSync, cpSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anvilsOf } from '../helpers/anvils.ts'
import { isAlive } from '../helpers/children-of.ts'
import { eventually } from '../helpers/eventually.ts'
import { ROOT } from './command.ts'
import { usePrivatePlace } from './private-place.ts'
import { ProjectFolder } from './project-folder.ts'

usePrivatePlace()

test('two folders have a sandbox each, without a flag, and stop ends that of its folder alone', async () => {
  const [one, other] = [new ProjectFolder(), new ProjectFolder()]
  const started = await Promise.all([one.run('start', '--background'), other.run('start', '--background')])
  expect(started.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(2).fill({ code: 0, stderr: '' }))
  const [first, second] = [one.record!, other.record!]
  expect(first.url).not.toBe(second.url)
  expect(started.map(({ stdout }) => /Base URL: +(\S+)/.exec(stdout)?.[1])).toEqual([first.url, second.url])

  const made = await one.run('namespaces', 'create', 'mine')
  expect(made).toMatchObject({ code: 0 })
  expect((await one.run('namespaces', 'list')).stdout).toMatch(/^mine\b/m)
  expect((await other.run('namespaces', 'list')).stdout).not.toMatch(/^mine\b/m)

  expect(await one.run('stop')).toMatchObject({ code: 0 })
  await eventually(() => expect(isAlive(first.pid)).toBe(false))
  expect([one.record, other.record]).toEqual([undefined, second])
  expect(await other.run('status')).toMatchObject({ code: 0, stdout: expect.stringContaining(second.url) })
  // Without one of its own, and without a sandbox at the usual port, there is nothing to end.
  const again = await one.run('stop', '--url', 'http://127.0.0.1:9')
  expect(again.code).toBe(1)
  expect(isAlive(second.pid)).toBe(true)
})

test('a second start is the same one if it asks for the same, and is refused by name otherwise', async () => {
  const folder = new ProjectFolder()
  expect(await folder.run('start', '--background', '--seed', '7')).toMatchObject({ code: 0 })
  const { url, pid } = folder.record!
  expect(await folder.run('start', '--background', '--seed', '7')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('It ran already'),
  })
  const refused = await folder.run('start', '--background', '--seed', '8')
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(
    new RegExp(
      `^yield-sandbox: ${folder.path} has a sandbox already, started with other options or fixtures: ${url}, process ${pid}, since \\S+; end it with yield-sandbox stop\n$`,
    ),
  )
})

test.each(['exec', 'explore', 'certify'])(
  '%s has no verdict when the sandbox that it runs within ends meanwhile',
  async (command) => {
    const folder = new ProjectFolder()
    expect(await folder.run('start', '--background')).toMatchObject({ code: 0 })
    const { url } = folder.record!
    const stopping = [process.execPath, 'bin/yield-sandbox.js', 'stop']
    const { code, stderr } = await folder.run(command, '--', ...stopping)
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining(
        `the sandbox of ${folder.path} at ${url} has ended while the command ran within it, so there is no verdict: run it again, with --no-join in a sandbox of its own\n`,
      ),
    ])
  },
)

test('--idle-exit ends it with its Anvil, and nothing is written down any more', async () => {
  const folder = new ProjectFolder()
  expect(await folder.run('start', '--background', '--idle-exit', '2s')).toMatchObject({ code: 0 })
  const { pid } = folder.record!
  const [anvil] = anvilsOf(pid)
  await eventually(() => expect([pid, anvil!].map((one) => isAlive(one))).toEqual([false, false]))
  expect(folder.record).toBeUndefined()
  expect((await folder.run('status', '--url', 'http://127.0.0.1:9')).code).toBe(1)
})

test('a port that is taken is said to be by whom, and --port auto takes another one', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const folder = new ProjectFolder()
  cpSync(join(ROOT, 'fixtures'), join(folder.path, 'fixtures'), { recursive: true })
  appendFileSync(join(folder.path, 'fixtures/default.yaml'), `\noptions:\n  port: ${port}\n`)
  const given = ['--fixtures', 'fixtures/default.yaml']

  const refused = await folder.run('start', ...given)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  const owner = process.platform === 'linux' ? ` by .+, process ${process.pid}` : ''
  expect(refused.stderr).toMatch(
    new RegExp(
      `^yield-sandbox: port ${port} on 127\\.0\\.0\\.1 is taken${owner}; stop that, or let --port auto pick a free one\n$`,
    ),
  )
  expect(await folder.run('start', '--background', ...given)).toMatchObject({ code: 0 }) // its port is auto
  const { url, pid } = folder.record!
  expect(new URL(url).port).not.toBe(String(port))

  const second = new ProjectFolder()
  const taken = await second.run('start', '--port', new URL(url).port)
  expect(taken.code).toBe(1)
  expect(taken.stderr).toMatch(new RegExp(`is taken by yield-sandbox \\S+ of ${folder.path}, process ${pid}; `))

  // Node's own fetch sometimes neither resolves nor rejects for a connection that is closed at once.
  for (const again of [1, 2, 3, 4]) {
    const asked = await folder.run('status', '--url', `http://127.0.0.1:${port}`)
    expect({ again, ...asked }).toMatchObject({ again, code: 1, stdout: '' })
    expect(asked.stderr).toMatch(/^yield-sandbox: .*closed .*connection|connection was closed/)
  }
  await new Promise((resolve) => server.close(resolve))
})
