import { crc32 } from 'node:zlib'

/** A snapshot with another form and version in its first line. */
export function withFirstLine(text: string, form: number, version: string): string {
  const line = `yield-sandbox snapshot ${form} ${version}`
  return `${line} ${crc32(line).toString(16).padStart(8, '0')}${text.slice(text.indexOf('\n'))}`
}
