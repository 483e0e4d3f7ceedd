import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Command } from '../cli/command.ts'
import { anvilsOf } from '../helpers/anvils.ts'

/** Addresses the processes listen on, as Linux shows them: `0100007F:0FAA`. */
function listening(pids: readonly number[]): string[] {
  const inodes = new Set(pids.flatMap(socketsOf))
  return ['tcp', 'tcp6'].flatMap((table) => {
    const [, ...lines] = readFileSync(`/proc/net/${table}`, 'utf8').trim().split('\n')
    const rows = lines.map((line) => line.trim().split(/\s+/))
    return rows.filter((row) => row[3] === '0A' && inodes.has(row[9]!)).map((row) => row[1]!)
  })
}

function socketsOf(pid: number): string[] {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
}

/** A descriptor may be closed again by then. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** Whether only this machine reaches it. Words are written backwards: the last byte of an IPv4 address is 127. */
const isLoopback = (address: string) => /^([0-9A-F]{6}7F|0{24}01000000):/.test(address)

describe.runIf(process.platform === 'linux')('what listens', () => {
  test.each([
    ['is on loopback alone, the chain too', [], 0],
    ['on every interface is the sandbox, and never Anvil', ['--host', '0.0.0.0'], 1],
  ])('%s', async (_, options, open) => {
    const command = new Command(['--json', '--port', '0', ...options])
    try {
      await command.credentials()
      const pid = command.child.pid!
      const addresses = listening([pid, ...anvilsOf(pid)])
      expect(addresses.length).toBeGreaterThanOrEqual(2)
      expect(addresses.filter((address) => !isLoopback(address))).toHaveLength(open)
      expect(listening(anvilsOf(pid)).filter((address) => !isLoopback(address))).toEqual([])
    } finally {
      command.kill('SIGTERM')
      await command.ended
    }
  })
})
