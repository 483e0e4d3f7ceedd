import { createHash, timingSafeEqual } from 'node:crypto'

/** @returns true if the texts are equal; how long it takes shows neither how much of them is, nor how long the expected one is */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
