import { tokenFault } from '../token-fault.ts'

/** The token is for another service (spec: User token 3, Identity-provider token 6). */
export const tokenWrongAudience = tokenFault({
  kind: 'token_wrong_audience',
  detail: 'The token is meant for another audience.',
  issues: 'tokens for the audience api://another-service',
  issued: () => ({ claims: { aud: 'api://another-service' } }),
})
