import { Type } from '@sinclair/typebox'
import { AUDIT_CHECKS, type AuditCheckId } from '../domain/audit-report.ts'
import { OPERATIONS } from '../domain/operations.ts'
import { FaultRuleSchema } from '../faults/fault-rule.ts'
import { ExpectationSchema, scenarioSchema } from '../scenarios/scenario-schema.ts'
import type {
  ActiveFault,
  Assumption,
  AuditReport,
  ClockState,
  Credentials,
  FaultKindDescription,
  FaultPreview,
  Fidelity,
  Health,
  MintedToken,
  MovedClock,
  NamespaceSummary,
  Readiness,
  ScenarioList,
  ScenarioRun,
  StoppedScenario,
  Stopping,
} from './contract.ts'
import { anything, control, Moment, oneOf, orNull, Text } from './schema-parts.ts'

export const HealthSchema = control<Health>(
  'Health',
  Type.Object({
    status: Type.Literal('ok'),
    version: Text('Version of the sandbox.'),
    instance: Text('Id of this sandbox: one that is started later has another, on the same port too.'),
    uptime_seconds: Type.Integer({ minimum: 0, description: 'Since it began to listen.' }),
  }),
)

export const ReadinessSchema = control<Readiness>(
  'Readiness',
  Type.Object({ ready: Type.Boolean(), reason: Type.Optional(Text('Why it is not ready.')) }),
)

const TenantCredentialsSchema = control(
  'TenantCredentials',
  Type.Object({
    slug: Text('Its name in the control interface.'),
    tenant_id: Text('Its id.'),
    directory_id: Text('Its directory at the identity provider, a UUID: the tenant of a Microsoft client.'),
    client_id: Text('The appid of its identity-provider tokens.'),
    client_secret: Text('Its secret at the token endpoint.'),
    issuer: Text('The iss of its user tokens.'),
    kid: orNull(Type.String(), 'Null when only the partner holds the private key.'),
    private_key_pem: orNull(Type.String(), 'Signs its user tokens; null when only the partner holds it.'),
    end_users: Type.Array(Type.String(), { description: 'Their external_ids.' }),
    first_request: Type.Optional(
      Type.Object(
        {
          curl: Text('For a POSIX shell with curl and sed. $CONTROL_TOKEN is the control token if one is needed.'),
          typescript: Text('For Node, without a package.'),
          python: Text('For Python 3, without a package.'),
        },
        {
          description:
            'With first_request=1: a program that makes a first deposit. Absent if the tenant has no pool, no access, or no private key here.',
        },
      ),
    ),
  }),
)

export const CredentialsSchema = control<Credentials>(
  'Credentials',
  Type.Object({
    namespace: Text('The namespace they are of.'),
    base_url: Text('Where the service is.'),
    auth_url: Text('Where the token endpoint is.'),
    control_url: Text('Where the control interface is.'),
    rpc_urls: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        "Each chain's JSON-RPC, by chain id. Where others than this machine can reach the sandbox, with the key that sending needs.",
    }),
    audience: Text('The aud of both tokens.'),
    scope: Text('What to ask the token endpoint for.'),
    seed: Type.Integer({ description: 'Every random choice derives from it.' }),
    ca_file: Type.Optional(
      Text("With a self-signed certificate: path, on the sandbox's machine, of the PEM file to trust."),
    ),
    control_token: Type.Optional(
      Text(
        'Bearer token of the control interface, absent when it needs none: of a namespace its own, which opens that namespace alone.',
      ),
    ),
    tenants: Type.Array(TenantCredentialsSchema),
  }),
)

export const NamespaceSchema = control<NamespaceSummary>(
  'Namespace',
  Type.Object({
    name: Text('Its name.'),
    seed: Type.Optional(Type.Integer({ description: 'Every random choice in it derives from it.' })),
    created_at: Type.Optional(Moment('Wall-clock time.')),
    ready: Type.Boolean({ description: 'Whether it can serve.' }),
    reason: Type.Optional(Text('Why it cannot.')),
    tenants: Type.Array(Type.String(), { description: 'Slugs of its tenants.' }),
    requests: Type.Integer({ minimum: 0, description: 'Number of its requests on record.' }),
    last_request_at: orNull(Moment('Wall-clock time.'), 'When the newest of them came; null for none.'),
    failed_findings: orNull(
      Type.Integer({ minimum: 0 }),
      'Number of broken rules, as last judged for somebody who looks at its operations; null if nobody does.',
    ),
  }),
)

export const NamespacesSchema = Type.Array(NamespaceSchema)

const CLOCK = {
  now: Moment('Business time.'),
  frozen: Type.Boolean(),
  offset_seconds: Type.Integer({ description: 'How far it is ahead of real time.' }),
}

export const ClockStateSchema = control<ClockState>('ClockState', Type.Object(CLOCK))

export const MovedClockSchema = control<MovedClock>(
  'MovedClock',
  Type.Object({
    ...CLOCK,
    chains: Type.Object(
      { ok: Type.Boolean(), reason: Type.Optional(Text('Why a chain has no block of this time.')) },
      { description: 'Whether the latest block of every chain has this time.' },
    ),
  }),
)

export const MintedTokenSchema = control<MintedToken>(
  'MintedToken',
  Type.Object({ token: Text('The token.'), expires_at: Moment('Wall-clock time.') }),
)

export const StoppingSchema = control<Stopping>('Stopping', Type.Object({ stopping: Type.Literal(true) }))

/** A rule that puts faults in force. */
export const RuleSchema = control('FaultRule', FaultRuleSchema)

const FaultSchema = control(
  'Fault',
  // The relation between kinds and their parameters is more than an object schema of this form can express.
  Type.Unsafe<ActiveFault>(
    Type.Object({
      id: Text('Its id.'),
      ...FaultRuleSchema.properties,
      hits: Type.Integer({ minimum: 0, description: 'How often it has struck.' }),
      explanation: Text('What it does, and when.'),
    }),
  ),
)

/** What a rule would be, without being put in force. */
const FaultPreviewSchema = control(
  'FaultPreview',
  Type.Unsafe<FaultPreview>(
    Type.Object({
      ...FaultRuleSchema.properties,
      explanation: Text('What it would do, and when.'),
      operations: Type.Array(oneOf(OPERATIONS, 'An operation.'), { description: 'What it could strike.' }),
    }),
  ),
)

export const FaultPreviewsSchema = Type.Array(FaultPreviewSchema, { description: 'What the rules would be.' })

export const FaultKindsSchema = Type.Array(
  control<FaultKindDescription>(
    'FaultKind',
    Type.Object({
      kind: Text('Its name.'),
      explanation: Text('What goes wrong with the default parameters, and when.'),
      group: Text('Where it belongs in a list: connection, answer, chain, tokens or lists.'),
      phases: Type.Array(Type.String(), { description: 'When it can strike; the first is the default.' }),
      operations: Type.Array(Type.String(), { description: 'What it can strike.' }),
      with: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of its parameters.' }),
    }),
  ),
  { description: 'Every kind of fault.' },
)

export const FaultsSchema = Type.Array(FaultSchema, { description: 'The faults.' })

const EXAMPLE = {
  name: 'busy-service',
  description: 'The service is busy for two deposits.',
  faults: [{ kind: 'error', match: { operation: 'deposit' }, times: 2, with: { code: 'rate_limited' } }],
}

/** A scenario that the caller supplies. */
export const OwnScenarioSchema = control('Scenario', {
  ...scenarioSchema(RuleSchema, ExpectationSchema),
  examples: [EXAMPLE],
})

export const ScenarioRunSchema = control<ScenarioRun>(
  'ScenarioRun',
  Type.Object({
    name: Text('Its name.'),
    description: Text('What happens, and what a correct client does about it.'),
    state: oneOf(['running', 'stopped', 'failed'], 'failed: a clock move could not be made.'),
    started_at: Moment('Business time.'),
    faults: Type.Array(FaultSchema, { description: 'Its faults with their hits.' }),
    clock: Type.Array(
      Type.Object({
        explanation: Text('The move.'),
        moved_at: orNull(Moment('Business time after it.'), 'Null while it has not been made.'),
      }),
      { description: 'Its moves of the clock.' },
    ),
    failure: orNull(Type.String(), 'Why it failed and what had been applied.'),
    seed: Type.Integer({ description: 'What every random choice of the run derives from.' }),
    expect: ExpectationSchema,
  }),
)

export const ScenarioListSchema = control<ScenarioList>(
  'ScenarioList',
  Type.Object({
    scenarios: Type.Array(Type.Object({ name: Type.String(), description: Type.String() }), {
      description: 'Those that ship with the sandbox.',
    }),
    current: orNull(ScenarioRunSchema, 'The one started last, unless it was stopped.'),
  }),
)

export const StoppedScenarioSchema = control<StoppedScenario>(
  'StoppedScenario',
  Type.Object({ stopped: orNull(ScenarioRunSchema, 'The run as it ended; null when none was there.') }),
)

export const AuditReportSchema = control<AuditReport>(
  'AuditReport',
  Type.Object({
    ok: Type.Boolean({ description: 'Whether all of it adds up.' }),
    checks: Type.Array(
      control(
        'AuditCheck',
        Type.Object({
          id: oneOf(Object.keys(AUDIT_CHECKS) as AuditCheckId[], 'The invariant.'),
          ok: Type.Boolean(),
          detail: Text('How much was compared, or the first offenders.'),
        }),
      ),
    ),
  }),
)

const ActiveSettingSchema = control(
  'ActiveSetting',
  Type.Object({ name: Text('Its name in the fixture file.'), active: anything('What it is set to.') }),
)

const FidelityRowSchema = control<Fidelity>(
  'FidelityRow',
  Type.Object({
    id: Text('What x-assumption names.'),
    kind: oneOf(['exact', 'assumed', 'absent'], 'How the sandbox stands to it.'),
    about: Text('The place in the specification, or the open point.'),
    rule: Text('What holds here.'),
    source: Text('Who says so.'),
    setting: Type.Optional(ActiveSettingSchema),
    test: Type.Object({ path: Type.String(), name: Type.String() }, { description: 'The test that holds it.' }),
  }),
)

export const FidelitySchema = Type.Array(FidelityRowSchema, { description: 'The fidelity manifest.' })

const AssumptionSchema = control<Assumption>(
  'Assumption',
  Type.Object({
    id: Text('What x-assumption names.'),
    open_point: Text('What the specification leaves open.'),
    behaviour: Text('What the sandbox does.'),
    setting: Type.Optional(ActiveSettingSchema),
  }),
)

export const AssumptionsSchema = Type.Array(AssumptionSchema, { description: 'The open points.' })
