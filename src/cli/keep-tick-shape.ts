import { createHook } from 'node:async_hooks'

/** Never read: it only keeps the objects alive. */
const kept: object[] = []

/**
 * Keeps alive one of the objects in which Node notes a `process.nextTick` callback. If there is none at a garbage collection, V8 forgets
 * their shape; after a few times Node 20 creates them in a generic way for good, which is five times as slow, and a request needs six.
 */
export function keepTickShape(): void {
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === 'TickObject') kept.push(resource)
    },
  }).enable()
  process.nextTick(() => undefined)
  hook.disable()
}
