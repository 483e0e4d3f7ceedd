import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import { inPackage, launch } from './processes.mjs'
import { alternate, timed } from './stats.mjs'

const DEBIAN = '/usr/lib/postgresql'
/** Statements by which a round trip is measured. */
const STATEMENTS = 300

/** A PostgreSQL server with its usual settings, fsync among them, in a folder of its own. */
export class Postgres {
  #folder
  #process
  #proxies = []

  /** Throws if PostgreSQL is not installed. */
  static async start() {
    const [version] = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
    if (version === undefined)
      throw new Error('there is no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql')
    const server = new Postgres()
    server.programs = join(DEBIAN, version, 'bin')
    server.port = await freePort()
    await server.#run()
    return server
  }

  async #run() {
    const own = asServer()
    this.#folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-bench-'))
    if (own.uid !== undefined) chownSync(this.#folder, own.uid, own.gid)
    const data = join(this.#folder, 'data')
    const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C']
    execFileSync(join(this.programs, 'initdb'), init, { ...own, cwd: this.#folder, stdio: 'ignore' })
    const settings = [`port=${this.port}`, `unix_socket_directories=${this.#folder}`, 'listen_addresses=127.0.0.1']
    const args = ['-D', data, ...settings.flatMap((one) => ['-c', one])]
    // It writes to stderr alone.
    const script = ['-c', 'exec "$0" "$@" 2>&1', join(this.programs, 'postgres'), ...args]
    const isReady = (line) => line.includes('ready to accept connections')
    this.#process = await launch('/bin/sh', script, isReady, { place: { ...own, cwd: this.#folder } })
  }

  /** Address of a new database, by the server's unix socket. */
  database(name) {
    this.query(`create database ${name}`)
    return `postgres://postgres@${encodeURIComponent(this.#folder)}:${this.port}/${name}`
  }

  /** Address of a new database, with so many milliseconds of round trip more than TCP on one machine has; and the measured ones. */
  async databaseBehind(name, milliseconds) {
    this.query(`create database ${name}`)
    const proxy = new Worker(inPackage('bench/support/delaying-proxy.mjs'), {
      workerData: { target: this.port, milliseconds },
    })
    this.#proxies.push(proxy)
    const port = await new Promise((resolve) => proxy.once('message', resolve))
    const [direct, url] = [this.port, port].map((at) => `postgres://postgres@127.0.0.1:${at}/${name}`)
    // The proxy takes time itself: it delays by as much less.
    proxy.postMessage(2 * milliseconds - (await difference(direct, url)))
    return { url, roundTrip: await difference(direct, url) }
  }

  /** The first value that a statement gives. */
  query(statement, database = 'postgres') {
    const args = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres', '-d', database, '-Atqc', statement]
    return execFileSync(join(this.programs, 'psql'), args, { encoding: 'utf8' }).trim()
  }

  /** Bytes of WAL that it writes in so many milliseconds. */
  async walIn(milliseconds) {
    const before = this.query('select pg_current_wal_lsn()')
    await setTimeout(milliseconds)
    return Number(this.query(`select pg_current_wal_lsn() - '${before}'`))
  }

  async stop() {
    await this.#process.stop()
    for (const proxy of this.#proxies) await proxy.terminate()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Milliseconds by which a statement takes longer at the second address. */
async function difference(...urls) {
  const clients = urls.map((connectionString) => new pg.Client({ connectionString }))
  for (const client of clients) await client.connect()
  const [near, far] = clients.map((client) => () => timed(() => client.query('select')))
  const middle = await alternate({ near, far }, STATEMENTS)
  for (const client of clients) await client.end()
  return middle.far - middle.near
}

/** PostgreSQL refuses to run as root. */
function asServer() {
  if (process.getuid?.() !== 0) return {}
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
