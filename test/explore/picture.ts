import { readFileSync, writeFileSync } from 'node:fs'
import type { Exploration } from '../../src/explore/exploration.ts'
import { ENV, exploring } from './exploring.ts'

const RECORDED = new URL('one-red-cell.generated.json', import.meta.url)
/** True for `npm run build:pictures`, which explores the client again. */
export const isUpdate = process.env.BUILD_PICTURES === '1'
const KINDS = [
  ...['reset-on-request', 'reset-before-broadcast', 'reset-after-broadcast', 'reset-during-response', 'half-a-body'],
  ...['unavailable', 'gateway-timeout-after-broadcast', 'revert', 'token-expired', 'cut-json'],
]

/** The exploration in the README's picture: of a client that takes a fresh key when the answer to a large deposit cannot be read. */
export async function exploration(): Promise<Exploration> {
  if (isUpdate) {
    const env = { ...ENV, MISTAKE: 'fresh-key-on-cut-answer' }
    const explored = await exploring(['node', 'test/explore/suite.mjs'], { env, kinds: KINDS })
    const results = explored.results.map(({ exchanges: _, ...result }) => result)
    writeFileSync(RECORDED, `${JSON.stringify({ ...explored, command: ['npm', 'test'], results })}\n`)
  }
  return JSON.parse(readFileSync(RECORDED, 'utf8'))
}
