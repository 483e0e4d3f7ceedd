import type { ServiceSettings } from './service-settings.ts'

const SCHEME = 'api://'

/**
 * What an identity-provider token may be for: the service audience and, where scopes have two forms, the same with or without
 * `api://` in front. So Entra ID knows an application by its URI and by its id. Behaviour `other-scopes`.
 */
export function audiencesOf({
  audience,
  idp_scopes,
}: Pick<ServiceSettings, 'audience' | 'idp_scopes'>): readonly [string, ...string[]] {
  if (idp_scopes === 'one') return [audience]
  const id = audience.slice(SCHEME.length)
  return [audience, audience.startsWith(SCHEME) && id !== '' ? id : `${SCHEME}${audience}`]
}

/** What to ask the token endpoint for, to be given a token for that audience. spec: Identity-provider token 2 */
export function scopeOf(audience: string): string {
  return `${audience}/.default`
}
