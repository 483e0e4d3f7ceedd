/** Which credential a 401 is about: the identity provider's token, the partner's user token, the control token. */
export type Realm = 'partner-api' | 'user-token' | 'control'

/**
 * Value of `WWW-Authenticate` for a bearer token. `refusal` is what is wrong with the one that came; left out when none came:
 * then nothing is said about it (RFC 6750 §3.1). ASCII without quotation marks and backslashes.
 */
export function bearerChallenge(realm: Realm, refusal?: string): string {
  const challenge = `Bearer realm="${realm}"`
  return refusal === undefined ? challenge : `${challenge}, error="invalid_token", error_description="${refusal}"`
}

/** Headers that an answer of this status carries whatever it is about, with the challenge of a 401. Names in lower case. */
export function requiredHeaders(status: number, challenge?: string): Record<string, string> {
  // RFC 9110 §15.5.2
  if (status === 401 && challenge !== undefined) return { 'www-authenticate': challenge }
  // RFC 6585 §4, RFC 9110 §15.6.4: it may be there, and a client that finds none has to guess.
  return status === 429 || status === 503 ? { 'retry-after': '1' } : {}
}
