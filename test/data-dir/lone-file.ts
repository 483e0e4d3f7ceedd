import type { InDirectory } from '../../src/data-dir/entry-file.ts'

/** The order of writes of a file that is alone in its directory. */
export function loneFile(): InDirectory {
  let writes = 0
  return {
    synced: false,
    present: async () => {},
    next: () => ({ writes: writes + 1, after: [] }),
    is: (written) => {
      writes = written.writes
    },
  }
}
