/** A secret as bodies, URLs and headers may spell it. */
export function spellings(secret: string): string[] {
  const encoded = encodeURIComponent(secret)
  return [
    secret,
    encoded,
    encoded.replaceAll('%20', '+'),
    encoded.toLowerCase(),
    encoded.replaceAll('%', '%25'),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('hex').toUpperCase(),
    ...(secret.length < 8 ? [] : [0, 1, 2].flatMap((before) => inBase64(secret, before))),
  ]
}

/** As it stands within the base64 of a longer text, so many bytes behind a multiple of three: without the characters it shares. */
function inBase64(secret: string, before: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
  const first = Math.ceil((before * 8) / 6)
  const last = Math.floor((bytes.length * 8) / 6)
  return (['base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding).slice(first, last))
}
