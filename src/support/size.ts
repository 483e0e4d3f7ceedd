import { UnreadableTextError } from './issue.ts'
import { shorten } from './shorten.ts'

const UNITS: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
}

/** Bytes of `0`, `65536`, `64MiB`, `1.5GB`. Throws UnreadableTextError naming what was given. */
export function parseSize(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? []
  const bytes = Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? Number.NaN))
  if (number !== undefined && Number.isSafeInteger(bytes)) return bytes
  throw new UnreadableTextError(`"${shorten(text)}" is not a size`, 'write 0, 65536, 512KiB, 64MiB or 1GB')
}
