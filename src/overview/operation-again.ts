import type { FaultRule } from '../faults/fault-rule.ts'
import { shellWords } from '../support/foreign-text.ts'
import type { ExplainedExchange } from '../traffic/explain-exchange.ts'
import type { JudgedDetail, OperationAgain } from './contract.ts'

/** The addresses that a command needs. */
export interface SandboxAddresses {
  /** Of the sandbox, without a path. */
  origin: string
  /** Of the namespace's control interface. */
  control: string
  /** True if that needs its token. */
  needsToken: boolean
}

/** Headers that tokens, key and connection of the next request bring along, or that a page may not set. */
const NOT_REPEATED =
  /^(authorization|x-user-token|idempotency-key|host|connection|content-length|accept-encoding|user-agent|cookie|origin|referer|sec-.*|transfer-encoding|expect|x-sandbox-.*|keep-alive|te|upgrade|date|via)$/i

/** How an operation can be done again: by its last request, and by the fault that struck it. Undefined if it has no request. */
export function againOf(detail: JudgedDetail, addresses: SandboxAddresses): OperationAgain | undefined {
  const exchange = detail.attempts.at(-1)?.exchange
  if (!exchange) return undefined
  const { request } = exchange
  const query = request.query.length === 0 ? '' : `?${new URLSearchParams(request.query)}`
  const path = `${request.path}${query}`
  const fault = sameFault(detail)
  return {
    obstacle: obstacleTo(exchange),
    path,
    headers: request.headers.filter(([name]) => !NOT_REPEATED.test(name)),
    curl: curlOf(exchange, path, addresses),
    fault,
    scenario: scenarioOf(detail, fault),
  }
}

function obstacleTo({ operation, tenant }: ExplainedExchange): string | null {
  if (operation === 'token')
    return 'A request for a token has the client secret, which is not kept: use the tokens of Control.'
  return tenant === null ? 'The tenant of this request is not known, so nobody can sign it again.' : null
}

/** A request as a command for a POSIX shell, which mints its tokens first. */
function curlOf(exchange: ExplainedExchange, path: string, { origin, control, needsToken }: SandboxAddresses): string {
  const { request, tenant, external_id, idempotency } = exchange
  const minting = (kind: string, body: object) => {
    const token = needsToken ? ' -H "authorization: Bearer $CONTROL_TOKEN"' : ''
    const url = `${control}/tenants/${encodeURIComponent(tenant ?? '')}/${kind}`
    const words = shellWords([url, '-H', 'content-type: application/json', '-d', JSON.stringify(body)])
    return `$(curl -s${token} ${words} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`
  }
  const lines = [`curl -i ${shellWords(['-X', request.method, `${origin}${path}`])}`]
  if (tenant !== null && exchange.operation !== 'token') {
    lines.push(`-H "authorization: Bearer ${minting('idp_tokens', {})}"`)
    if (request.user_token && external_id !== null)
      lines.push(`-H "x-user-token: ${minting('user_tokens', { external_id })}"`)
  }
  if (idempotency) lines.push(shellWords(['-H', `idempotency-key: ${idempotency.key}`]))
  if (request.body !== null)
    lines.push(shellWords(['-H', 'content-type: application/json']), shellWords(['-d', request.body]))
  return lines.join(' \\\n  ')
}

/** The fault that struck an operation, or else a lost answer, for the next operation of its kind and end user. */
function sameFault({ attempts, operation, external_id, moves_money }: JudgedDetail): FaultRule {
  const [struck] = attempts.flatMap(({ exchange }) => exchange.faults)
  const sends = moves_money && operation !== 'create_portfolio'
  const match = { ...(operation !== null && { operation }), ...(external_id !== null && { external_id }) }
  return {
    kind: struck?.kind ?? 'drop_connection',
    phase: struck?.phase ?? (sends ? 'after_broadcast' : 'during_response'),
    match,
    times: 1,
  } as FaultRule
}

/** The fault as a scenario file, which expects the rules that were broken to be kept. */
function scenarioOf({ operation, number, finding_ids }: JudgedDetail, { kind, phase, match }: FaultRule): string {
  const matches = Object.entries(match ?? {}).map(([name, value]) => `      ${name}: ${JSON.stringify(value)}`)
  return [
    `name: ${operation ?? 'request'}-${kind}`.replaceAll('_', '-'),
    `description: ${kind.replaceAll('_', ' ')} at ${phase}, as it struck operation ${number}`,
    'faults:',
    `  - kind: ${kind}`,
    `    phase: ${phase}`,
    ...(matches.length > 0 ? ['    match:', ...matches] : []),
    'expect:',
    '  findings:',
    ...(finding_ids.length > 0 ? finding_ids : ['single-transfer']).map((id) => `    - ${id}`),
    '',
    '# yield-sandbox exec --scenario ./this-file.yaml -- npm test',
    '',
  ].join('\n')
}
