import type { JWTPayload } from 'jose'

/** What of a token is wrong, for the record of the exchange: never the token itself. */
export interface TokenFlaw {
  /** The claim, the member of the header, `signature`, or `token` for all of it. */
  aspect: string
  /** In words. */
  expected?: string
  came?: string
}

/** Why a token is not accepted: half a sentence that goes on from "the token was refused:". Never holds the token. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'

  constructor(
    message: string,
    readonly flaw: TokenFlaw,
  ) {
    super(message)
  }

  /** The claims, if the signature was verified before something else was found wrong. */
  signed: JWTPayload | undefined
}
