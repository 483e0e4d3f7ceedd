// What a wrong worker does otherwise, by the name that MISTAKE gives. Each is one rule of worker.mjs.
import { randomUUID } from 'node:crypto'
import { pause } from '../oracle/clients/app.mjs'

/** How the right worker goes about an order. Every rule is given the worker and the order. */
export const RIGHT = {
  /** Orders to carry out, looked at one by one. */
  orders: ({ orders }) => orders,
  isOpen: (worker, order) => worker.stateOf(order) === 'open',
  /** Once, at the start. */
  begin() {},
  /** On the disk before anything is sent, and never another. */
  key: ({ notes }, { id }) => notes.keep(`${id}.key`, randomUUID()),
  /** What there is to do before an order is sent; false: it is settled. */
  prepare: () => true,
  /** An answer other than success and 422; undefined: ask again under the same key. */
  unclear() {},
  /** After success and 422. */
  answered() {},
}

/** The key of a start: kept by this process alone. */
const inMemory = ({ keys }, { id }) => {
  if (!keys.has(id)) keys.set(id, randomUUID())
  return keys.get(id)
}

/** Sent by an earlier start, or by the other worker, and without an outcome. */
const isInDoubt = ({ notes }, { id }) => notes.keep(`${id}.sent`, String(process.pid)) !== String(process.pid)

export const MISTAKES = {
  'key-in-memory': { key: inMemory },

  'key-stored-after-sending': {
    key: (worker, order) => worker.notes.get(`${order.id}.key`) ?? inMemory(worker, order),
    unclear: (worker, order) => void worker.notes.put(`${order.id}.key`, inMemory(worker, order)),
    answered: (worker, order) => worker.notes.put(`${order.id}.key`, inMemory(worker, order)),
  },

  'key-per-start': {
    begin({ orders, notes, stateOf }) {
      for (const order of orders) if (stateOf(order) === 'open') notes.put(`${order.id}.key`, randomUUID())
    },
  },

  'done-before-sending': {
    prepare(worker, order) {
      worker.settle(order, 'done')
      return true
    },
  },

  'failed-on-broken-connection': {
    unclear: (_worker, _order, { status }) => (status === undefined ? 'failed' : undefined),
  },

  'done-on-any-answer': {
    unclear: (_worker, _order, { status }) => (status === undefined ? undefined : 'done'),
  },

  'looks-once-then-pays-again': {
    async prepare(worker, order) {
      if (!isInDoubt(worker, order)) return true
      if ((await worker.app.listed(order)).length === 0) {
        worker.notes.put(`${order.id}.key`, randomUUID())
        return true
      }
      worker.settle(order, 'done')
      return false
    },
  },

  // A claim of a worker that is dead is taken over with its key. That of one that has worked for two seconds is freed, as if it hung.
  'cleaner-frees-jobs': {
    async prepare({ notes, stateOf }, order) {
      const own = () => `${process.pid} ${Date.now()}`
      const [holder, since] = notes.keep(`${order.id}.claim`, own()).split(' ').map(Number)
      if (holder === process.pid) return true
      while (isAlive(holder) && stateOf(order) === 'open') {
        if (Date.now() >= since + 2000) {
          notes.put(`${order.id}.key`, randomUUID())
          break
        }
        await pause(20)
      }
      notes.put(`${order.id}.claim`, own())
      return stateOf(order) === 'open'
    },
  },

  'pays-back-what-seems-lost': {
    async prepare(worker, order) {
      if (order.type !== 'deposit' || !isInDoubt(worker, order)) return true
      await worker.carryOut({ id: `${order.id}-back`, type: 'withdraw', amount: order.amount })
      worker.settle(order, 'failed')
      return false
    },
  },

  'no-lock-between-twins': {
    key: inMemory,
    orders: ({ orders, stateOf }) => orders.filter((order) => stateOf(order) === 'open'),
    isOpen: () => true,
  },
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
