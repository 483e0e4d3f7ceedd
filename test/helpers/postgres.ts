import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childrenOf } from './children-of.ts'
import { eventually } from './eventually.ts'

const DEBIAN = '/usr/lib/postgresql'
const PGBOUNCER = '/usr/sbin/pgbouncer'

/** Folder of the newest PostgreSQL of this machine; undefined if there is none. */
export const postgresFolder = existsSync(DEBIAN)
  ? readdirSync(DEBIAN)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(DEBIAN, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined
/** True if PgBouncer is installed. */
export const pgBouncerInstalled = existsSync(PGBOUNCER)

/** Reason why tests on PostgreSQL are left out, for their title; undefined if they are not. */
export const noPostgres = postgresFolder
  ? undefined
  : 'left out: no PostgreSQL in /usr/lib/postgresql (apt-get install postgresql)'
/** The same for PgBouncer. */
export const noPgBouncer =
  noPostgres ?? (pgBouncerInstalled ? undefined : 'left out: no PgBouncer (apt-get install pgbouncer)')

/** A PostgreSQL server of a test file's own, in a folder of its own; it trusts everybody on this machine. */
export class Postgres {
  readonly port: number
  readonly #folder: string
  readonly #settings: readonly string[]
  #process: ChildProcess | undefined

  private constructor(folder: string, port: number, settings: readonly string[]) {
    this.#folder = folder
    this.port = port
    this.#settings = settings
  }

  /** Makes a server and starts it. `settings`: `name=value` each. */
  static async start(settings: readonly string[] = []): Promise<Postgres> {
    const folder = ownFolder('postgres')
    const init = ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C']
    copyOnce(join(folder, 'data'), () => {
      const made = spawnSync(program('initdb'), init, { ...asServer(), encoding: 'utf8', cwd: folder })
      if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`)
    })
    const server = new Postgres(folder, await freePort(), settings)
    await server.run()
    return server
  }

  /** The address of a database; the port may be another one, such as a proxy's. */
  url(database = 'postgres', port = this.port): string {
    return `postgres://postgres@127.0.0.1:${port}/${database}`
  }

  /** A copy of the server as it is now, in a folder of its own, as a backup: {@link run} starts it. */
  copy(): Promise<Postgres> {
    return this.#copy()
  }

  /** A standby that follows this server until one of them ends. It runs. `synchronous`: nothing is acknowledged that it does not have. */
  async standby({ synchronous }: { synchronous: boolean }): Promise<Postgres> {
    const standby = await this.#copy('--write-recovery-conf')
    await standby.run()
    if (synchronous) {
      await this.ask(`alter system set synchronous_standby_names = '*'`)
      await this.ask('select pg_reload_conf()')
    }
    await eventually(async () => {
      const [row] = await this.ask('select sync_state from pg_stat_replication')
      if (row?.sync_state !== (synchronous ? 'sync' : 'async')) throw new Error('the standby does not follow yet')
    })
    return standby
  }

  /** Makes a standby a primary. */
  async promote(): Promise<void> {
    await this.ask('select pg_promote()')
  }

  /** Runs one statement. */
  async ask(statement: string): Promise<Record<string, unknown>[]> {
    const { Client } = await import('pg')
    const client = new Client({ connectionString: this.url() })
    await client.connect()
    try {
      return (await client.query(statement)).rows
    } finally {
      await client.end()
    }
  }

  async #copy(...flags: string[]): Promise<Postgres> {
    const folder = ownFolder('postgres')
    const from = ['-d', this.url(), '-D', join(folder, 'data'), '--no-sync', '--checkpoint=fast', ...flags]
    const copying = spawn(program('pg_basebackup'), from, { ...asServer(), cwd: folder, stdio: 'ignore' })
    const [code] = await once(copying, 'exit')
    if (code !== 0) throw new Error(`pg_basebackup ended with ${code}`)
    return new Postgres(folder, await freePort(), this.#settings)
  }

  /** Starts the server, also after {@link kill}, unless it runs; resolves when it answers. A standby stays one. */
  async run({ standby = false } = {}): Promise<void> {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) return
    if (standby) writeFileSync(join(this.#folder, 'data', 'standby.signal'), '')
    const own = [`port=${this.port}`, `unix_socket_directories=${this.#folder}`, 'listen_addresses=127.0.0.1']
    // A server that is killed leaves its shared memory behind; in its own folder, that is removed with it.
    own.push('dynamic_shared_memory_type=mmap')
    // Killed processes do not need it, and only those are tested.
    const settings = [...own, 'fsync=off', 'max_connections=60', ...this.#settings].flatMap((one) => ['-c', one])
    const child = spawn(program('postgres'), ['-D', join(this.#folder, 'data'), ...settings], {
      ...asServer(),
      cwd: this.#folder,
      stdio: 'ignore',
    })
    this.#process = child
    await eventually(() => {
      if (child.exitCode === null && !this.#ready) throw new Error('PostgreSQL does not answer yet')
    })
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`)
  }

  /** @returns true if the present process accepts connections, as `pg_ctl` finds out */
  get #ready(): boolean {
    const file = join(this.#folder, 'data', 'postmaster.pid')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    return Number(lines[0]) === this.#process?.pid && /^(ready|standby) *$/.test(lines[7] ?? '')
  }

  /** Makes a database and returns its address. It may be there already. */
  createDatabase(name: string): string {
    return createDatabase(this.url(), name)
  }

  /** Ends the server as `pg_ctl stop -m immediate` does: without a word to its clients, and with recovery at the next start. */
  async stopImmediately(): Promise<void> {
    const child = this.#process
    if (!child?.pid) return
    const ended = once(child, 'exit')
    child.kill('SIGQUIT')
    await ended
  }

  /** Lets the server stand still with all its connections, as a machine that hangs does, until {@link resume}. */
  pause(): void {
    this.#signalAll('SIGSTOP')
  }

  /** Lets it go on. */
  resume(): void {
    this.#signalAll('SIGCONT')
  }

  /** Ends the server and all its connections as nothing else does: at once. */
  async kill(): Promise<void> {
    const child = this.#process
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    const backends = this.#signalAll('SIGKILL')
    await ended
    // What it shared with them is gone when the last one is.
    await eventually(() => {
      const left = backends.filter((backend) => existsSync(`/proc/${backend}`))
      if (left.length > 0) throw new Error(`still running: ${left}`)
    })
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Ids of the connections' processes, which get the signal after that of the server: it starts no other one. */
  #signalAll(signal: NodeJS.Signals): number[] {
    const pid = this.#process?.pid
    if (pid === undefined) return []
    const backends = childrenOf(pid)
    for (const one of [pid, ...backends]) {
      try {
        process.kill(one, signal)
      } catch {
        // it has ended with its parent
      }
    }
    return backends
  }
}

/** Makes a database at the server that has the one of this address, and returns its own address. It may be there already. */
export function createDatabase(url: string, name: string): string {
  const { hostname, port } = new URL(url)
  const made = spawnSync(program('createdb'), ['-h', hostname, '-p', port, '-U', 'postgres', name], {
    encoding: 'utf8',
  })
  if (made.status !== 0 && !made.stderr.includes('already exists')) throw new Error(made.stderr)
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

/** A PgBouncer in transaction mode before a server. */
export class PgBouncer {
  readonly port: number
  readonly #folder: string
  readonly #process: ChildProcess

  private constructor(folder: string, port: number, child: ChildProcess) {
    this.#folder = folder
    this.port = port
    this.#process = child
  }

  /** `connections`: how many to the server all its clients share. */
  static async start(server: Postgres, connections = 10): Promise<PgBouncer> {
    const folder = ownFolder('pgbouncer')
    const port = await freePort()
    const file = join(folder, 'pgbouncer.ini')
    writeFileSync(
      file,
      `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users')}
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 200
`,
    )
    writeFileSync(join(folder, 'users'), '"postgres" ""\n')
    for (const name of [file, join(folder, 'users')]) chmodSync(name, 0o644)
    const child = spawn(PGBOUNCER, [file], { ...asServer(), cwd: folder, stdio: 'ignore' })
    await eventually(async () => {
      if (!(await listens(port))) throw new Error(`PgBouncer does not listen (exit code ${child.exitCode})`)
    })
    return new PgBouncer(folder, port, child)
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit')
    if (this.#process.exitCode === null) {
      this.#process.kill('SIGKILL')
      await ended
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Makes the files of a new server, or copies those that another file of this run has made: a quarter of what `initdb` costs. */
function copyOnce(data: string, init: () => void): void {
  const place = process.env.XDG_RUNTIME_DIR // of this run alone: test/global-setup.ts
  const template = place && join(place, 'postgres')
  const copy = (from: string, to: string) => spawnSync('cp', ['-a', from, to]).status === 0
  if (template && existsSync(template) && copy(template, data)) return
  init()
  if (!template) return
  const own = `${template}-${process.pid}`
  if (!copy(data, own)) return
  try {
    renameSync(own, template)
  } catch {
    rmSync(own, { recursive: true, force: true }) // another worker was faster
  }
}

function program(name: string): string {
  return join(postgresFolder ?? '', name)
}

/** PostgreSQL and PgBouncer refuse to run as root. */
function asServer(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

function ownFolder(what: string): string {
  const folder = mkdtempSync(join(tmpdir(), `yield-sandbox-${what}-`))
  const { uid, gid } = asServer()
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  return folder
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const answered = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false)
  socket.destroy()
  return answered
}
