import type { FileOrder } from '../../src/data-dir/entry-file.ts'

/** The order of writes of a file that is alone in its directory. */
export function loneFile(): FileOrder {
  let writes = 0
  return {
    present: async () => {},
    next: () => ({ writes: writes + 1, after: [] }),
    is: (written) => {
      writes = written.writes
    },
  }
}
