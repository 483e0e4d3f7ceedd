import { readFileSync } from 'node:fs'
import { ControlClient } from '../control/client.ts'
import { trustingFetch } from '../control/trusting-fetch.ts'
import { enclosingFolders } from './project-folder.ts'
import { dropRecord, readRecord, type SandboxRecord } from './sandbox-record.ts'

/** Milliseconds within which a sandbox says who it is, on a busy machine too. */
const PATIENCE_MS = 5_000

/**
 * The sandbox that runs for a folder, or for a project around it, in the foreground or in the background; undefined if there is none.
 * Records of sandboxes that have gone are removed.
 */
export async function findSandbox(directory: string = process.cwd()): Promise<SandboxRecord | undefined> {
  for (const folder of enclosingFolders(directory)) {
    const record = readRecord(folder)
    if (record === undefined) continue
    const state = await stateOf(record)
    if (state === 'there') return record
    if (state === 'gone') dropRecord(record)
  }
  return undefined
}

/** A client for the control interface of a recorded sandbox. */
export function clientOfRecord({
  url,
  control_token,
  ca_file,
}: Pick<SandboxRecord, 'url' | 'control_token' | 'ca_file'>) {
  const fetchFn = ca_file === undefined ? fetch : trustingFetch(readFileSync(ca_file, 'utf8'))
  return new ControlClient(url, { controlToken: control_token, fetch: fetchFn })
}

/** `busy`: it does not answer now, and may be the one that was recorded. */
async function stateOf(record: SandboxRecord): Promise<'there' | 'gone' | 'busy'> {
  try {
    const { ca_file, url } = record
    const known = trustingFetch(ca_file === undefined ? undefined : readFileSync(ca_file, 'utf8'))
    const patient: typeof fetch = (input, init) => known(input, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) })
    const { instance } = await new ControlClient(url, { fetch: patient }).health()
    return instance === record.instance ? 'there' : 'gone'
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error && cause.name === 'TimeoutError' ? 'busy' : 'gone'
  }
}
