// Ways to send a request that fetch does not have. Each resolves to a Response, and rejects where there is none.
import { request } from 'node:http'
import { connect } from 'node:net'
import { pause } from './app.mjs'

/** `Expect: 100-continue`: the body goes out when the service says so. */
export function expecting(_app, url, { method, headers, body }) {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body)
    const sent = request(url, { method, headers: { ...headers, expect: '100-continue', 'content-length': length } })
    sent.on('continue', () => sent.end(body))
    sent.on('error', reject)
    sent.on('response', (answer) => {
      const parts = []
      answer.on('data', (part) => parts.push(part))
      answer.on('error', reject)
      answer.on('end', () => {
        sent.destroy()
        resolve(new Response(Buffer.concat(parts), { status: answer.statusCode, headers: answer.headers }))
      })
    })
    sent.flushHeaders()
  })
}

/** Says with a FIN after the request that no other will come, and waits for the answer. */
export function halfClosing(_app, url, init) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: new URL(url).hostname, port: new URL(url).port, allowHalfOpen: true })
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (part) => {
      text += part
    })
    socket.on('error', reject)
    socket.on('end', () => {
      socket.destroy()
      const status = Number(/^HTTP\/1.1 (\d{3})/.exec(text)?.[1])
      if (status) resolve(new Response(text.slice(text.indexOf('\r\n\r\n') + 4), { status }))
      else reject(new Error('no answer'))
    })
    socket.write(asText(url, init))
    // The request has to be there: else nothing of it happens.
    setTimeout(() => socket.end(), 200)
  })
}

/** Is gone before it has read the answer: what a worker does that is killed at that moment. Never has an answer. */
export async function unread(app, url, init) {
  const socket = connect({ host: new URL(url).hostname, port: new URL(url).port })
  // Nothing is read, so the kernel resets the connection when it is closed.
  socket.pause()
  socket.on('error', () => undefined)
  socket.write(asText(url, init))
  const key = init.headers['idempotency-key']
  for (;;) {
    const { data } = await (await app.fetch(`${app.env.YIELD_CONTROL_URL}/requests?idempotency_key=${key}`)).json()
    if (data.length > 0 && data[0].end !== 'open') break
    await pause(10)
  }
  socket.destroy()
  await pause(50)
  throw new Error('nothing was read')
}

function asText(url, { method, headers, body }) {
  const { host, pathname } = new URL(url)
  const lines = Object.entries({ host, ...headers, 'content-length': Buffer.byteLength(body) })
  return `${method} ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}
