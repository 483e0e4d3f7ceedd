import { lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Rights of other users. */
const OTHERS = 0o077

/** Where the records of a user's sandboxes may be: that of the session, which the system empties, or else a folder among temporary files. */
export function privatePlaces(env: NodeJS.ProcessEnv = process.env): string[] {
  const uid = process.getuid?.()
  const session = env.XDG_RUNTIME_DIR || (uid === undefined ? undefined : `/run/user/${uid}`)
  const temporary = join(tmpdir(), uid === undefined ? 'yield-sandbox' : `yield-sandbox-${uid}`)
  return [...(session === undefined ? [] : [join(session, 'yield-sandbox')]), temporary]
}

/** Makes the first of the places that can be made, or is there, for this user alone. Returns its path; undefined if there is none. */
export function makePrivatePlace(env?: NodeJS.ProcessEnv): string | undefined {
  return privatePlaces(env).find((place) => {
    try {
      mkdirSync(place, { mode: 0o700 })
    } catch {
      // It is there, or its parent is not.
    }
    return isPrivate(place)
  })
}

/** @returns true for a folder, not a link, of this user, that nobody else may look into */
export function isPrivate(place: string): boolean {
  const found = lstatSync(place, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return false
  const uid = process.getuid?.()
  return uid === undefined || (found.uid === uid && (found.mode & OTHERS) === 0)
}
