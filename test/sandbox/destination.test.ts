import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { type Destination, destinationOf } from '../../src/sandbox/destination.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await startSandbox({ port: 0 })
})
afterAll(() => sandbox.stop())

/** Control routes that a process of several answers of itself, or of all. A new one belongs here, or is the default namespace's. */
const OF_PROCESS = [
  'GET /_sandbox/health',
  'GET /_sandbox/ready',
  'GET /_sandbox/metrics',
  'GET /_sandbox/usage',
  'GET /_sandbox/namespaces',
  'POST /_sandbox/namespaces',
  'POST /_sandbox/sessions',
  'DELETE /_sandbox/sessions',
  'POST /_sandbox/guests',
  'POST /_sandbox/stop',
  'PUT /_sandbox/public_url',
]

test('every described route leads to a process, to a namespace, or to that of its client', async () => {
  const { paths } = (await (await fetch(`${sandbox.baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => /^(get|put|post|patch|delete)$/.test(method))
      .map((method) => ({ method: method.toUpperCase(), path })),
  )
  const found = new Map<string, Destination>()
  for (const { method, path } of routes) {
    const url = path.replace('{namespace}', 'team').replace(/\{[^}]+\}/g, 'x')
    found.set(`${method} ${path}`, destinationOf({ method, url }))
  }
  const control = [...found].filter(([route]) => route.includes(' /_sandbox/'))
  expect(
    control
      .filter(([, to]) => to === 'here')
      .map(([route]) => route)
      .toSorted(),
  ).toEqual(OF_PROCESS.toSorted())
  const named = (route: string) => ({
    namespace: route.includes('/namespaces/{') ? 'team' : 'default',
    opens: !/\/namespaces\/\{[^/]+\}$/.test(route),
  })
  for (const [route, to] of control) if (to !== 'here') expect([route, to]).toEqual([route, named(route)])
  const service = [...found].filter(([route]) => route.includes(' /v1/'))
  expect(service.length).toBeGreaterThan(5)
  expect(new Set(service.map(([, to]) => to))).toEqual(new Set(['token']))
})

test.each<[string, string, Destination]>([
  ['POST', '/oauth2/token', 'form'],
  ['POST', '/acme/oauth2/v2.0/token', 'form'],
  ['GET', '/oauth2/token', 'token'],
  ['GET', '/.well-known/openid-configuration', 'here'],
  ['GET', '/acme/v2.0/.well-known/openid-configuration', 'here'],
  ['POST', '/rpc/31337', { namespace: 'default', opens: true }],
  ['POST', '/rpc/team/31337', { namespace: 'team', opens: true }],
  ['POST', '/rpc/team/31337?key=a', { namespace: 'team', opens: true }],
  ['GET', '/_sandbox/namespaces/t', { namespace: 't', opens: false }],
  ['GET', '/_sandbox/namespaces/t/clock', { namespace: 't', opens: true }],
  ['POST', '/rpc/t/31337', { namespace: 't', opens: true }],
  ['GET', '/', 'here'],
  ['GET', '/inspector/app.js', 'here'],
  ['GET', '/docs', 'here'],
  ['GET', '/nowhere', 'token'],
])('%s %s', (method, url, destination) => {
  expect(destinationOf({ method, url })).toEqual(destination)
})
