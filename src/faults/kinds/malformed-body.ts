import { Type } from '@sinclair/typebox'
import { OPERATIONS } from '../../domain/operations.ts'
import { defineKind } from '../fault-kind.ts'
import { Choice, withDefault } from '../parameters.ts'

const PROXY_PAGE = `<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>proxy</center>
</body>
</html>
`

const HOW = {
  html: [
    'The error page of a proxy takes the place of the answer',
    ': 502, text/html, none of the headers of the service.',
  ],
  cut: ['The JSON is cut in the middle', '; its content-length fits.'],
}

/** The body is not the JSON it should be. The request is carried out. */
export const malformedBody = defineKind({
  kind: 'malformed_body',
  scope: 'exchange',
  group: 'answer',
  phases: ['during_response'],
  operations: OPERATIONS,
  with: Type.Object(
    {
      how: withDefault('html', Choice(['html', 'cut'], { description: 'An HTML page of a proxy, or JSON cut short.' })),
    },
    { additionalProperties: false },
  ),
  explain: ({ how }, when) => HOW[how].join(` ${when}`),
  strike({ exchange: { answer }, with: { how } }) {
    if (!answer) return
    if (how === 'html') {
      answer.status = 502
      answer.headers = { 'content-type': 'text/html' }
      answer.body = PROXY_PAGE
    } else {
      answer.body = answer.body.slice(0, Math.floor(answer.body.length / 2))
    }
  },
})
