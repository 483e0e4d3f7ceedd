import { expect, test, vi } from 'vitest'
import { createLog } from '../../src/cli/log.ts'

/** What is written to standard error meanwhile. */
function written(work: () => void): string {
  let text = ''
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += String(chunk)
    return true
  })
  try {
    work()
  } finally {
    spy.mockRestore()
  }
  return text
}

test.each([true, false])(
  'hides what is secret by its name, three levels deep, and changes nothing (terminal: %s)',
  (terminal) => {
    const fields = {
      token: 'secret-1',
      client_id: 'shown-1',
      headers: { authorization: 'secret-2', host: 'shown-2', more: { access_token: 'secret-3', list: ['shown-3'] } },
      err: Object.assign(new Error('shown-4'), { client_secret: 'secret-4', response: { token: 'secret-5' } }),
    }
    const before = structuredClone({ ...fields, err: undefined })
    const text = written(() => createLog('info', terminal).info(fields, 'shown-5'))
    expect(text).not.toContain('secret-')
    for (const shown of terminal ? ['1', '2', '3', '5'] : ['1', '2', '3', '4', '5'])
      expect(text).toContain(`shown-${shown}`)
    expect(text).toContain('[redacted]')
    expect({ ...fields, err: undefined }).toEqual(before)
    expect(fields.err).toHaveProperty('client_secret', 'secret-4')
  },
)

test.each([true, false])('shows what a terminal would obey, and does not write it (terminal: %s)', (terminal) => {
  const hostile = 'a\u001b[2Jb\u009b2Jc\u0085d\u202ee'
  const text = written(() => createLog('info', terminal).info({ detail: hostile, err: new Error(hostile) }, hostile))
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(text.replaceAll('\\u', '~')).toContain('a~001b[2Jb~009b2Jc~0085d~202ee')
})

test('a terminal is shown namespaces once there are several; JSON lines always have them', () => {
  const log = (terminal: boolean) => {
    const to = createLog('info', terminal)
    to.info({ namespace: 'default' }, 'one')
    to.info({ namespace: 'mine', path: '/v1/x' }, 'request')
    to.info({ namespace: 'default' }, 'two')
  }
  const [one, request, two] = written(() => log(true)).split('\n')
  expect(one).toMatch(/one$/)
  expect(request).toContain('namespace=mine')
  expect(two).toMatch(/two namespace=default$/)
  expect(written(() => log(false)).match(/"namespace":"(default|mine)"/g)).toHaveLength(3)
})
