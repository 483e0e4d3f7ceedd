import { type Static, Type } from '@sinclair/typebox'
import { FINDING_IDS } from '../verdict/finding-ids.ts'
import { object, oneOf, text } from '../yaml-file/schema-words.ts'

const entry = object(
  'an entry (id, reason, expires)',
  'A finding that may fail for the time being.',
  {
    id: oneOf(FINDING_IDS, 'Id of the finding.'),
    reason: Type.Optional(
      Type.String({
        title: 'a reason of 1 to 500 characters',
        minLength: 1,
        maxLength: 500,
        examples: ['our worker is paused until the library is mended, see ticket 123'],
        description: 'Why it is accepted, shown in the report. A finding of critical impact needs one.',
      }),
    ),
    expires: Type.Optional(
      text(
        'a day such as "2027-01-31"',
        '^\\d{4}-\\d{2}-\\d{2}$',
        '2027-01-31',
        'The last day (UTC) on which it is accepted. Default: for good.',
      ),
    ),
  },
  { id: 'polling-pace', reason: 'the poller is replaced in March', expires: '2027-03-31' },
)

/** Shape of a baseline file. */
export const BaselineSchema = Type.Array(entry, {
  title: 'a list of entries (id, reason, expires)',
  maxItems: 100,
  examples: [[{ id: 'polling-pace', reason: 'the poller is replaced in March' }]],
  description: 'Findings that may fail without failing the run.',
})

/** One entry of a baseline file. */
export type BaselineEntry = Static<typeof entry>
