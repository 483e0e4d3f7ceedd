import { shorten } from '../../support/shorten.ts'

/** `1 time`, `2 times` */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Milliseconds as people say them: `120 ms`, `45.0 s`. */
export function spell(ms: number): string {
  return Math.abs(ms) < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** Text of a client, short enough for a sentence. */
export function quote(text: string): string {
  return `"${shorten(text, 60)}"`
}
