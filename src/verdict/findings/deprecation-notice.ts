import { shorten } from '../../support/foreign-text.ts'
import { headerOf } from '../../traffic/headers.ts'
import { struckBy } from '../evidence/answers.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, type Judgement, needsReview, notExercised } from '../finding.ts'

export const deprecationNotice: Finding = {
  id: 'deprecation-notice',
  title: 'The end of a version is noticed when it is announced',
  failureTitle: 'The announced end of a version is not noticed: one day every request fails',
  rule: 'Versioning, rule 6: "The deprecation policy … is to follow the Sunset and Deprecation headers of RFC 8594, with email notice to affected partners before the sunset date."',
  impact: 'minor',
  consequence: 'At the sunset date the version stops, and the client fails with it.',
  situation: 'an answer with the headers Deprecation and Sunset',
  exerciseWith: '--fault "deprecation; times=always"',
  fix: 'Look for Deprecation and Sunset in every answer, and log a warning or raise an alarm with both dates.',
  wrongClients: [],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  const announced = exchanges.filter((exchange) => exchange.end === 'answered' && struckBy(exchange, 'deprecation'))
  const [first] = announced
  if (!first) return notExercised('No answer announced the end of this version.')
  const words = ['deprecation', 'sunset', 'link'].flatMap((name) => {
    const value = headerOf(first.response?.headers ?? [], name)
    return value === undefined ? [] : [`${name}: ${shorten(value, 100)}`]
  })
  const reason = `${plural(announced.length, 'answer')} announced the end of this version (${words.join('; ')}). Traffic does not show whether anybody noticed: look for it in the logs of the client.`
  return needsReview(reason, [first])
}
