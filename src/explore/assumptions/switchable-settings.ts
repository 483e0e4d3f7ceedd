import type { ServiceSettings } from '../../domain/service-settings.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { refusedWith, succeeded } from '../../verdict/evidence/answers.ts'
import { isTransfer } from '../../verdict/evidence/timelines.ts'

/** A run under another setting, and the run of the same command without it. */
export interface RunsUnder {
  exchanges: readonly RecordedExchange[]
  settings: ServiceSettings
  /** The run under the fixture's own settings. */
  unharmed: { exchanges: readonly RecordedExchange[]; settings: ServiceSettings }
}

/** A setting of the service that can have another value than in the fixture file. */
export interface SwitchableSetting {
  /** Every value to try, as a fixture file writes it, and one sentence: the service under it. */
  values: Readonly<Record<string, string>>
  /** @returns true if a run came to the point where the setting decides, so that its end says something */
  met(runs: RunsUnder): boolean
  /** One sentence: the run never came there, and how it could. */
  unmet: string
}

/** Reason why no other value is tried. */
interface LeftOut {
  leftOut: string
}

/** Values of a setting: all of them where there are only so many, else some that stand for others. */
type ValuesOf<V> = [V] extends [string | number]
  ? string extends V
    ? Readonly<Record<string, string>>
    : number extends V
      ? Readonly<Record<string, string>>
      : Readonly<Record<V, string>>
  : never

type Table = {
  readonly [S in keyof ServiceSettings]: LeftOut | (SwitchableSetting & { values: ValuesOf<ServiceSettings[S]> })
}

/** Every setting of the fixture's `service` section: the values to try, or the reason why there are none. */
export const SWITCHABLE_SETTINGS: Table = {
  name: { leftOut: 'the brand is known, and a client may have it built in' },
  protocols: {
    leftOut: 'pools of the fixture file have these names, and the client is told them by the list of pools',
  },
  audience: { leftOut: 'the client is told it: YIELD_AUDIENCE and YIELD_SCOPE' },
  external_ids: {
    leftOut:
      'any pattern could be the one of the live service, and one that refuses the names of the fixture cannot start',
  },
  error_body: {
    values: {
      problem: 'An error body is RFC 9457: type, title, status, detail, instance, code, request_id.',
      code_only: 'An error body has the field code and nothing else.',
    },
    met: ({ exchanges }) => exchanges.some(isErrorBody),
    unmet: 'the service refused nothing, so no error body was read; a test that is refused on purpose would show it',
  },
  base_path: {
    values: {
      '': 'The base URL is an origin without a path.',
      '/api': 'The base URL ends in a path, /api, and the service is there alone.',
    },
    // A request to the wrong path is one that meets it as well.
    met: ({ exchanges }) => exchanges.some(({ operation }) => operation !== 'token'),
    unmet: 'the service was asked for nothing',
  },
  error_docs: {
    values: {
      none: 'The type of an error body is a URN, and there is no doc_url.',
      'https://docs.example.com/errors': 'The type and the doc_url of an error body are web addresses.',
    },
    met: ({ exchanges, settings }) => settings.error_body === 'problem' && exchanges.some(isErrorBody),
    unmet: 'no error body with a type was read; a test that is refused on purpose would show it',
  },
  error_amounts: {
    values: {
      minor_units: 'The detail of an error has amounts in minor units: 500000 minor units.',
      whole_tokens: 'The detail of an error has amounts in whole tokens: 0.5 USDC.',
    },
    met: ({ exchanges, settings }) =>
      settings.error_body === 'problem' &&
      exchanges.some((one) => AMOUNT_ERRORS.some((code) => refusedWith(one, code))),
    unmet: 'no error with an amount in its detail was read; a withdrawal of too much would show it',
  },
  end_user_jwt: {
    values: {
      optional: 'An end user can be created without a user_jwt.',
      required: 'An end user cannot be created without a user_jwt: 400 validation_error.',
    },
    met: ({ exchanges }) => exchanges.some(createsEndUser),
    unmet: 'no end user was created',
  },
  end_user_idempotency_key: {
    values: {
      accepted: 'An end user can be created without an Idempotency-Key.',
      required: 'An end user cannot be created without an Idempotency-Key: 400 idempotency_key_required.',
    },
    met: ({ exchanges }) => exchanges.some(createsEndUser),
    unmet: 'no end user was created',
  },
  transfer_status: {
    values: {
      200: 'A deposit and a withdrawal are answered 200.',
      201: 'A deposit and a withdrawal are answered 201.',
    },
    met: ({ exchanges }) => exchanges.some((one) => isTransfer(one) && succeeded(one)),
    unmet: 'no deposit and no withdrawal was carried out',
  },
  yield_harvest: {
    values: {
      none: 'The list of transactions has no records of yield.',
      recorded: 'Yield earned up to a transfer is a transaction of its own, of the type yield_harvest.',
    },
    met: ({ exchanges, unharmed }) => [...exchanges, ...unharmed.exchanges].some(listsHarvest),
    unmet:
      'no yield was recorded, since business time stands still in every run; a command that moves the clock would show it',
  },
  idempotency_key_format: {
    values: {
      uuid_v4: 'An Idempotency-Key must be a UUID v4: else 400 validation_error.',
      opaque: 'An Idempotency-Key is any 16 to 255 printable characters; case counts.',
    },
    met: ({ exchanges }) => exchanges.some(({ idempotency }) => idempotency !== null),
    unmet: 'no Idempotency-Key was sent',
  },
  idempotency_in_flight: {
    values: {
      join: 'A request with the key of one that still runs waits for it, and gets the same answer.',
      conflict: 'A request with the key of one that still runs is answered 409 idempotency_key_in_progress.',
    },
    met: ({ exchanges }) =>
      exchanges.some((one) => one.idempotency?.use === 'joined' || refusedWith(one, 'idempotency_key_in_progress')),
    unmet:
      'no request came with the key of one that still ran, as a retry after a lost connection does; the faults of explore answer so: --faults idempotency-key-in-progress-after-broadcast',
  },
  idempotency_ttl: {
    values: {
      '1h': 'A response is kept under its Idempotency-Key for an hour.',
      '24h': 'A response is kept under its Idempotency-Key for a day.',
    },
    met: (runs) => keyAges(runs.exchanges).some((age) => decidesBetween(age, 'idempotency_ttl', runs)),
    unmet:
      'no key was sent again after so long, since business time stands still in every run; a command that moves the clock would show it',
  },
  full_withdrawal: {
    values: {
      as_shown: 'A withdrawal of the total last shown takes everything, whatever accrued since.',
      exact: 'Only a withdrawal of the present total takes everything; what accrued since it was shown stays.',
    },
    met: ({ exchanges, unharmed }) => {
      const [now, before] = [exchanges, unharmed.exchanges].map(takenWhole)
      return now?.join() !== before?.join()
    },
    unmet:
      'no portfolio was emptied of more than it was worth when its total was shown, since business time stands still in every run; a command that moves the clock would show it',
  },
  idp_scopes: {
    values: {
      one: 'A token can be had for one form of the scope: the audience and /.default.',
      two: 'The scope may be written with and without api://, and the aud of the token is as it was written.',
    },
    met: ({ exchanges }) => exchanges.some(({ response }) => Boolean(response?.issued)),
    unmet: 'no access token was asked for',
  },
  idp_token_lifetime: {
    values: {
      300: 'An access token lives for five minutes: expires_in 300.',
      3600: 'An access token lives for an hour: expires_in 3600.',
    },
    met: ({ exchanges, unharmed }) =>
      tokensIssued(exchanges) !== tokensIssued(unharmed.exchanges) || exchanges.some(usesExpiredToken),
    unmet:
      'no token expired during the run, and none was renewed because of it; the fault aged-idp-token shows what happens then',
  },
  user_token_leeway: {
    values: {
      0: 'The iat and nbf of a user token may not be ahead of the clock of the service.',
      60: 'The iat and nbf of a user token may be a minute ahead of the clock of the service.',
    },
    met: (runs) => runs.exchanges.some((one) => decidesBetween(secondsAhead(one), 'user_token_leeway', runs)),
    unmet:
      'no user token was ahead of the clock of the service, which is that of this machine; a clock that is fast would show it',
  },
  user_token_codes: {
    values: {
      one: 'A user token of a wrong issuer is refused as any other: 401 invalid_user_token.',
      several:
        'A user token of a wrong issuer is refused with a code of its own: unknown_partner_issuer, cross_tenant_jwt.',
    },
    met: ({ exchanges, unharmed }) =>
      [...exchanges, ...unharmed.exchanges].some((one) => ISSUER_ERRORS.some((code) => refusedWith(one, code))),
    unmet: 'no user token of a wrong issuer was sent; a test that sends one on purpose would show it',
  },
}

/** Errors whose detail has an amount. */
const AMOUNT_ERRORS = ['insufficient_balance', 'amount_too_small']
const ISSUER_ERRORS = ['unknown_partner_issuer', 'cross_tenant_jwt']

/** The token endpoint has bodies of its own, by RFC 6749. */
function isErrorBody({ operation, end, response }: RecordedExchange): boolean {
  return (
    operation !== 'token' && end === 'answered' && response !== null && response.status >= 400 && response.code !== null
  )
}

function createsEndUser(exchange: RecordedExchange): boolean {
  const { operation, end, response } = exchange
  // Refusals of its credentials come before the setting decides.
  return operation === 'create_end_user' && end === 'answered' && (succeeded(exchange) || response?.status === 400)
}

function listsHarvest({ operation, response }: RecordedExchange): boolean {
  return operation === 'list_transactions' && (response?.body?.includes('"yield_harvest"') ?? false)
}

/** For each withdrawal in order: "true" if it took everything because a list had shown that amount. */
function takenWhole(exchanges: readonly RecordedExchange[]): boolean[] {
  const withdrawals = exchanges.filter(({ operation }) => operation === 'withdraw')
  return withdrawals.map(({ transfer }) => Boolean(transfer?.shown_by))
}

function tokensIssued(exchanges: readonly RecordedExchange[]): number {
  return exchanges.filter(({ response }) => Boolean(response?.issued)).length
}

function usesExpiredToken({ request: { idp_token }, began }: RecordedExchange): boolean {
  const exp = idp_token?.claims?.exp
  return typeof exp === 'number' && exp * 1000 <= Date.parse(began.wall)
}

/** Seconds by which the user token of a request is ahead of its arrival; negative if it is not. */
function secondsAhead({ request: { user_token }, began }: RecordedExchange): number {
  const arrived = Math.floor(Date.parse(began.wall) / 1000)
  const { iat, nbf } = user_token?.claims ?? {}
  const moments = [iat, nbf].filter((moment): moment is number => typeof moment === 'number')
  return Math.max(Number.NEGATIVE_INFINITY, ...moments) - arrived
}

/** Milliseconds of business time from the answer under a key to each later request with it. */
function keyAges(exchanges: readonly RecordedExchange[]): number[] {
  const answered = new Map<string, number>()
  return exchanges.flatMap(({ operation, external_id, idempotency, began, ended }) => {
    if (!idempotency || idempotency.use === 'unused') return []
    const key = JSON.stringify([operation, external_id, idempotency.key.toLowerCase()])
    const since = answered.get(key)
    if (idempotency.use === 'first' && ended) answered.set(key, Date.parse(ended.clock))
    return since === undefined ? [] : [Date.parse(began.clock) - since]
  })
}

/** @returns true if one of the two runs allows so much, and the other does not */
function decidesBetween(
  much: number,
  setting: 'idempotency_ttl' | 'user_token_leeway',
  { settings, unharmed }: RunsUnder,
): boolean {
  const [less = 0, more = 0] = [settings[setting], unharmed.settings[setting]].sort((a, b) => a - b)
  return much > less && much <= more
}
