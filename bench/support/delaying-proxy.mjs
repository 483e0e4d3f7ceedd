// A TCP proxy on a thread of its own whose answers are late by a round trip. Posts its port.
import { connect, createServer } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { target, milliseconds } = workerData

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true })
  client.on('data', (piece) => upstream.write(piece))
  upstream.on('data', (piece) => setTimeout(() => client.write(piece), milliseconds))
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ]) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
