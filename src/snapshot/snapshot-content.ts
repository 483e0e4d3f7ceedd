import type { Static, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { breathe } from '../support/breathe.ts'
import { jsonExcess } from '../support/json.ts'
import { damagedSnapshot } from './snapshot-error.ts'
import { checkSnapshot, unpackSnapshot } from './snapshot-form.ts'
import {
  AboutSchema,
  AccountsSchema,
  BlocksSchema,
  ChainSchema,
  LedgerSchema,
  ShowingsSchema,
  type SnapshotAbout,
  type SnapshotPut,
} from './snapshot-schema.ts'

/** A chain of a snapshot. */
export interface SnapshotChain {
  chain_id: string
  checkpoint: Static<typeof ChainSchema>
  blocks: Static<typeof BlocksSchema>[]
}

/** A snapshot, read and checked. */
export interface SnapshotContent {
  /** Version of the package that wrote it. */
  version: string
  form: number
  bytes: number
  about: SnapshotAbout
  puts: SnapshotPut[]
  showings: Static<typeof ShowingsSchema>
  chains: SnapshotChain[]
}

/** Most values in the accounts of a chain. */
const ACCOUNT_VALUES = 3_000_000

/** Reads a snapshot, and lets other tasks run between its parts. Throws SnapshotError if anything of it is not as a sandbox writes it. */
export async function readSnapshot(bytes: Uint8Array): Promise<SnapshotContent> {
  const sound = checkSnapshot(bytes)
  const parts = unpackSnapshot(sound)
  const first = await parts.next()
  if (first.done || first.value.name !== 'about') throw damagedSnapshot('its first part does not say what it is')
  const about = checked(AboutSchema, first.value.value, 'about')
  const { version, form } = sound
  const content: SnapshotContent = { version, form, bytes: sound.bytes, about, puts: [], showings: [], chains: [] }
  for await (const { name, value } of parts) {
    take(content, name, value)
    await breathe()
  }
  const [told, came] = [about.chains, content.chains].map((chains) => chains.map(({ chain_id }) => chain_id).join(', '))
  if (told !== came) throw damagedSnapshot(`it holds chains ${came || 'none'}, and should hold ${told}`)
  return content
}

function take(content: SnapshotContent, name: string, value: unknown): void {
  const [kind = '', chain_id = ''] = name.split('-')
  const last = content.chains.at(-1)
  if (name === 'ledger') for (const put of checked(LedgerSchema, value, name)) content.puts.push(put)
  else if (name === 'showings')
    for (const showing of checked(ShowingsSchema, value, name)) content.showings.push(showing)
  else if (kind === 'chain') content.chains.push({ chain_id, checkpoint: chainIn(value, name), blocks: [] })
  else if (kind === 'blocks' && last?.chain_id === chain_id) last.blocks.push(checked(BlocksSchema, value, name))
  else throw damagedSnapshot(`the part ${name} is out of place`)
}

function chainIn(value: unknown, name: string): SnapshotChain['checkpoint'] {
  const checkpoint = checked(ChainSchema, value, name)
  const excess = jsonExcess(checkpoint.accounts, ACCOUNT_VALUES)
  if (excess !== undefined) throw damagedSnapshot(`the accounts of the part ${name} ${excess}`)
  checked(AccountsSchema, jsonIn(checkpoint.accounts), name)
  return checkpoint
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Compiling a schema takes some milliseconds. */
const compiled = new Map<TSchema, TypeCheck<TSchema>>()

function checked<Schema extends TSchema>(schema: Schema, value: unknown, name: string): Static<Schema> {
  const check = compiled.get(schema) ?? TypeCompiler.Compile<TSchema>(schema)
  compiled.set(schema, check)
  if (check.Check(value)) return value as Static<Schema>
  const first = check.Errors(value).First()
  throw damagedSnapshot(
    `the part ${name} is not what a sandbox writes (${first?.path || 'as a whole'}: ${first?.message})`,
  )
}
