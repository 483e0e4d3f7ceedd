import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { testSandbox } from '../helpers/partner.ts'
import type { OpenApiDocument } from '../http/described-answers.ts'

const PREFIX = '/_sandbox/'
/** A request in the table of the page: `GET requests/{request_id}`, with or without a query. */
const REQUEST = /`(GET|POST|PUT|DELETE) ([\w/{}]+)(?:\?[^`]*)?`/g

test('docs/control.md names every request of the control interface, and no other', async () => {
  await using sandbox = await testSandbox()
  const response = await fetch(`${new URL(sandbox.baseUrl).origin}/openapi.json`)
  const { paths } = (await response.json()) as OpenApiDocument
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    path.startsWith(PREFIX) && !path.startsWith(`${PREFIX}namespaces/{namespace}/`)
      ? Object.keys(methods).map(
          (method) => `${method.toUpperCase()} ${path.slice(PREFIX.length).replace('{namespace}', '{name}')}`,
        )
      : [],
  )
  const page = readFileSync(new URL('../../docs/control.md', import.meta.url), 'utf8')
  const rows = page.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split(' | ')[0] ?? ''] : []))
  const named = rows.flatMap((row) => [...row.matchAll(REQUEST)].map(([, method, path]) => `${method} ${path}`))
  const isMethod = (one: string) => /^(GET|POST|PUT|DELETE) /.test(one)
  // `latest` is a word in the place of an id.
  expect([...new Set(named)].filter((one) => one !== 'GET requests/latest').toSorted()).toEqual(
    described.filter(isMethod).toSorted(),
  )
})
