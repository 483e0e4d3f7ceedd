import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Where the sandboxes that tests start are written down: they have this folder for their project, and commands of other tests, and of
 * people who work in it, must not find them there.
 */
export default function setup(): () => void {
  const place = mkdtempSync(join(tmpdir(), 'yield-sandbox-places-'))
  process.env.XDG_RUNTIME_DIR = place
  return () => rmSync(place, { recursive: true, force: true })
}
