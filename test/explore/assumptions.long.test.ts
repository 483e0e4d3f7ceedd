import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Exploration } from '../../src/explore/exploration.ts'
import type { ExploreTerms } from '../../src/explore/explore.ts'
import { renderExploration } from '../../src/explore/render/render-exploration.ts'
import { verdictSentence } from '../../src/explore/render/sentence.ts'
import { explorationExitCode, explorationSummary } from '../../src/explore/summary.ts'
import { parseXml } from '../verdict/render/xml.ts'
import { ENV, exploring } from './exploring.ts'

const CLIENT = [process.execPath, fileURLToPath(new URL('clients/assuming.mjs', import.meta.url))]

/** Explores the client with these mistakes under other settings. */
function assuming(mistakes: string, wish: Partial<ExploreTerms> = {}): Promise<Exploration> {
  return exploring(CLIENT, { assumptions: true, env: { ...ENV, MISTAKES: mistakes }, ...wish })
}

/** Names of the settings under which the client came to this outcome. */
function under({ assumptions = [] }: Exploration, outcome: string): string[] {
  return assumptions.filter((one) => one.outcome === outcome).map(({ id }) => id.replace('assumption ', ''))
}

/** What a run of the command needs to meet them, a run of this client does not have. */
const UNMET = [
  ...['yield_harvest=recorded', 'idempotency_in_flight=conflict', 'idempotency_ttl=1h', 'full_withdrawal=exact'],
  ...['idp_token_lifetime=300', 'user_token_leeway=0', 'user_token_codes=several'],
]
const MET = [
  ...['error_body=code_only', 'base_path=/api', 'error_docs=https://docs.example.com/errors'],
  ...['error_amounts=whole_tokens', 'end_user_jwt=required', 'end_user_idempotency_key=required'],
  ...['transfer_status=201', 'idempotency_key_format=opaque', 'idp_scopes=two', 'profile=live-like'],
]

describe('explore --assumptions', () => {
  test('a client that takes nothing for granted survives every setting that its run meets', async () => {
    const exploration = await assuming('')
    expect(under(exploration, 'survived')).toEqual(MET)
    expect(under(exploration, 'not_met')).toEqual(UNMET)
    expect(exploration.results).toEqual([])
    expect(explorationExitCode(exploration)).toBe(0)
    expect(verdictSentence(exploration)).toBe(
      'Passed: ends as well as before under 10 of 17 other settings of the service; 7 of them were never met.',
    )
  })

  test('one that takes four things for granted breaks where they are not so, and nowhere else', async () => {
    const exploration = await assuming('status,title,root,jwt')
    const broken = ['error_body=code_only', 'base_path=/api', 'end_user_jwt=required', 'transfer_status=201']
    expect(under(exploration, 'breaks')).toEqual([...broken, 'profile=live-like'])
    expect(under(exploration, 'survived')).toEqual(MET.filter((id) => ![...broken, 'profile=live-like'].includes(id)))
    expect(explorationSummary(exploration).verdict).toBe('inconclusive')
    expect([explorationExitCode(exploration), explorationExitCode(exploration, true)]).toEqual([4, 0])
    expect(verdictSentence(exploration)).toMatch(
      /^Inconclusive: breaks under 5 of 17 other settings of the service: error_body=code_only \(your client ended with code 1: the last answer was 422 insufficient_balance, to withdraw#1@dora\), base_path=\/api \(your client ended with code 1: GET \/v1\/partner\/pools was answered 404\), /,
    )
    const sentenceOf = (id: string) => exploration.assumptions?.find((one) => one.id === `assumption ${id}`)?.sentences
    expect(sentenceOf('transfer_status=201')?.[0]).toBe(
      'your client ended with code 1: deposit#1@dora was answered 201 instead of 200',
    )
    expect(sentenceOf('error_body=code_only')?.[0]).toContain(
      'the last answer was 422 insufficient_balance, to withdraw#1@dora',
    )
    const { attributes, children } = parseXml(renderExploration('junit', exploration)).children[0]!
    expect(attributes).toMatchObject({ tests: '17', failures: '5', errors: '0', skipped: '7' })
    expect(children.map((one) => one.attributes.name)).toContain('assumption transfer_status=201')
  })

  test.each([
    ['again', 'transfer_status=201', 'astray', 3, /moved money more than once|twice/],
    ['skip', 'transfer_status=201', 'breaks', 4, /ended well: .*never asked for/],
    ['both', 'idempotency_in_flight=conflict', 'breaks', 4, /409 idempotency_key_in_progress/],
    ['late', 'idempotency_ttl=1h', 'breaks', 4, /deposit of 1.00: twice instead of once/],
    ['dust', 'full_withdrawal=exact', 'breaks', 4, /ended with code 1/],
    ['dust,loop', 'full_withdrawal=exact', 'survived', 0, /the same money/],
    ['dust', 'yield_harvest=recorded', 'survived', 0, /the same money/],
  ])('a client that is wrong about one (%s) under %s: %s', async (mistake, setting, outcome, code, words) => {
    // Held for a moment, a transfer still runs when the second request with its key comes.
    const options = mistake === 'both' ? { confirmationDelay: '500ms' } : {}
    const exploration = await assuming(mistake, { assumptions: false, trial: `assumption ${setting}`, options })
    const [only, ...others] = exploration.assumptions ?? []
    const said = only?.sentences.join('; ')
    expect(only, said).toMatchObject({ id: `assumption ${setting}`, outcome })
    expect(others).toEqual([])
    expect(said).toMatch(words)
    expect(explorationExitCode(exploration)).toBe(code)
  })
})
