import { open } from 'node:fs/promises'
import { vi } from 'vitest'

/** What the operating system says of a file that finds no room. */
function noRoom(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
}

/** From now on, as many writes to files find room, if each is that small, and then none does, until there is room again. */
export async function fillDisk({ writes = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY }) {
  const handle = await open('/dev/null', 'w')
  const prototype = Object.getPrototypeOf(handle)
  await handle.close()
  let left = writes
  let refused = 0
  const fits = (length: number) => {
    if (length <= bytes && left-- > 0) return true
    refused += 1
    return false
  }
  const { write, writeFile } = prototype
  vi.spyOn(prototype, 'write').mockImplementation(function (this: unknown, ...given: unknown[]) {
    return fits((given[2] as number | undefined) ?? 0) ? write.apply(this, given) : Promise.reject(noRoom())
  })
  vi.spyOn(prototype, 'writeFile').mockImplementation(function (this: unknown, ...given: unknown[]) {
    const [data] = given as [Buffer | string]
    return fits(data.length) ? writeFile.apply(this, given) : Promise.reject(noRoom())
  })
  return {
    makeRoom() {
      left = Number.POSITIVE_INFINITY
      bytes = Number.POSITIVE_INFINITY
    },
    refusals: () => refused,
  }
}
