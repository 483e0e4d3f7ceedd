import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as later } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Row } from './table/row.ts'

/** A client under judgement. */
export interface Client {
  name: string
  /** Lets it work until it ends, with the environment of a command of `exec`. */
  run(env: NodeJS.ProcessEnv): Promise<{ code: number; books?: Books | undefined }>
}

/** What a client believes of its orders. */
export interface Books {
  /** Deposits less withdrawals that it takes for done, in minor units. */
  sum: bigint
  /** Ids of orders that it has not done with. */
  open: string[]
}

interface Order {
  id: string
  type: 'deposit' | 'withdraw'
  amount: string
  state: 'open' | 'done' | 'failed'
}

interface App {
  orders: Order[]
  renew(): Promise<void>
  statement(): Promise<{ type: string; amount_changed: string }[]>
}

interface AppOptions {
  storage?: object
  orders?: readonly Order[]
  fetch?: typeof fetch
}

type Behaviour = (app: App) => Promise<number>

const folder = new URL('./clients/', import.meta.url)
// Plain JavaScript, so that they run as programs of their own as well.
const { App } = (await import(new URL('app.mjs', folder).href)) as {
  App: new (env: NodeJS.ProcessEnv, options?: AppOptions) => App
}
const { BEHAVIOURS, ordersOf } = (await import(new URL('behaviours.mjs', folder).href)) as {
  BEHAVIOURS: Record<string, Behaviour>
  ordersOf(name: string): readonly Order[]
}

export const BEHAVIOUR_NAMES = Object.keys(BEHAVIOURS)

/** A scheduler or a supervisor starts nothing again at once: a service that asked for a second's pause has had it. */
const RESTART_MS = 1_100

/** How the program is found that a row names. Debian's own Python has Debian's packages; another one may come first in PATH. */
const FINDERS: Record<string, () => string | undefined> = {
  python3: () => ['python3', '/usr/bin/python3'].find((command) => canRun(command, '-c', 'import requests')),
  java: () => (canRun('java', '--version') ? 'java' : undefined),
  bash: () => (canRun('jq', '--version') && canRun('curl', '--version') ? 'bash' : undefined),
}
const programs = new Map<string, string | undefined>()

/** A program by the name that a row has for it, looked for once; undefined for one that is not installed. */
function programOf(name: string): string | undefined {
  if (!programs.has(name)) programs.set(name, FINDERS[name]?.())
  return programs.get(name)
}

function canRun(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

/** @returns true if what a client needs is installed */
export function isInstalled({ program, library }: Row): boolean {
  if (program) return programOf(program[0]) !== undefined
  return library === undefined || library === 'plain-fetch' || existsSync(new URL('libraries/node_modules', folder))
}

/** The client of a row. */
export async function clientOf(row: Row): Promise<Client> {
  if (row.program) {
    const [command, ...args] = row.program
    return program(row.name, [programOf(command) ?? command, ...args])
  }
  const work = row.library ? await libraryOf(row.library) : BEHAVIOURS[row.worker ?? row.name]
  if (!work) throw new Error(`there is no worker ${row.worker ?? row.name}`)
  return inProcess(row, work)
}

async function libraryOf(name: string): Promise<Behaviour> {
  const found = (await import(new URL(`libraries/${name}.mjs`, folder).href)) as { default: Behaviour }
  return found.default
}

/** In this process, with connections of its own; started again so often as long as orders are open. */
function inProcess({ name, worker = name, starts = 1 }: Row, work: Behaviour): Client {
  return {
    name,
    async run(env) {
      const storage: { orders?: Order[] } = {}
      let code = 1
      for (let start = 1; start <= starts && (start === 1 || isUnfinished(storage)); start++) {
        if (start > 1) await later(RESTART_MS)
        await using connections = await ownConnections()
        code = await work(new App(env, { storage, orders: ordersOf(worker), fetch: connections.fetch }))
      }
      return { code, books: booksOf(storage.orders ?? []) }
    },
  }
}

/** A program, with its environment and without anything else. */
function program(name: string, [command = '', ...args]: readonly string[]): Client {
  return {
    name,
    async run(env) {
      const child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'], cwd: fileURLToPath(folder) })
      const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
      if (signal !== null) throw new Error(`${name} was ended by ${signal}`)
      return { code: code ?? 1 }
    },
  }
}

/** Deposits less withdrawals of a worker's customer, by the service's word; undefined where there is no such customer any more. */
export async function movedIn(env: NodeJS.ProcessEnv): Promise<bigint | undefined> {
  const app = new App(env)
  await app.renew()
  const listed = await app.statement().catch(() => undefined)
  return listed?.reduce(
    (sum, { type, amount_changed }) => sum + BigInt(amount_changed) * (type === 'deposit' ? 1n : -1n),
    0n,
  )
}

function isUnfinished({ orders = [] }: { orders?: Order[] }): boolean {
  return orders.some(({ state }) => state === 'open')
}

function booksOf(orders: readonly Order[]): Books {
  const done = orders.filter(({ state }) => state === 'done')
  const sum = done.reduce((all, { type, amount }) => all + BigInt(amount) * (type === 'deposit' ? 1n : -1n), 0n)
  return { sum, open: orders.filter(({ state }) => state === 'open').map(({ id }) => id) }
}

interface Connections extends AsyncDisposable {
  fetch: typeof fetch
}

interface Dispatcher {
  destroy(): Promise<void>
}

/** Node's fetch, with a pool of connections that nobody else uses. */
async function ownConnections(): Promise<Connections> {
  // The class is there once fetch has been used; Node has no other name for it.
  await fetch('data:,').then((response) => response.text())
  const shared = (globalThis as Record<symbol, unknown>)[Symbol.for('undici.globalDispatcher.1')] as object
  const pool = new (shared.constructor as new () => Dispatcher)()
  return {
    fetch: (input, init) => fetch(input, { ...init, dispatcher: pool } as RequestInit),
    [Symbol.asyncDispose]: () => pool.destroy(),
  }
}
