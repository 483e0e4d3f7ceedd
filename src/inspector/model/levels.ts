import type { Level, Tone } from '../../control/contract.ts'

/** Tone and sign of each level, the worst first. Phones show none of the signs as a picture. */
export const LEVELS: Record<Level, { tone: Tone; sign: string }> = {
  critical: { tone: 'bad', sign: '✗' },
  serious: { tone: 'bad', sign: '!' },
  inconclusive: { tone: 'warn', sign: '?' },
  review: { tone: 'warn', sign: '?' },
  warning: { tone: 'warn', sign: '~' },
  note: { tone: 'plain', sign: '○' },
  none: { tone: 'plain', sign: '-' },
  ok: { tone: 'ok', sign: '✓' },
}

const ORDER = Object.keys(LEVELS)

/** 0 for the worst level. */
export function rankOf(level: Level): number {
  return ORDER.indexOf(level)
}

/** @returns true for a level that no client may have */
export function isBad(level: Level): boolean {
  return LEVELS[level].tone === 'bad'
}

/** @returns true for a level that a person has to look at */
export function isOpen(level: Level): boolean {
  return LEVELS[level].sign === '?'
}

/** The text with a capital letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Words of an id: `paid_twice` → "paid twice". */
export function idInWords(id: string): string {
  return id.replaceAll('_', ' ')
}

/** "1 run", "2 runs" */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
