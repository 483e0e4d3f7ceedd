import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LIGHT_FETCH } from '../helpers/light-fetch.ts'

/** Deposits once; says so, and notes in a file that it ran. With `twice`, a deposit that breaks off is repeated under another key. */
const CLIENT = `${LIGHT_FETCH}
import { appendFileSync } from 'node:fs'
appendFileSync(process.env.RUNS, process.pid + '\\n')
const { YIELD_BASE_URL: base, YIELD_EXTERNAL_ID: user, YIELD_CONTROL_URL: control } = process.env
const post = (url, body, headers) => fetch(url, { method: 'POST', body, headers })
const form = new URLSearchParams({
  grant_type: 'client_credentials',
  client_id: process.env.YIELD_CLIENT_ID,
  client_secret: process.env.YIELD_CLIENT_SECRET,
  scope: process.env.YIELD_SCOPE,
})
const json = { 'content-type': 'application/json' }
const { access_token } = await (await post(process.env.YIELD_AUTH_URL, form)).json()
const minted = await post(control + '/tenants/acme/user_tokens', JSON.stringify({ external_id: user }), json)
const headers = { ...json, authorization: 'Bearer ' + access_token, 'x-user-token': (await minted.json()).token }
const mine = base + '/v1/partner/end_users/' + user
const [portfolio] = (await (await fetch(mine + '/portfolios', { headers })).json()).data
const body = JSON.stringify({ portfolio_id: portfolio.portfolio_id, amount_minor: '1000000' })
const key = crypto.randomUUID()
const deposit = async (key) => {
  const answer = await post(mine + '/deposit', body, { ...headers, 'idempotency-key': key })
  await answer.json() // it may break off
  return answer
}
const answer = await deposit(key).catch(() => deposit(process.env.TWICE ? crypto.randomUUID() : key))
console.log('deposited', answer.status)
process.exit(answer.ok ? 0 : 1)
`

/** A folder with a client, in which everything that an exploration writes may stand. */
export class ExploredClient {
  readonly directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-explore-'))
  readonly command: readonly string[]
  readonly env: Record<string, string> = {}
  #notes = ''

  constructor() {
    writeFileSync(this.path('client.mjs'), CLIENT)
    this.command = [process.execPath, this.path('client.mjs')]
    this.noteRunsIn('runs')
  }

  path(file: string): string {
    return join(this.directory, file)
  }

  /** Counts runs anew, in another file: what a killed exploration leaves behind may note itself only later. */
  noteRunsIn(file: string): void {
    this.#notes = this.path(file)
    this.env.RUNS = this.#notes
    writeFileSync(this.#notes, '')
  }

  /** Process ids of the runs until now. */
  get runs(): number[] {
    return readFileSync(this.#notes, 'utf8').trimEnd().split('\n').filter(Boolean).map(Number)
  }

  /** Complete lines of the results until now, without the header. */
  get results(): { trial: { id: string }; outcome: string }[] {
    const text = readFileSync(this.path('results.jsonl'), 'utf8')
    const lines = text.slice(0, text.lastIndexOf('\n')).split('\n').slice(1)
    return lines.map((line) => {
      const { digest: _, ...result } = JSON.parse(line)
      return result
    })
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, maxRetries: 5 })
  }
}
