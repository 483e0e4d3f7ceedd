import { createHook } from 'node:async_hooks'

/** Never read. */
const kept: object[] = []

/**
 * Keeps alive one of the objects in which Node notes what `process.nextTick` is to do. When there is none at a garbage
 * collection, V8 forgets their shape, and after a few times Node 20 makes them in a general way, for good: five times as
 * slow, and a request takes six of them.
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
