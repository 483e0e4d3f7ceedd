import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { type Books, BooksError } from '../books/books.ts'
import { readBooks, refuseUnknownNames } from '../books/read-books.ts'
import type { ControlClient } from '../control/client.ts'
import type { Facts } from '../oracle/facts.ts'
import { abortController } from '../support/waiting.ts'
import { endInWords } from './command-end.ts'
import { type CommandEnd, type CommandTerms, runCommand } from './run-command.ts'

/** Maximum bytes of books. */
const MOST_BYTES = 8 * 1024 * 1024
/** Time limit of a books command, in milliseconds, unless the command itself has a shorter one. */
const LONGEST_MS = 60_000
/** Milliseconds in which the rest of the output arrives when the command has ended. */
const REST_MS = 1000

/** Codes with which a shell reports that there is no such command, or that it cannot be run. */
const NOT_STARTED: readonly (number | null)[] = [126, 127]

/** Books, or why there are none to judge; undefined if none were asked for. */
export type BooksAnswer = Books | BooksError | undefined

/** The run whose books are read, once it has been judged so far that later requests are no evidence any more. */
export interface BookedRun extends Omit<CommandTerms, 'output'> {
  /** Of the namespace of the run. */
  client: Pick<ControlClient, 'credentials' | 'money'>
  facts: Facts
}

/**
 * Runs a books command by the shell, with the environment of the run's own command, and reads the books that it prints. Resolves to undefined
 * without a command and when it was interrupted. Throws CommandStartError for a machine without a shell.
 */
export async function runBooks(command: string | undefined, run: BookedRun): Promise<BooksAnswer> {
  if (command === undefined || run.interruption.asked.aborted) return undefined
  try {
    const printed = await outputOf(command, run)
    if (printed === undefined) return undefined
    const books = readBooks(printed)
    await refuseUnknownNames(books, await knownNames(run))
    return books
  } catch (error) {
    if (error instanceof BooksError) return error
    throw error
  }
}

async function outputOf(command: string, { client: _, facts: __, ...terms }: BookedRun): Promise<string | undefined> {
  const { interruption, stdio, clock, timeout = LONGEST_MS } = terms
  const tooMuch = abortController()
  const chunks: Buffer[] = []
  let bytes = 0
  let closed: Promise<unknown> = Promise.resolve()
  const end = await runCommand(['sh', '-c', command], {
    ...terms,
    stdio: ['ignore', 'pipe', stdio === 'inherit' ? 'inherit' : stdio[2]],
    timeout: Math.min(timeout, LONGEST_MS),
    interruption: { ...interruption, insisted: AbortSignal.any([interruption.insisted, tooMuch.signal]) },
    output(stdout: Readable) {
      closed = once(stdout, 'close')
      stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > MOST_BYTES) tooMuch.abort()
        else chunks.push(chunk)
      })
    },
  })
  // A process that has left the group may keep the pipe open.
  const over = abortController()
  await Promise.race([closed, clock.wallSleep(REST_MS, over.signal)])
  over.abort()
  if (interruption.asked.aborted) return undefined
  if (bytes > MOST_BYTES) throw new BooksError('printed more than 8 MiB: let it print the orders of this run alone')
  refuseFailed(end, Math.min(timeout, LONGEST_MS))
  return Buffer.concat(chunks).toString('utf8')
}

function refuseFailed(end: CommandEnd, limit: number): void {
  if (end.timedOut)
    throw new BooksError(`was not done after ${limit / 1000} s: it must print its JSON and end by itself`, 4)
  if (end.code === 0) return
  if (NOT_STARTED.includes(end.code)) {
    throw new BooksError(
      `cannot be started (code ${end.code} of the shell): check the name and the path of its command`,
    )
  }
  const how = endInWords(end).replace('the command', 'its command')
  throw new BooksError(`failed: ${how}; run it by itself, with the environment that your command gets`, 4)
}

async function knownNames({ client, facts }: BookedRun): Promise<Parameters<typeof refuseUnknownNames>[1]> {
  const { tenants } = await client.credentials()
  const made = tenants.flatMap(({ slug, end_users }) => end_users.map((external_id) => ({ tenant: slug, external_id })))
  const names = new Set(made.map(({ external_id }) => external_id))
  const asked = facts.exchanges.flatMap(({ external_id }) =>
    external_id === null || names.has(external_id) ? [] : [{ tenant: null, external_id }],
  )
  return {
    endUsers: [...made, ...asked],
    pools: async () => (await client.money({ limit: 1, checks: false })).pools.map(({ pool_id }) => pool_id),
    portfolios: facts.ledger.portfolios,
  }
}
