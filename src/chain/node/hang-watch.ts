import { readdir, readFile } from 'node:fs/promises'
import type { SandboxClock } from '../../domain/clock.ts'
import type { Logger } from '../../support/logger.ts'
import type { NodeEvents } from '../json-rpc/node-events.ts'
import type { RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'

/** What is watched. */
export interface WatchedChain {
  chainId: string
  rpc: RpcClient
  clock: SandboxClock
  log: Logger
  /** Whether it is not to be watched any more. */
  stopped(): boolean
  /** The present node; another one has all the time again. */
  node(): { process: { pid: number } } | undefined
  /** Whether it may take long to answer although nothing is wrong with it, since it reads from somewhere else. */
  slow: boolean
  /** Told when the node gives no answer, when it does again, and when it hangs. */
  events: NodeEvents
}

/** Milliseconds without an answer after which nothing new is begun. */
const SILENCE_TIMEOUT_MS = 3_000
/** … after which an Anvil is taken for hung. */
const HANG_TIMEOUT_MS = 10_000
/** Milliseconds between looks whether it hangs. */
const PROBE_INTERVAL_MS = 1_000
/**
 * What it is asked. It needs the state: of a node whose state is kept busy by a call, so that no block can be mined, all
 * else is answered. (A block that waits goes before later questions, so they wait with it.)
 */
const PROBE: RpcCall = ['eth_getBalance', '0x0000000000000000000000000000000000000000', 'latest']

/** Asks a chain's node now and then whether it still answers, until the chain is stopped. */
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
      // A fork's node that tells of its upstream is not silent.
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

/** Asks for a sign of life, and tells when it does not come soon. Throws when none comes at all. */
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

/** A node that sleeps instead of answering is not waited for. That of a fork may sleep until its upstream answers. */
async function killIfDeadLocked(chain: WatchedChain, owes: () => boolean): Promise<void> {
  const node = chain.node()
  if (chain.slow || !node) return
  const owesStill = () => owes() && chain.node() === node && !chain.stopped() && !chain.rpc.held
  if (await isDeadLocked(node.process.pid, owesStill, chain.clock)) kill(chain, 'it is dead-locked')
}

/** Milliseconds before the first look at a process, and between two. */
const LOOK_INTERVAL_MS = 1_000
/** Hundredths of a second that it may have worked between two looks: an idle Anvil and a dead-locked one use none. */
const MOST_TICKS = 2
/** Where the state of a process or thread stands after its name, and the processor time that it has used. */
const [STATE, USER_TIME, SYSTEM_TIME] = [0, 11, 12] as const

/** What a process is doing. */
interface Look {
  /** Whether every thread sleeps. One that has no processor, waits for a disk or is stopped does not. */
  asleep: boolean
  /** The processor time that it has used, in hundredths of a second. */
  ticks: number
}

/**
 * Looks at a process every second while it owes an answer. Resolves to true when it slept all of a second: nothing will wake
 * it. To false when it owes none any more, or the system does not tell (only Linux does).
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
    // Once more: had we been held up ourselves, an answer that was there has been read by now.
    if (!now || !owes()) return false
    if (before?.asleep && now.asleep && now.ticks - before.ticks <= MOST_TICKS) return true
    before = now
  }
}

async function lookAt(pid: number): Promise<Look | undefined> {
  try {
    const threads = await readdir(`/proc/${pid}/task`)
    const states = await Promise.all(threads.map((thread) => fieldsOf(`/proc/${pid}/task/${thread}/stat`)))
    const fields = await fieldsOf(`/proc/${pid}/stat`) // with the time of threads that have ended
    const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])
    return { asleep: states.every((thread) => thread[STATE] === 'S'), ticks }
  } catch {
    return undefined
  }
}

/** What is told after the name, which may hold blanks and parentheses. */
async function fieldsOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
