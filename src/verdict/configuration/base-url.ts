import { type Cause, shown } from './cause.ts'

/** Ends of the service's paths, and of the token endpoint's. */
const SERVICE = /(?:\/partner)?(\/(?:pools|end_users(?:\/[^/]+\/(?:portfolios|deposit|withdraw|transactions))?))\/*$/
const TOKEN = /(?:^|\/)(?:oauth2?(?:\/v2\.0)?\/)?token\/*$/

/** Requests go to unknown paths that end like known ones: the address in front of them is wrong. */
export const baseUrl: Cause = {
  id: 'base-url',
  check: 'route',
  diagnose({ operation, refusal, request, faults }, { settings }) {
    if (operation !== null || refusal?.check !== 'route' || refusal.code !== 'not_found' || faults.length > 0) return
    const { path } = request
    const end = SERVICE.exec(path)
    if (end) {
      const right = `${settings.base_path}/v1/partner`
      const expected = `${right}${end[1]}`
      return { ...told(path.slice(0, end.index), settings.base_path), expected: shown(expected), came: shown(path) }
    }
    if (!TOKEN.test(path) || request.method !== 'POST') return undefined
    return {
      title: 'Tokens are asked for at an address that is not the token endpoint',
      expected: '/oauth2/token, or /{tenant_id}/oauth2/v2.0/token',
      came: shown(path),
      fix: 'Use the address of the credentials: YIELD_AUTH_URL (auth_url of GET /_sandbox/credentials), as it stands.',
    }
  },
}

/** Explains the wrong prefix. */
function told(prefix: string, basePath: string): { title: string; fix: string } {
  const name = 'YIELD_BASE_URL (base_url of GET /_sandbox/credentials)'
  const own = prefix.replace(/\/+/g, '/').replace(/\/$/, '')
  if (own === '' || own === basePath)
    return {
      title: 'The paths of the requests lack /v1/partner or a part of it',
      fix: `Add /v1/partner/… to ${name}: it ends before /v1.`,
    }
  if (own.endsWith('/v1/v1'))
    return {
      title: 'The paths of the requests have /v1 twice',
      fix: `Take /v1 away from the base URL, or from the paths added to it; ${name} ends before /v1.`,
    }
  return {
    title: 'The base URL of the service is wrong',
    fix: `Use ${name}, and add /v1/partner/… to it.`,
  }
}
