import { once } from 'node:events'
import { connect } from 'node:net'

const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * Kept-alive connections to an HTTP server, each sending the next request when the last one's response is complete. Written to cost
 * less than the server it shares the machine with: the request is made once, of the response only its status and length are read.
 */
export class Load {
  #sockets
  #request

  static async open(url, { headers = {}, connections = 16 } = {}) {
    const { hostname, port, host, pathname } = new URL(url)
    const fields = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
    const load = new Load()
    load.#request = Buffer.from(`GET ${pathname} HTTP/1.1\r\n${fields.join('')}\r\n`)
    load.#sockets = await Promise.all(Array.from({ length: connections }, () => open(hostname, Number(port))))
    return load
  }

  /** How many requests are answered in so many milliseconds, and how many that is a second. Throws on any status but 200. */
  async run(milliseconds) {
    const run = { request: this.#request, answered: 0, over: false }
    const begun = performance.now()
    const timer = setTimeout(() => {
      run.over = true
    }, milliseconds)
    try {
      await Promise.all(this.#sockets.map((socket) => repeat(socket, run)))
      return { answered: run.answered, perSecond: run.answered / ((performance.now() - begun) / 1000) }
    } finally {
      clearTimeout(timer)
      for (const event of ['data', 'error', 'close'])
        for (const socket of this.#sockets) socket.removeAllListeners(event)
    }
  }

  close() {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Requests per second that an HTTP server answers on a number of new connections, as {@link Load} sends them. */
export async function requestRate(url, { milliseconds, ...options }) {
  const load = await Load.open(url, options)
  try {
    return (await load.run(milliseconds)).perSecond
  } finally {
    load.close()
  }
}

async function open(host, port) {
  const socket = connect({ host, port, noDelay: true })
  await once(socket, 'connect')
  return socket
}

function repeat(socket, run) {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a kept-alive connection')))
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const length = responseLength(received)
      if (length === undefined || received.length < length) return
      if (received.toString('latin1', 9, 12) !== '200') return reject(new Error(received.toString()))
      received = received.subarray(length)
      run.answered++
      if (run.over) resolve()
      else socket.write(run.request)
    })
    socket.write(run.request)
  })
}

/** Bytes of the response that the buffer begins with; undefined while its head is incomplete. */
function responseLength(buffer) {
  const end = buffer.indexOf(HEAD_END)
  if (end === -1) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(buffer.toString('latin1', 0, end))
  if (!length) throw new Error('a response without Content-Length')
  return end + HEAD_END.length + Number(length[1])
}
