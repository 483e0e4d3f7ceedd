import { sqlName } from './schema.ts'

/** Every statement on the tables of a schema, without those that make them. `$1` is the namespace's name, if not said otherwise. */
export type Statements = ReturnType<typeof statementsFor>

/** Greatest number of bytes of a page of entries, unless its first row alone has more. */
const PAGE_BYTES = 8 * 2 ** 20
/** Greatest number of rows of a page. */
const PAGE_ROWS = 1_000
/** Rows that one statement deletes: it must not hold up the others. */
const ROWS_DELETED_AT_ONCE = 500
/** Parameters of a commit before those of its rows, and of each row. */
const [FENCE_PARAMETERS, ROW_PARAMETERS] = [7, 4]

/** Makes the statements for tables in this PostgreSQL schema. */
export function statementsFor(schemaName: string) {
  const schema = sqlName(schemaName)
  const table = (name: string) => `${schema}.${name}`
  const tables = {
    namespace: table('namespace'),
    process: table('process'),
    entry: table('entry'),
    fleet: table('fleet'),
  }
  return { ...writing(tables), ...owning(tables), ...keeping(tables), ...leasing(tables), ...sharing(tables) }
}

/** Names of the tables. */
/** Holds for a process `p` that is alive. */
const LIVING = 'not p.dead and p.expires_at > clock_timestamp()'

type TableNames = Record<'namespace' | 'process' | 'entry' | 'fleet', string>

/** Statements of a namespace's owner on its entries. */
function writing({ namespace, entry }: TableNames) {
  return {
    /**
     * The fence and all that is stored at once: $2 owner, $3 epoch, $4 head before, $5 what it grows by, $6 changed generations, $7
     * manifest or null; then journal, generation, crc, bytes of each row. One row if it is stored, otherwise none.
     */
    commit: (rows: number) => commit(namespace, entry, rows),
    /** Owner, epoch and head of the namespaces $1, of which every one that was ever made has a row. */
    standing: `select name, owner, epoch, head, deleted from ${namespace} where name = any($1::text[])`,
    /** The generations of journals that have entries, and the last row of each. */
    present: `with recursive g as (
      (select journal, generation from ${entry} where namespace = $1 order by journal, generation limit 1) union all
      select next.* from g cross join lateral (
        select e.journal, e.generation from ${entry} e where e.namespace = $1 and (e.journal, e.generation) > (g.journal, g.generation)
        order by e.journal, e.generation limit 1) as next)
      select journal, generation, (select max(seq) from ${entry} e
        where e.namespace = $1 and e.journal = g.journal and e.generation = g.generation) as last from g`,
    /** The entries of $2 journal, $3 generation after $4 up to $5: as many as a page holds, and at least one. */
    page: `select seq, epoch, crc, bytes from (
        select seq, epoch, crc, bytes, sum(octet_length(bytes)) over (order by seq) as total, octet_length(bytes) as own from (
          select seq, epoch, crc, bytes from ${entry} where namespace = $1 and journal = $2 and generation = $3 and seq > $4 and seq <= $5
          order by seq limit ${PAGE_ROWS}) as first
      ) as measured where total <= ${PAGE_BYTES} or total = own order by seq`,
    /** Deletes some entries of the journal $2 of generations before $3. */
    deleteOlder: deleteSome(entry, 'namespace = $1 and journal = $2 and generation < $3'),
    /** Deletes some entries of the journal $2 of generations after $3 that owners before the epoch $4 did not finish. */
    deleteUnfinished: deleteSome(entry, 'namespace = $1 and journal = $2 and generation > $3 and epoch < $4'),
    /** Deletes some entries of the journal $2 of the generation $3 that the owner of the epoch $4 did not finish. */
    deleteDraft: deleteSome(entry, 'namespace = $1 and journal = $2 and generation = $3 and epoch = $4'),
  }
}

/** Statements that make, take and give back a namespace. */
function owning({ namespace, process }: TableNames) {
  const taken = `owner = $2, epoch = n.epoch + 1, touched_at = clock_timestamp()`
  const living = `select from ${process} p where id = $2 and ${LIVING}`
  const alive = `exists (${living})`
  const reads = `exists (${living} and formats @> (n.manifest->>'format')::int)`
  const result = 'n.life, n.epoch, n.head, n.generations, n.manifest'
  return {
    /** A namespace that is not stored yet, or was deleted: $2 owner, $3 life, $4 manifest. No row if there is one. */
    create: `insert into ${namespace} as n (name, owner, life, manifest, epoch, touched_at)
      select $1, $2, $3, $4::jsonb, 1, clock_timestamp() where ${alive}
      on conflict (name) do update set owner = excluded.owner, life = excluded.life, manifest = excluded.manifest, epoch = n.epoch + 1,
        generations = '{}', kept = null, clients = null, tenants = null, deleted = false, touched_at = clock_timestamp()
      where n.deleted returning ${result}`,
    /** One that belongs to nobody, by the owner $2, which must be alive and read its format. */
    take: `update ${namespace} n set ${taken} where name = $1 and owner is null and not deleted and ${reads} returning ${result}`,
    /** One that the owner $2 has already, as after a cut connection: the epoch before is over. */
    takeAgain: `update ${namespace} n set ${taken} where name = $1 and owner = $2 and not deleted and ${alive} returning ${result}`,
    /**
     * One of the process $3, by the owner $2: only an expired lease allows that, and that process is dead from then on. A process without
     * a row is dead as well.
     */
    takeOfDead: `with d as (update ${process} set dead = true where id = $3 and (dead or expires_at < clock_timestamp()) returning id)
      update ${namespace} n set ${taken} where n.name = $1 and n.owner = $3 and not n.deleted
        and (exists (select from d) or not exists (select from ${process} where id = $3)) and ${reads} returning ${result}`,
    /** Gives it back: $2 owner, $3 epoch. */
    release: `update ${namespace} set owner = null, epoch = epoch + 1, touched_at = clock_timestamp() where name = $1 and owner = $2 and epoch = $3`,
    /** A namespace, its format and the version that wrote it, its owner's address and the end of its owner's lease. */
    find: `select n.life, n.owner, n.deleted, n.kept, n.manifest->'format' as format, n.manifest->>'version' as version, p.address,
      p.expires_at::text, coalesce(${LIVING}, false) as owner_lives
      from ${namespace} n left join ${process} p on p.id = n.owner where n.name = $1`,
  }
}

/** Statements on the list of namespaces. */
function keeping({ namespace, process, entry }: TableNames) {
  const deadOwner = `not exists (select from ${process} p where p.id = n.owner and not p.dead)`
  return {
    /** All that are kept, by name. */
    list: `select name, life, kept from ${namespace} where kept is not null and not deleted and name <> 'default' order by name`,
    /** Describes a namespace: $2 owner, $3 life, $4 description, $5 client ids, $6 tenant ids. */
    keep: `update ${namespace} set kept = $4::jsonb, clients = $5::text[], tenants = $6::text[]
      where name = $1 and owner = $2 and life = $3 and not deleted returning epoch`,
    /** Ends a namespace of the owner $2, of nobody or of a dead process: $3 life. */
    forget: `update ${namespace} n set deleted = true, kept = null, clients = null, tenants = null, manifest = null, owner = null,
      epoch = epoch + 1 where name = $1 and life = $3 and not deleted and (owner is null or owner = $2 or ${deadOwner})
      returning life`,
    /** Ends those that were begun and never kept, of nobody or of processes that are dead; the default one stays. */
    forgetRemains: `update ${namespace} n set deleted = true, owner = null, manifest = null, epoch = epoch + 1
      where kept is null and not deleted and name <> 'default' and ${deadOwner}`,
    /** Deletes some entries of a namespace that was deleted. */
    removeSome: deleteSome(
      entry,
      `namespace = $1 and exists (select from ${namespace} where name = $1 and life = $2 and deleted)`,
    ),
  }
}

/** Statements on processes. */
function leasing({ namespace, process }: TableNames) {
  const server = `pg_postmaster_start_time()::text as server, (extract(epoch from clock_timestamp()) * 1000)::float8 as now`
  return {
    /** Registers a process: $1 id, $2 address, $3 version, $4 and $5 formats, $6 length of the lease. Start and time of the server. */
    register: `insert into ${process} (id, address, version, formats, expires_at)
      values ($1, $2, $3, int4range($4, $5, '[]'), clock_timestamp() + $6 * interval '1 millisecond')
      returning ${server}`,
    /** Renews the lease of the process $1 by $2. Start and time of the server; no row if the process is dead. */
    renew: `update ${process} set expires_at = clock_timestamp() + $2 * interval '1 millisecond'
      where id = $1 and not dead returning ${server}`,
    /** The newest format that all living processes read. */
    commonFormat: `select min(upper(formats)) - 1 as format from ${process} p where ${LIVING}`,
    /** Ends the process $1. */
    endProcess: `update ${process} set dead = true where id = $1`,
    /** Removes dead processes that own nothing any more. */
    removeDead: `delete from ${process} p where (dead or expires_at < clock_timestamp() - interval '1 hour')
      and not exists (select from ${namespace} n where n.owner = p.id)`,
    /** True if it takes no writes now. */
    writable: `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as refuses`,
  }
}

/** Statements on what the processes of a fleet share. */
function sharing({ namespace, process, fleet }: TableNames) {
  const located = `n.name, n.life, n.kept, p.id as owner, p.address`
  const withOwner = `${namespace} n left join ${process} p on p.id = n.owner and ${LIVING}`
  return {
    /** The secret of the fleet; $1 if it has none yet. */
    secret: `update ${fleet} set secret = coalesce(secret, $1) returning secret`,
    /** Lets nobody else join for as long as the transaction lasts. */
    joining: `select from ${fleet} for update`,
    /**
     * Seed and fixture of the fleet: of the namespace `default`; or those agreed on, if there is any namespace, or a process other than $1
     * that may be making one; or else $2 and $3.
     */
    agree: `with said as (
        select 1 as rank, (manifest->>'seed')::bigint as seed, manifest->>'fixture' as fixture from ${namespace}
          where name = 'default' and not deleted
        union all select 2, seed, fixture from ${fleet} where fixture is not null and (
          exists (select from ${namespace} where not deleted)
          or exists (select from ${process} p where p.id <> $1 and ${LIVING}))
        union all select 3, $2::bigint, $3::text)
      update ${fleet} set (seed, fixture) = (select seed, fixture from said order by rank limit 1) returning seed, fixture`,
    /** A namespace, and its owner if that is alive. */
    locate: `select ${located} from ${withOwner} where n.name = $1 and not n.deleted`,
    /** All that are kept, the default one, and their owners. */
    locateAll: `select ${located} from ${withOwner} where not n.deleted and (n.kept is not null or n.name = 'default') order by n.name`,
    /** Name and life of the namespace of the client $1. */
    ofClient: `select name, life from ${namespace} where clients @> array[$1]::text[] and not deleted`,
    /** Ids of the tenants of all namespaces. */
    tenants: `select distinct unnest(tenants) as tenant from ${namespace} where not deleted`,
    /** Namespaces of nobody and of dead processes that were last written, or given back, more than $1 milliseconds ago. */
    unused: `select ${located} from ${withOwner} where n.kept is not null and not n.deleted and n.name <> 'default' and p.id is null
      and n.touched_at < clock_timestamp() - $1 * interval '1 millisecond'`,
    /** Number of namespaces beside the default one, those in the making included. */
    count: `select count(*)::int as number from ${namespace} where not deleted and name <> 'default'`,
    /** Processes that are alive. */
    processes: `select p.id, p.address from ${process} p where ${LIVING} order by p.id`,
    /** Declares the owner of the namespace dead, if its lease has expired. */
    bury: `update ${process} set dead = true where expires_at < clock_timestamp() and id = (select owner from ${namespace} where name = $1)`,
  }
}

function commit(namespace: string, entry: string, rows: number): string {
  const fence = `update ${namespace} set head = head + $5, generations = generations || $6::jsonb,
    manifest = coalesce($7::jsonb, manifest), touched_at = clock_timestamp()
    where name = $1 and owner = $2 and epoch = $3 and head = $4 and not deleted returning name, epoch, head - $5 as before`
  if (rows === 0) return fence
  const values = Array.from({ length: rows }, (_, row) => {
    const at = (parameter: number) => `$${FENCE_PARAMETERS + row * ROW_PARAMETERS + parameter}`
    return `(${row + 1}, ${at(1)}::text, ${at(2)}::int, ${at(3)}::bigint, ${at(4)}::bytea)`
  })
  return `with fence as (${fence}), put as (
    insert into ${entry} (namespace, journal, generation, seq, epoch, crc, bytes)
    select f.name, t.journal, t.generation, f.before + t.n, f.epoch, t.crc, t.bytes
    from fence f, (values ${values.join(', ')}) as t(n, journal, generation, crc, bytes))
  select epoch from fence`
}

/** The rows are found first: a DELETE has no limit. */
function deleteSome(entry: string, which: string): string {
  return `delete from ${entry} where (namespace, journal, generation, seq) in (
    select namespace, journal, generation, seq from ${entry} where ${which} limit ${ROWS_DELETED_AT_ONCE}) returning 1`
}
