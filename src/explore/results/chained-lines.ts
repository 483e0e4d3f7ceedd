import { createHash } from 'node:crypto'

/** What the digest of the first line goes on from. */
export const NO_LINE = ''

/** What stands at the end of every line. */
const DIGEST = /,"digest":"([0-9a-f]{64})"}$/

/** A line of JSON that has as its last member a digest over itself and the line before. */
export interface ChainedLine {
  /** With its line break. */
  text: string
  digest: string
}

/** Writes a value, which must be an object with members, as the line after the one of this digest. */
export function chainedLine(value: object, before: string): ChainedLine {
  const json = JSON.stringify(value)
  const digest = digestOf(json, before)
  return { text: `${json.slice(0, -1)},"digest":"${digest}"}\n`, digest }
}

/** A line that was not written so, from 1: edited, moved, or one before it is gone. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain'

  constructor(readonly line: number) {
    super(`line ${line} is not as it was written`)
  }
}

/** What lines say, without their digests. A last line that was cut short is left out. Throws {@link BrokenChain}. */
export function readChained(text: string): unknown[] {
  const complete = text.split('\n').slice(0, -1)
  let before = NO_LINE
  return complete.map((line, i) => {
    const digest = DIGEST.exec(line)?.[1]
    const json = line.replace(DIGEST, '}')
    if (digest === undefined || digest !== digestOf(json, before)) throw new BrokenChain(i + 1)
    before = digest
    return JSON.parse(json)
  })
}

function digestOf(json: string, before: string): string {
  return createHash('sha256').update(`${before}\n${json}`).digest('hex')
}
