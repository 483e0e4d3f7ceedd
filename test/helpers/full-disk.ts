import { open } from 'node:fs/promises'
import { vi } from 'vitest'

/** What the operating system says of a file that finds no room. */
function noRoom(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
}

/** When room runs out. */
interface Fullness {
  /** How many more writes find room. */
  writes?: number
  /** How long a write may be that does. */
  bytes?: number
  /** Only documents count, which are written whole; what journals append in the background finds room as before. */
  only?: 'documents'
  /** Writes are counted from the one on that follows a document with this text, and find room until then. */
  after?: string
}

/** From now on, as many writes to files find room, if each is that small, and then none does, until there is room again. */
export async function fillDisk({ writes = Infinity, bytes = Infinity, only, after }: Fullness) {
  const handle = await open('/dev/null', 'w')
  const prototype = Object.getPrototypeOf(handle)
  await handle.close()
  let left = writes
  let refused = 0
  let counting = after === undefined
  const fits = (length: number) => {
    if (!counting || (length <= bytes && left-- > 0)) return true
    refused += 1
    return false
  }
  const { write, writeFile } = prototype
  vi.spyOn(prototype, 'write').mockImplementation(function (this: unknown, ...given: unknown[]) {
    const length = (given[2] as number | undefined) ?? 0
    return only === 'documents' || fits(length) ? write.apply(this, given) : Promise.reject(noRoom())
  })
  vi.spyOn(prototype, 'writeFile').mockImplementation(function (this: unknown, ...given: unknown[]) {
    const [data] = given as [Buffer | string]
    const written = fits(data.length) ? writeFile.apply(this, given) : Promise.reject(noRoom())
    if (after !== undefined && data.includes(after)) counting = true
    return written
  })
  return {
    makeRoom() {
      left = Infinity
      bytes = Infinity
    },
    refusals: () => refused,
  }
}
