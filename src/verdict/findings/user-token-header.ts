import { isHabit, PERHAPS_A_TEST } from '../evidence/doubts.ts'
import { userTokens } from '../evidence/tokens.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

const EXPECTED = 'alg RS256, kid the id of the key, typ JWT'

export const userTokenHeader: Finding = {
  id: 'user-token-header',
  title: 'User tokens say alg RS256, kid and typ JWT',
  failureTitle: 'The header of user tokens lacks alg, kid or typ: every request of an end user is refused',
  rule: 'User token, rules 1 and 2: "signs it with its own private key using RS256. JWT header: alg RS256, kid (key identifier), typ JWT."',
  impact: 'serious',
  consequence: 'No end user gets in: every request that needs a user token is answered 401 invalid_user_token.',
  situation: 'a request with a user token',
  exerciseWith: '',
  fix: 'Set all three members of the JWT header where the token is signed; libraries often leave kid out, and some typ.',
  wrongClients: ['user-token-without-typ', 'user-token-without-kid', 'user-token-signed-with-rs512'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  const tokens = userTokens(exchanges).flatMap(({ header, exchange }) =>
    header ? [{ exchange, complaint: complaintOf(header) }] : [],
  )
  const wrong = tokens.filter(({ complaint }) => complaint !== undefined)
  const right = tokens.filter(({ complaint }) => complaint === undefined)
  const [first] = wrong
  if (!first) {
    if (right.length === 0) return notExercised('No request came with a user token.')
    const explanation = `${plural(right.length, 'user token')} had alg RS256, a kid and typ JWT.`
    return passed(
      explanation,
      right.slice(0, 1).map(({ exchange }) => exchange),
    )
  }
  const facts = `${wrong.length} of ${plural(tokens.length, 'user token')} had a wrong header: ${first.complaint}.`
  const shown = wrong.slice(0, 2).map(({ exchange }) => exchange)
  if (!isHabit(right.length, wrong.length)) return needsReview(`${facts} ${PERHAPS_A_TEST}`, shown)
  return failed(facts, { expected: EXPECTED, came: first.complaint ?? '' }, shown)
}

/** The mistake in a header; undefined for none. An unknown kid is a configuration mistake. */
function complaintOf({ alg, kid, typ }: Record<string, unknown>): string | undefined {
  if (alg !== 'RS256') return `alg ${shown(alg)}`
  if (typeof kid !== 'string' || kid === '') return `kid ${shown(kid)}`
  // RFC 7515 §4.1.9: a media type, in either case, with or without application/.
  if (typeof typ !== 'string' || !/^(application\/)?jwt$/i.test(typ)) return `typ ${shown(typ)}`
  return undefined
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? '').slice(0, 60)
}
