// Node's own timers and clocks. A test that fakes timers replaces the globals of its process, at any moment, and the sandbox's time
// would stop with the test's own. So the bundle uses these wherever its code, or a package in it, names one of the globals
// (scripts/bundle.mjs, `inject`). Most come from Node's modules, which are real even if the globals are already replaced when this
// file is loaded.
import { performance as performanceOfNode } from 'node:perf_hooks'
import timers from 'node:timers'
import { runInNewContext } from 'node:vm'

// Taken now: some fakes also replace members of Node's modules.
const { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = timers
const performance = performanceOfNode

/** The fakes of @sinonjs/fake-timers, which Vitest and Jest use, carry their clock; that of Date, a Proxy, looks native. */
const isFake = (value: object) => Object.hasOwn(value, 'clock')
const isNative = (value: object) => !isFake(value) && Function.prototype.toString.call(value).includes('[native code]')

// biome-ignore lint/suspicious/noShadowRestrictedNames: it stands in for the global
const Date: DateConstructor = isNative(globalThis.Date) ? globalThis.Date : runInNewContext('Date')
// Under another name: an injected name in this file would refer to this file.
const { process: node } = globalThis
const { hrtime } = node
const queueMicrotask = isNative(globalThis.queueMicrotask)
  ? globalThis.queueMicrotask.bind(globalThis)
  : (task: () => void) => void Promise.resolve().then(task)
// Node's own nextTick is not a native function.
const nextTick = isFake(node.nextTick)
  ? (task: (...given: unknown[]) => void, ...given: unknown[]) => queueMicrotask(() => task(...given))
  : node.nextTick.bind(process)

export {
  clearImmediate,
  clearInterval,
  clearTimeout,
  Date,
  hrtime,
  nextTick,
  performance,
  queueMicrotask,
  setImmediate,
  setInterval,
  setTimeout,
}
