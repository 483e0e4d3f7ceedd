import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { SERVER } from '../explore/crash/crash-folder.ts'
import { CrashExplored, ONCE, READY, said } from './crash-explored.ts'

const crash = new CrashExplored()

// What takes longer: explore-app.long.test.ts.
describe('explore --crash --app', () => {
  test('kills the server, starts it again, and never the command', () => crash.expectSurvived(['killed-under-way']))

  test('says in one sentence that the server ends at once', async () => {
    const ended = await crash.exploreApp(['--app', 'echo no such table >&2; exit 3', ...READY])
    expect(said(ended)).toMatch(/the server ended with code 3 before it was ready\. It has printed: no such table/)
    expect([ended.code, ended.exploration]).toEqual([4, undefined])
  })

  test('a command that cannot be started leaves no server', async () => {
    const command = ['no-such-command']
    const ended = await crash.explore([...ONCE, '--app', SERVER, ...READY], command)
    expect(said(ended)).toMatch(/is not a command on this machine/)
    expect([ended.code, crash.folder.starts.length]).toEqual([2, 1])
    crash.folder.expectNothingLeft()
  })

  test('says that another process has the port, or answers in its place', async () => {
    const other = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
    await once(other, 'listening')
    try {
      const { port } = other.address() as AddressInfo
      const taken = await crash.exploreApp(READY, { PORT: String(port) })
      expect(said(taken)).toMatch(
        /another process has its port \(EADDRINUSE\): let the server listen on the port in YIELD_APP_PORT/,
      )
      const answering = await crash.exploreApp(['--ready', `http://127.0.0.1:${port}/`])
      expect(said(answering)).toMatch(/answers before the server is started, so another one has its port: .*--jobs 1/)
      expect([taken.code, answering.code]).toEqual([4, 4])
    } finally {
      other.close()
    }
    crash.folder.expectNothingLeft()
  })
})
