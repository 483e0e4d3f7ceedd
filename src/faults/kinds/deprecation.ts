import { Type } from '@sinclair/typebox'
import { parseMoment } from '../../support/quantities.ts'
import { defineKind } from '../fault-kind.ts'
import { SERVICE } from '../parameters.ts'

const Moment = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,3})?)?Z)?$',
      examples: ['"2027-01-31" or "2027-01-31T12:00:00Z"'],
      description,
    }),
  )

/** A year in milliseconds: /v1/ and /v2/ are served in parallel for at least that long (spec: Limits). */
const NOTICE = 365 * 24 * 60 * 60 * 1000

/** The service announces the end of this version (spec: Versioning 6; RFC 9745, RFC 8594). */
export const deprecation = defineKind({
  kind: 'deprecation',
  scope: 'exchange',
  group: 'answer',
  phases: ['during_response'],
  operations: SERVICE,
  with: Type.Object(
    {
      since: Moment('When the version is or was deprecated; now by default.'),
      sunset: Moment('When it will be gone; 365 days after that by default.'),
      link: Type.Optional(
        Type.String({
          pattern: '^https?://[!-;=?-~]+$',
          examples: ['"https://example.com/migration"'],
          description: 'Where the migration is described.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  check({ since, sunset }) {
    for (const [param, moment] of Object.entries({ since, sunset })) {
      if (moment !== undefined && Number.isNaN(parseMoment(moment))) {
        return { path: [param], message: `"${moment}" is no date there is` }
      }
    }
    // RFC 9745, 4: a version cannot become deprecated after its end.
    if (since === undefined || sunset === undefined || parseMoment(sunset) >= parseMoment(since)) return undefined
    return { path: ['sunset'], message: `"${sunset}" is before since, "${since}"` }
  },
  explain: ({ since = 'now', sunset }, when) =>
    `The end of the version is announced ${when}: deprecated as of ${since}, gone ${sunset === undefined ? 'a year later' : `on ${sunset}`}.`,
  strike({ exchange: { answer }, clock, with: { since, sunset, link } }) {
    if (!answer) return
    const from = since === undefined ? clock.now() : parseMoment(since)
    const until = sunset === undefined ? from + NOTICE : parseMoment(sunset)
    answer.headers.deprecation = `@${Math.floor(from / 1000)}`
    answer.headers.sunset = new Date(until).toUTCString()
    if (link !== undefined) answer.headers.link = `<${link}>; rel="deprecation"; type="text/html"`
  },
})
