import { shorten } from '../../support/shorten.ts'
import type { Evidence } from '../evidence.ts'
import { failed, type Judgement, needsReview, passed } from '../finding.ts'
import { isHabit } from './habit.ts'
import { type Deed, type Renewal, type RenewalQuestion, renewals } from './renewals.ts'
import { plural } from './words.ts'

/** What a client did wrong about a refused token, in words. */
const WRONG: Record<Exclude<Deed, 'renewed' | 'unclear'>, { did: string; came: string }> = {
  same_token: { did: 'it was repeated with the token that had just been refused', came: 'the same token again' },
  loop: {
    did: 'it was repeated again and again, although each new token was refused as well',
    came: 'repetition after repetition',
  },
  nothing: { did: 'it was not sent again', came: 'nothing' },
}

/** Judges clients by what they did about refused tokens, of which there is one at least. */
export function judgeRenewals({ exchanges, ended }: Evidence, question: RenewalQuestion & { noun: string }): Judgement {
  const { noun, code } = question
  const found = renewals(exchanges, question)
  const right = found.filter(({ did }) => did === 'renewed')
  const wrong = found.filter(isWrong)
  const unclear = found.find(({ did }) => did === 'unclear')
  const first = wrong.find(({ did }) => did === 'loop') ?? wrong[0]
  if (!first && unclear) {
    return needsReview(
      `${sentence(unclear, code)} What came next may be the same request or another one.`,
      unclear.shown,
    )
  }
  if (!first) {
    const explanation = `${plural(right.length, 'time')} a request was refused with 401 ${code}, and came once more with another ${noun}.`
    return passed(explanation, right[0]?.shown ?? [])
  }
  if (first.did === 'nothing' && !ended) {
    return needsReview(`${sentence(first, code)} Nothing followed so far.`, first.shown)
  }
  if (first.did === 'loop' || isHabit(right.length + (unclear ? 1 : 0), wrong.length)) {
    const { did, came } = WRONG[first.did]
    const expected = `the same request once more with another ${noun}`
    return failed(`${sentence(first, code)} Then ${did}.`, { expected, came }, first.shown)
  }
  const reason = `${plural(right.length, 'time')} a request refused with 401 ${code} came once more with another ${noun}, ${plural(wrong.length, 'time')} not. That may be a test of the refusal.`
  return needsReview(reason, first.shown)
}

function sentence({ refused }: Renewal, code: string): string {
  const whose = refused.external_id === null ? '' : ` of ${shorten(refused.external_id, 40)}`
  return `${refused.operation}${whose} was refused with 401 ${code}.`
}

function isWrong(renewal: Renewal): renewal is Renewal & { did: keyof typeof WRONG } {
  return renewal.did in WRONG
}
