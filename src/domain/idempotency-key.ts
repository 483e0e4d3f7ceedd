/** By `service.idempotency_key_format`; what an opaque key has at least is room for 128 bits. */
export const KEY_FORMS = {
  // Without a flag: the description gives the pattern to clients that know none.
  uuid_v4: {
    pattern: /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$/,
    words: 'a UUID v4',
  },
  opaque: { pattern: /^[!-~]{16,255}$/, words: '16 to 255 printable characters without spaces' },
} as const

/** Assumption `idempotency-format`. */
export function isUuidV4(text: string): boolean {
  return KEY_FORMS.uuid_v4.pattern.test(text)
}
