// Starts and stops Anvils as the lines of its input say, one after another. Has its temporary files in the directory of the first argument.
import { createInterface } from 'node:readline'
import { AnvilProcess } from '../../src/chain/node/anvil-process.ts'
import { SandboxClock } from '../../src/domain/clock.ts'

const [directory = ''] = process.argv.slice(2)
process.env.TMPDIR = directory
const clock = new SandboxClock()
const anvils: AnvilProcess[] = []
const { PATH } = process.env

const say = (text: string) => void process.stdout.write(`${text}\n`)
const log = { debug() {}, info() {}, warn: (_: object, text: string) => say(text), error: console.error }
const options = { chainId: '31337', clock, log }
const start = async () => anvils.push(await AnvilProcess.start(options))
const stop = async () => anvils.shift()?.stop()
/** Flags that kill this process when they are read, which is when the directory is made and the Anvil is not. */
const deadly = Object.assign<string[], object>([], { [Symbol.iterator]: () => process.kill(process.pid, 'SIGKILL') })

const orders: Record<string, () => Promise<unknown>> = {
  start,
  stop,
  /** Answered while the Anvil comes up. */
  begin: () => new Promise<void>((resolve) => void AnvilProcess.start({ ...options, spawned: resolve })),
  exchange: () => Promise.all([start(), stop()]),
  restart: () => stop().then(start),
  'hide sh': async () => Object.assign(process.env, { PATH: '/nowhere' }),
  'show sh': async () => Object.assign(process.env, { PATH }),
  crash: () => AnvilProcess.start({ ...options, flags: deadly }),
}

for await (const order of createInterface({ input: process.stdin })) {
  await orders[order]?.()
  say(order)
}
