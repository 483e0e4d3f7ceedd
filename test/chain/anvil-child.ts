// Starts and stops Anvils as the lines of its input say, one after another. Has its temporary files in the directory of the first argument.
import { createInterface } from 'node:readline'
import { AnvilProcess } from '../../src/chain/node/anvil-process.ts'
import { SandboxClock } from '../../src/domain/clock.ts'

const [directory = ''] = process.argv.slice(2)
process.env.TMPDIR = directory
const clock = new SandboxClock()
const log = { debug() {}, info() {}, warn: console.error, error: console.error }
const anvils: AnvilProcess[] = []

const say = (text: string) => process.stdout.write(`${text}\n`)
const start = (spawned?: () => void) => AnvilProcess.start({ chainId: '31337', clock, log, spawned })
const orders: Record<string, () => Promise<unknown>> = {
  start: async () => anvils.push(await start()),
  stop: async () => anvils.shift()?.stop(),
  /** Answered while the Anvil comes up. */
  begin: () => new Promise<void>((resolve) => void start(resolve)),
  /** Stops one while another one starts. */
  exchange: async () => {
    const [anvil] = await Promise.all([start(), orders.stop?.()])
    anvils.push(anvil)
  },
}

for await (const order of createInterface({ input: process.stdin })) {
  await orders[order]?.()
  say(order)
}
