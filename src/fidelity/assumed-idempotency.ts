import { assumed, type FidelityRow, LIVE, testsIn } from './row.ts'

const keys = testsIn('test/specification/assumptions-idempotency.test.ts')
const beside = testsIn('test/specification/behaviours-idempotency.test.ts')

/** Open points of the specification about the Idempotency-Key. */
export const IDEMPOTENCY_ASSUMPTIONS: readonly FidelityRow[] = [
  assumed(
    'idempotency-missing',
    'header absent',
    '400 idempotency_key_required',
    keys('Assumption idempotency-missing: 400 idempotency_key_required'),
  ),
  assumed(
    'idempotency-format',
    'not a UUID v4',
    '400 validation_error, param Idempotency-Key; a quoted value is accepted. Set to opaque, any 16 to 255 printable characters of ASCII without blanks are a key, and their case counts',
    keys('Assumption idempotency-format: what is no UUID v4 is 400 validation_error; a quoted one is accepted'),
    { setting: 'service.idempotency_key_format' },
  ),
  assumed(
    'idempotency-scope',
    'who shares a key',
    'one tenant, one operation, one external_id of the path. Create end user has none: another external_id under its key is a mismatch',
    keys('Assumption idempotency-scope: one tenant, one operation, one external_id share a key'),
  ),
  assumed(
    'idempotency-mismatch',
    'same key, other body',
    '422 idempotency_key_in_use_with_different_params',
    keys(
      'Assumption idempotency-mismatch: the same key with another body is refused, with the same in another order not',
    ),
    LIVE,
  ),
  assumed(
    'idempotency-in-flight',
    'same key while the first still runs',
    'the second joins the first and gets the same response, or, when set to conflict, 409 idempotency_key_in_progress',
    keys('Assumption idempotency-in-flight: the second request joins the first and gets the same response'),
    { setting: 'service.idempotency_in_flight' },
  ),
  assumed(
    'idempotency-ttl',
    'how long the response is kept',
    '24 hours of the sandbox clock, unless set otherwise',
    keys('Assumption idempotency-ttl: responses are kept for 24 hours of the sandbox clock'),
    { ...LIVE, setting: 'service.idempotency_ttl' },
  ),
  assumed(
    'idempotency-errors',
    'are error responses kept',
    'those the operation itself decided (404, 422); not 400, 401, 403, 429, nor 5xx',
    keys('Assumption idempotency-errors: what the operation decided is kept'),
  ),
  assumed(
    'idempotency-replay-header',
    'telling a replay',
    'Idempotency-Key-Replay: true or false',
    keys('Assumption idempotency-replay-header: true or false'),
    LIVE,
  ),
]

/** Behaviours of the Idempotency-Key that are not even open points: the specification does not mention them. */
export const IDEMPOTENCY_BEHAVIOURS: readonly FidelityRow[] = [
  assumed(
    'idempotency-bodies',
    'when two bodies are the same',
    'compared as parsed JSON, in any order of members; unknown fields and nulls count',
    beside('Behaviour idempotency-bodies: compared as parsed JSON, unknown fields and nulls included'),
  ),
  assumed(
    'idempotency-key-form',
    'when two keys are the same',
    'compared without case, quoted or not; two Idempotency-Key headers in one request are 400 validation_error',
    beside('Behaviour idempotency-key-form: compared without case, quoted or not; two headers are 400'),
  ),
  assumed(
    'idempotency-joined',
    'Idempotency-Key-Replay of a request that joins another',
    'true: it caused nothing by itself',
    beside('Behaviour idempotency-joined: a request that joins another has Idempotency-Key-Replay: true'),
  ),
  assumed(
    'idempotency-mismatch-in-flight',
    'another body while the first still runs',
    'told at once: 422 idempotency_key_in_use_with_different_params',
    testsIn('test/reliability/concurrency.test.ts')('with different bodies: one is carried out, the others are told'),
  ),
  assumed(
    'replayed-error',
    'the request_id of a replayed error',
    "the body is the first response as it was, the first request's request_id and instance included; the response header has the identifier of the request at hand. Idempotency-Key-Replay: true tells",
    beside('Behaviour replayed-error: the body is the first one, its request_id too; the header is of this request'),
    { source: 'specification (endpoint 5, rule 3: the cached response)' },
  ),
  assumed(
    'idempotency-life',
    'from when the life of a response counts',
    'from completion; a replay does not prolong it; at exactly its end it is given once more',
    beside('Behaviour idempotency-life: counts from completion, and a replay does not prolong it'),
  ),
  assumed(
    'idempotency-unknown-end-user',
    'end_user_not_found under a key',
    'is kept: take a fresh key once the end user exists',
    beside('Behaviour unknown-end-user-kept: end_user_not_found is kept under the key'),
  ),
  assumed(
    'end-user-key',
    'Idempotency-Key on create end user',
    'accepted and honoured; set to required, 400 idempotency_key_required without one',
    testsIn('test/specification/live-like.test.ts')('Live-like: create end user requires user_jwt and a key'),
    { setting: 'service.end_user_idempotency_key' },
  ),
]
