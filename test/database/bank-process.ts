import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Observation, TransferAnswer } from '../history/recorded-history.ts'
import type { BankEvent, BankOrder, BankRequest } from './bank-words.ts'

/** Answer of a process that keeps accounts; `no`: it says nothing of what was asked. */
export type BankAnswer =
  | { done: TransferAnswer }
  | { principal: string }
  | { transactions: (Observation & { kind: 'list' })['transactions'] }
  | { no: string }

/** A request without its number. */
type Asked = BankRequest extends infer Request ? (Request extends BankRequest ? Omit<Request, 'n'> : never) : never

/** A process of `bank-child.ts`. */
export class BankProcess {
  readonly events: BankEvent[] = []
  readonly #child: ChildProcess
  readonly #news = new EventEmitter()
  readonly #open = new Map<number, (answer: BankAnswer) => void>()
  #asked = 0

  constructor(script: string, args: readonly string[]) {
    this.#child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdin?.on('error', () => undefined) // it was killed
    createInterface({ input: this.#child.stdout ?? process.stdin }).on('line', (line) => this.#heard(JSON.parse(line)))
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resolves to its answer, if it ever answers. */
  ask(request: Asked): Promise<BankAnswer> {
    const n = ++this.#asked
    return new Promise((resolve) => {
      this.#open.set(n, resolve)
      this.#send({ ...request, n })
    })
  }

  order(order: BankOrder): void {
    this.#send(order)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  async kill(): Promise<void> {
    if (!this.running) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  /** Resolves to true as soon as an event after the first `from` ones is as wanted, to false after so many milliseconds. */
  async hears(from: number, wanted: (event: BankEvent) => boolean, ms: number): Promise<boolean> {
    const signal = AbortSignal.timeout(ms)
    while (!this.events.slice(from).some(wanted)) {
      const timely = await once(this.#news, 'news', { signal }).then(
        () => true,
        () => false,
      )
      if (!timely) return false
    }
    return true
  }

  #send(message: BankRequest | BankOrder): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  #heard(line: BankEvent | ({ n: number } & BankAnswer)): void {
    if ('event' in line) {
      this.events.push(line)
      this.#news.emit('news')
      return
    }
    const { n, ...answer } = line
    this.#open.get(n)?.(answer as BankAnswer)
    this.#open.delete(n)
  }
}
