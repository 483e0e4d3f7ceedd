import { Client } from 'pg'
import { onTestFinished } from 'vitest'

/** A connection of the test's own, past the sandbox. */
export async function ownConnection(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** An entry of a journal as it stands in the database. */
export interface StoredEntry {
  value: unknown
  epoch: number
  seq: number
}

/** The entries of a namespace's journal in the database, without any check. */
export async function storedEntries(client: Client, namespace: string, journal = 'ledger'): Promise<StoredEntry[]> {
  const { rows } = await client.query(
    `select e.seq, e.epoch, e.bytes from yield_sandbox.entry e join yield_sandbox.namespace n on n.name = e.namespace
     where e.namespace = $1 and e.journal = $2 and e.generation = (n.generations->$2->>'generation')::int order by e.seq`,
    [namespace, journal],
  )
  return rows.flatMap(({ seq, epoch, bytes }) =>
    (bytes as Buffer)
      .toString()
      .split('\n')
      .map((line) => ({ value: JSON.parse(line), seq: Number(seq), epoch: Number(epoch) })),
  )
}
