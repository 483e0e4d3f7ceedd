import { request } from 'node:http'

/**
 * As much of `fetch` as small clients need that tests start as commands, over HTTP. The built-in one begins with a WebAssembly module, which takes
 * more processor time than all else that such a command does.
 */
export function fetch(url, { method = 'GET', headers = {}, body, signal } = {}) {
  const form = body instanceof URLSearchParams && { 'content-type': 'application/x-www-form-urlencoded' }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...form, ...headers }, signal }, (response) => {
      const text = textOf(response)
      text.catch(() => undefined) // of an answer that nobody reads
      const { statusCode: status } = response
      resolve({
        status,
        ok: status >= 200 && status < 300,
        headers: { get: (name) => response.headers[name.toLowerCase()] ?? null },
        text: () => text,
        json: async () => JSON.parse(await text),
      })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : String(body))
  })
}

async function textOf(response) {
  response.setEncoding('utf8')
  let text = ''
  for await (const piece of response) text += piece
  return text
}
