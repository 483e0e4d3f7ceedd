import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { ControlClient } from '../control/client.ts'
import { trustingFetch } from '../control/trusting-fetch.ts'
import { recordOf } from './sandbox-record.ts'

/** Milliseconds within which a sandbox says who it is. */
const PATIENCE_MS = 2_000

/** In words, who listens on a port of this machine; undefined where nobody can know. */
export async function portOwner(port: number): Promise<string | undefined> {
  return (await sandboxAt(port)) ?? processAt(port)
}

async function sandboxAt(port: number): Promise<string | undefined> {
  const known = trustingFetch()
  const patient: typeof fetch = (input, init) => known(input, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) })
  try {
    const { version, instance } = await new ControlClient(`127.0.0.1:${port}`, { fetch: patient }).health()
    const record = recordOf(instance)
    const whose = record === undefined ? '' : ` of ${record.folder}, process ${record.pid}`
    return `yield-sandbox ${version}${whose}`
  } catch {
    return undefined // something else, or one that serves https
  }
}

/** State of a socket that listens, in /proc/net/tcp. */
const LISTENING = '0A'

/** "node, process 4242", on Linux and for processes of this user. */
function processAt(port: number): string | undefined {
  try {
    const hex = port.toString(16).toUpperCase().padStart(4, '0')
    const lines = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/net/${table}`, 'utf8').split('\n'))
    const fields = lines.map((line) => line.trim().split(/\s+/))
    const own = fields.filter(([, address, , state]) => address?.endsWith(`:${hex}`) && state === LISTENING)
    const sockets = new Set(own.map((line) => `socket:[${line[9]}]`))
    const pid = readdirSync('/proc').find((entry) => /^\d+$/.test(entry) && holdsAny(entry, sockets))
    return pid && `${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()}, process ${pid}`
  } catch {
    return undefined // not Linux
  }
}

function holdsAny(pid: string, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(readlinkSync(`/proc/${pid}/fd/${fd}`)))
  } catch {
    return false // of another user, or it has ended
  }
}
