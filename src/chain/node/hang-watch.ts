import { readdir, readFile } from 'node:fs/promises'
import type { SandboxClock } from '../../domain/clock.ts'
import type { Logger } from '../../support/logger.ts'
import type { NodeEvents } from '../json-rpc/node-events.ts'
import type { RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'

/** The chain to watch. */
export interface WatchedChain {
  chainId: string
  rpc: RpcClient
  clock: SandboxClock
  log: Logger
  /** @returns true if the watch must end */
  stopped(): boolean
  /** Returns the present node. The time limit starts again when another node takes its place. */
  node(): { process: { pid: number } } | undefined
  /** True if a healthy node may take long to answer, since it reads from an upstream. */
  slow: boolean
  /** Gets `silent` when the node does not answer, `answers` when it does again, and `distrusted` when it hangs. */
  events: NodeEvents
}

/** Milliseconds without an answer after which a node is reported as silent: nothing new is begun. */
const SILENCE_TIMEOUT_MS = 3_000
/** Milliseconds without an answer after which an Anvil is taken for hung. */
const HANG_TIMEOUT_MS = 10_000
/** Milliseconds between two probes. */
const PROBE_INTERVAL_MS = 1_000
/**
 * The call that probes a node. It needs the state: a node whose state is locked by a call, so that no block can be mined, still
 * answers everything else. (A block that waits for the lock goes before later reads, so the probe waits with it.)
 */
const PROBE: RpcCall = ['eth_getBalance', '0x0000000000000000000000000000000000000000', 'latest']

/** Probes a chain's node until the chain is stopped, and reports silence and hangs as events. */
export async function watchForHang(chain: WatchedChain): Promise<void> {
  const { rpc, clock } = chain
  let silentSince: number | undefined
  let told = false
  while (!chain.stopped()) {
    await clock.wallSleep(PROBE_INTERVAL_MS)
    const asked = clock.wallNow()
    const watched = chain.node()
    const failures = rpc.upstreamFailures
    try {
      if (!rpc.held) {
        await probe(chain, () => {
          told = true
        })
      }
      silentSince = undefined
      if (told) chain.events.emit('answers')
      told = false
    } catch {
      // A fork's node that reports a failure of its upstream is not silent.
      const excused = rpc.held || watched !== chain.node() || rpc.upstreamFailures > failures
      silentSince = excused ? undefined : (silentSince ?? asked)
      if (silentSince === undefined || clock.wallNow() - silentSince < HANG_TIMEOUT_MS) continue
      kill(chain, 'it gave no answer')
    }
  }
}

function kill(chain: WatchedChain, reason: string): void {
  chain.log.error({ chain_id: chain.chainId, reason }, 'the chain hangs: it is killed')
  chain.events.emit('distrusted', reason)
}

/** Probes the node once. Calls `tell` and reports silence if the answer takes long. Throws if the call fails. */
async function probe(chain: WatchedChain, tell: () => void): Promise<void> {
  let over = false
  void chain.clock.wallSleep(SILENCE_TIMEOUT_MS).then(() => {
    if (over || chain.slow) return
    tell()
    chain.events.emit('silent', `no answer within ${SILENCE_TIMEOUT_MS} ms`)
  })
  void killIfDeadLocked(chain, () => !over)
  try {
    await chain.rpc.settle([PROBE])
  } finally {
    over = true
  }
}

/** Kills a node that sleeps instead of answering; not that of a fork, which may sleep until its upstream answers. */
async function killIfDeadLocked(chain: WatchedChain, owes: () => boolean): Promise<void> {
  const node = chain.node()
  if (chain.slow || !node) return
  const owesStill = () => owes() && chain.node() === node && !chain.stopped() && !chain.rpc.held
  if (await isDeadLocked(node.process.pid, owesStill, chain.clock)) kill(chain, 'it is dead-locked')
}

/** Milliseconds before the first look at a process, and between two looks. */
const LOOK_INTERVAL_MS = 1_000
/** Processor time in hundredths of a second between two looks up to which a process counts as idle: a dead-locked Anvil uses none. */
const MOST_TICKS = 2
/** Positions in `/proc/…/stat`, counted after the name: state of the process or thread, and the processor time that it has used. */
const [STATE, USER_TIME, SYSTEM_TIME] = [0, 11, 12] as const

/** Activity of a process at one moment. */
interface Look {
  /** True if every thread sleeps. A thread that waits for a processor or a disk, or is stopped, does not sleep. */
  asleep: boolean
  /** Processor time used so far, in hundredths of a second. */
  ticks: number
}

/**
 * Looks at a process every second while it owes an answer.
 * @returns true when it has slept for a whole second: nothing will wake it; false when it no longer owes an answer, or the system
 * does not have the information (only Linux does)
 */
async function isDeadLocked(
  pid: number,
  owes: () => boolean,
  clock: Pick<SandboxClock, 'wallSleep'>,
): Promise<boolean> {
  let before: Look | undefined
  for (;;) {
    await clock.wallSleep(LOOK_INTERVAL_MS)
    if (!owes()) return false
    const now = await lookAt(pid)
    // Check again: if our own process was delayed, an answer that had already come has been read by now.
    if (!now || !owes()) return false
    if (before?.asleep && now.asleep && now.ticks - before.ticks <= MOST_TICKS) return true
    before = now
  }
}

async function lookAt(pid: number): Promise<Look | undefined> {
  try {
    const threads = await readdir(`/proc/${pid}/task`)
    const states = await Promise.all(threads.map((thread) => fieldsOf(`/proc/${pid}/task/${thread}/stat`)))
    const fields = await fieldsOf(`/proc/${pid}/stat`) // includes the time of threads that have ended
    const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])
    return { asleep: states.every((thread) => thread[STATE] === 'S'), ticks }
  } catch {
    return undefined
  }
}

/** Reads the fields of a `stat` file after the name, which may contain blanks and parentheses. */
async function fieldsOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
