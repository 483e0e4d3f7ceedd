// A TCP proxy on a thread of its own whose answers are late by a round trip. Posts its port; takes other milliseconds.
import { connect, createServer } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { target } = workerData
let { milliseconds } = workerData

/** Answers that are on their way: when each arrives, and how. */
const underWay = []
/** Longest time for which the thread sleeps without a look at its sockets, in milliseconds. A timer of Node is late by up to one. */
const GLANCE = 0.1
const nobody = new Int32Array(new SharedArrayBuffer(4))

function deliver() {
  while (underWay.length > 0 && underWay[0].at <= performance.now()) underWay.shift().arrive()
  const [next] = underWay
  if (!next) return
  Atomics.wait(nobody, 0, 0, Math.max(0, Math.min(GLANCE, next.at - performance.now())))
  setImmediate(deliver)
}

function send(arrive) {
  underWay.push({ at: performance.now() + milliseconds, arrive })
  if (underWay.length === 1) setImmediate(deliver)
}

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true })
  client.on('data', (piece) => upstream.write(piece))
  upstream.on('data', (piece) => send(() => client.write(piece)))
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ]) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
})
parentPort.on('message', (message) => {
  milliseconds = message
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
