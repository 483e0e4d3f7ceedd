import { createHash } from 'node:crypto'
import type { ServiceSettings } from './service-settings.ts'

/** Formats by `service.idempotency_key_format`. The shortest opaque key has room for 128 bits. */
export const KEY_FORMS = {
  // Without a flag: the API description publishes the pattern to clients in languages that have no flags.
  uuid_v4: {
    pattern: /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$/,
    words: 'a UUID v4',
  },
  opaque: { pattern: /^[!-~]{16,255}$/, words: '16 to 255 printable characters without spaces' },
} as const

/** Assumption `idempotency-format`. */
function isUuidV4(text: string): boolean {
  return KEY_FORMS.uuid_v4.pattern.test(text)
}

/** Returns the key as the service compares it: without the quotation marks that the IETF draft puts around it. */
export function unquotedKey(sent: string): string {
  return /^".*"$/.test(sent) ? sent.slice(1, -1) : sent
}

/**
 * Name of a key in the log. A UUID stands for itself. Any other key may be a secret that was sent by mistake, so the log has
 * `sha256:` and the first 16 digits of its SHA-256; undefined if the key does not match the format.
 */
export function keyInLog(key: string, format: ServiceSettings['idempotency_key_format']): string | undefined {
  if (isUuidV4(key)) return key
  if (!KEY_FORMS[format].pattern.test(key)) return undefined
  return `sha256:${createHash('sha256').update(key).digest('hex').slice(0, 16)}`
}
