import type { ClientBase } from 'pg'
import { DatabaseError } from './database-error.ts'

/** Version of the tables. Tables of a newer version are refused; of an older one there are none yet. */
const SCHEMA_VERSION = 1
/** Key of the advisory lock under which the tables are made: "yisa" in ASCII. */
const LOCK = 0x79697361

/** Where the tables are. */
interface TablesPlace {
  /** For messages. */
  place: string
  /** Name of the PostgreSQL schema. */
  schema: string
}

/**
 * Makes the tables in the PostgreSQL schema, which is made as well, unless they are there. Runs in the transaction of the client, and
 * processes that come at once wait for each other. Throws DatabaseError if they are of a newer version.
 */
export async function makeSchema(client: ClientBase, { place, schema }: TablesPlace): Promise<void> {
  const name = sqlName(schema)
  await client.query('select pg_advisory_xact_lock($1)', [LOCK])
  const { rows: known } = await client.query('select to_regclass($1) is not null as there', [`${name}.fleet`])
  if (known[0].there) return checkVersion(client, { place, schema })
  const { rows: made } = await client.query('select from pg_namespace where nspname = $1', [schema])
  if (made.length === 0) await client.query(`create schema ${name}`) // which not every user may, even if there is one
  for (const statement of tables(name)) await client.query(statement)
  await client.query(`insert into ${name}.fleet (schema) values ($1)`, [SCHEMA_VERSION])
}

/** A name as SQL has it, whatever characters are in it. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

async function checkVersion(client: ClientBase, { place, schema }: TablesPlace): Promise<void> {
  const { rows } = await client.query(`select schema from ${sqlName(schema)}.fleet`)
  const version = rows[0]?.schema
  if (version === SCHEMA_VERSION) return
  const what = `its tables in the schema ${schema} are of version ${version}, and this version of the sandbox reads ${SCHEMA_VERSION}`
  throw new DatabaseError(place, what, 'start the version of the sandbox that made them, or a newer one')
}

/**
 * The four tables. An update of a namespace's head touches no index, so that PostgreSQL can place the new row beside the old one
 * (fillfactor). Rows of a namespace that was deleted stay, with `deleted`, since its epochs must never be given out again.
 */
function tables(schema: string): string[] {
  return [
    `create table ${schema}.fleet (
      id boolean primary key default true check (id), schema int not null, seed bigint, fixture text, secret bytea)`,
    `create table ${schema}.process (
      id uuid primary key, address text not null, version text not null, formats int4range not null,
      expires_at timestamptz not null, dead boolean not null default false) with (fillfactor = 50)`,
    `create table ${schema}.namespace (
      name text collate "C" primary key, life text not null, owner uuid, epoch bigint not null default 0, head bigint not null default 0,
      generations jsonb not null default '{}', manifest jsonb, kept jsonb, clients text[], tenants text[],
      touched_at timestamptz, deleted boolean not null default false) with (fillfactor = 50)`,
    `create index on ${schema}.namespace using gin (clients)`,
    `create index on ${schema}.namespace using gin (tenants)`,
    `create index on ${schema}.namespace (owner)`,
    `create table ${schema}.entry (
      namespace text collate "C", journal text collate "C", generation int, seq bigint, epoch bigint not null, crc bigint not null,
      bytes bytea not null, primary key (namespace, journal, generation, seq))`,
    // JSON in pieces of up to a megabyte: compressing it takes longer than writing it.
    `alter table ${schema}.entry alter column bytes set storage external`,
  ]
}
