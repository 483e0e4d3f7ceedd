#!/usr/bin/env node
// healthcheck.mjs [pid]: exit code 0 when the sandbox in this container (or process `pid`) is ready, else 1.
// It asks at the port the sandbox really listens on, as Linux tells it: flags, environment, fixture file or `--port 0`
// may have chosen it.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { get } from 'node:http'
import { get as getSecurely } from 'node:https'

const LISTENING = '0A'

const isSandbox = (pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('yield-sandbox.js\0')

/** What `read` gives, or nothing when the process has ended or belongs to somebody else. */
function attempt(read) {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The inodes of the sockets a process holds. */
function socketsOf(pid) {
  const files = attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []
  const targets = files.map((file) => attempt(() => readlinkSync(`/proc/${pid}/fd/${file}`)))
  return targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target ?? '')?.[1] ?? [])
}

/** Bytes of an address as /proc/net writes it: words of 32 bits, each with its lowest byte first. */
const bytesOf = (hex) => hex.match(/.{8}/g).flatMap((word) => word.match(/../g).reverse())

/** Where to reach a socket that listens at this address, as a URL has it. All addresses include the loopback. */
function hostOf(hex) {
  const bytes = bytesOf(hex)
  if (bytes.every((byte) => byte === '00')) return '127.0.0.1'
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join('.')
  return `[${bytes.join('').match(/.{4}/g).join(':')}]`
}

/** The hosts, with ports, that the sockets with these inodes listen at. */
function listeningAt(inodes) {
  const lines = ['tcp', 'tcp6'].flatMap(
    (table) => attempt(() => readFileSync(`/proc/net/${table}`, 'utf8').split('\n')) ?? [],
  )
  return lines.flatMap((line) => {
    const columns = line.trim().split(/\s+/)
    if (columns[3] !== LISTENING || !inodes.includes(columns[9])) return []
    const [address, port] = columns[1].split(':')
    return [`${hostOf(address)}:${Number.parseInt(port, 16)}`]
  })
}

/** The status of the answer; undefined when there is none. Who answers is known by the socket: no certificate has to say it. */
function statusOf(ask, url) {
  return new Promise((resolve) => {
    const request = ask(url, { timeout: 1000, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(undefined))
  })
}

/** Over http, or https if that is what it speaks. */
async function isReady(host) {
  const path = `${host}/_sandbox/ready`
  return ((await statusOf(get, `http://${path}`)) ?? (await statusOf(getSecurely, `https://${path}`))) === 200
}

const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
const pids = process.argv[2] ? [process.argv[2]] : processes.filter((pid) => attempt(() => isSandbox(pid)))
const hosts = listeningAt(pids.flatMap(socketsOf))
const answers = await Promise.all(hosts.map(isReady))
if (!answers.includes(true)) {
  console.error(hosts.length > 0 ? `not ready: ${hosts.join(', ')}` : 'the sandbox does not listen')
  process.exitCode = 1
}
