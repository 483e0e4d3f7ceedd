import { afterAll, beforeAll, describe, it } from 'vitest'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { cutEverywhere } from './cut-everywhere.ts'
import { stopAndGo } from './stop-and-go.ts'

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

describe.skipIf(noPostgres !== undefined)(`a namespace, at length${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  it('has one owner although that is stopped and goes on, a hundred times', () => stopAndGo(server, 100))

  it.each(['request', 'reply'] as const)('keeps each append once, whichever byte of its %s is the last', (way) =>
    cutEverywhere(server, way, 1),
  )
})
