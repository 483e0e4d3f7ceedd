/** Why a token is not accepted: half a sentence that goes on from "the token was refused:". Never holds the token. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
}
