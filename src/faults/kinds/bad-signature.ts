import { tokenFault } from '../token-fault.ts'

/** The token's signature does not verify (spec: User token 4, Identity-provider token 6). */
export const badSignature = tokenFault({
  kind: 'bad_signature',
  detail: 'The signature of the token does not verify.',
  issues: 'tokens signed with a key nobody knows',
  issued: () => ({ key: 'unknown' }),
})
