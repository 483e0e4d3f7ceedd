import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

/** What a partner would write against the generated types; the expected errors prove that these are not `any`. */
const PROGRAM = `
import createClient from 'openapi-fetch'
import type { paths } from './partner-api.ts'

interface Connection {
  baseUrl: string
  idpToken: string
  userToken: string
  externalId: string
  key(): string
}

export async function mainJob({ baseUrl, idpToken, userToken, externalId, key }: Connection) {
  const headers = { authorization: \`Bearer \${idpToken}\`, 'x-user-token': userToken }
  const client = createClient<paths>({ baseUrl, headers })
  const path = { external_id: externalId }
  const header = () => ({ 'Idempotency-Key': key() })

  const pools = await client.GET('/v1/partner/pools', { params: { query: { limit: 10 } } })
  const [pool] = pools.data?.data ?? []
  if (!pool) throw new Error(pools.error?.code ?? 'no pools')
  await client.POST('/v1/partner/end_users', { body: { external_id: externalId } })

  const { chain_id, token_address, market_address, protocol } = pool
  const created = await client.POST('/v1/partner/end_users/{external_id}/portfolios', {
    params: { path, header: header() },
    body: { name: 'Rainy day', chain_id, token_address, market_address, protocol },
  })
  if (!created.data) throw new Error(created.error.code)
  const { portfolio_id } = created.data

  const moves = []
  for (const operation of ['deposit', 'withdraw'] as const) {
    const moved = await client.POST(\`/v1/partner/end_users/{external_id}/\${operation}\`, {
      params: { path, header: header() },
      body: { portfolio_id, amount_minor: '2500000' },
    })
    if (!moved.data) throw new Error(moved.error.code)
    moves.push(moved.data.tx_hash)
  }

  const transactions = await client.GET('/v1/partner/end_users/{external_id}/transactions', { params: { path } })
  if (!transactions.data) throw new Error(transactions.error.code)
  const portfolios = await client.GET('/v1/partner/end_users/{external_id}/portfolios', { params: { path } })
  const symbols = portfolios.data?.data.map(({ token }) => token.symbol)
  const refused = await client.POST('/v1/partner/end_users/{external_id}/deposit', {
    params: { path, header: header() },
    // @ts-expect-error amount_minor is a string
    body: { portfolio_id, amount_minor: 1 },
  })
  // @ts-expect-error there is no such path
  await client.GET('/v1/partner/pool')
  // @ts-expect-error a portfolio has no such field
  created.data.nothing
  return { moves, listed: transactions.data.data.map(({ tx_hash }) => tx_hash), symbols, refused: refused.error?.code }
}
`

const directory = fileURLToPath(new URL('.generated/', import.meta.url))
const program = `${directory}main-job.ts`

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
  const types = astToString(await openapiTS(new URL(`${sandbox.baseUrl}/openapi.json`)))
  await mkdir(directory, { recursive: true })
  await writeFile(`${directory}partner-api.ts`, types)
  await writeFile(program, PROGRAM)
})
afterAll(async () => {
  await sandbox.stop()
  await rm(directory, { recursive: true, force: true })
})

test('a program against the generated types type-checks', () => {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  }
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([program], options))
  expect(diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
})

test('and does the main job', async () => {
  const { mainJob } = await import(/* @vite-ignore */ program)
  const acme = new Partner(sandbox)
  const done = await mainJob({
    baseUrl: sandbox.baseUrl,
    idpToken: await acme.idpToken(),
    userToken: await acme.userToken('carol'),
    externalId: 'carol',
    key: () => crypto.randomUUID(),
  })
  expect(done.listed).toEqual(done.moves.toReversed())
  expect(done).toMatchObject({ symbols: ['USDC'], refused: 'validation_error' })
})
