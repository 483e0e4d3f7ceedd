import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, vi } from 'vitest'

/** Gives a test file a place of its own for the records of running sandboxes: nobody else's are found, nor its own by others. */
export function usePrivatePlace(): void {
  let place: string
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), 'yield-sandbox-place-'))
    vi.stubEnv('XDG_RUNTIME_DIR', place)
  })
  afterAll(() => {
    vi.unstubAllEnvs()
    rmSync(place, { recursive: true })
  })
}
