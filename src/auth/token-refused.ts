import type { JWTPayload } from 'jose'

/** The flaw of a token, for the record of the exchange; never contains the token itself. */
export interface TokenFlaw {
  /** The claim, the member of the header, `signature`, or `token` for the whole token. */
  aspect: string
  /** In words. */
  expected?: string
  came?: string
}

/** Reason why a token is refused: half a sentence that continues "the token was refused:". Never contains the token. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'

  constructor(
    message: string,
    readonly flaw: TokenFlaw,
  ) {
    super(message)
  }

  /** The claims, if the signature was verified before another flaw was found. */
  signed: JWTPayload | undefined
}
