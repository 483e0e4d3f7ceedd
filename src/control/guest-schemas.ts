import { Type } from '@sinclair/typebox'
import type { AnsweredConclusion, AuditedMoney, Guest } from './contract.ts'
import { control } from './schema-parts.ts'
import { AuditReportSchema, CredentialsSchema, FaultsSchema } from './schemas.ts'

/** Objects of many members that only commands of the same version read. */
const Whole = <T>(description: string) => Type.Unsafe<T>({ type: 'object', additionalProperties: true, description })

export const ConclusionSchema = control<AnsweredConclusion>(
  'Conclusion',
  Type.Object({
    evidence: Whole<AnsweredConclusion['evidence']>(
      'Exchanges, ledger and settings, for a command of the same version.',
    ),
    rules: { ...FaultsSchema, description: 'The rules that were in force.' },
    unsettled: Type.Integer({ minimum: 0, description: 'Transfers that did not settle in ten seconds.' }),
    other_namespaces: Type.Integer({ minimum: 0, description: 'Namespaces that clients have made.' }),
  }),
)

export const AuditedMoneySchema = control<AuditedMoney>(
  'AuditedMoney',
  Type.Object({ money: Whole<AuditedMoney['money']>('For a command of the same version.'), audit: AuditReportSchema }),
)

export const GuestSchema = control<Guest>(
  'Guest',
  Type.Object({
    credentials: CredentialsSchema,
    owns_markets: Type.Boolean({ description: 'False if all its markets belong to real chains.' }),
    delays_confirmation: Type.Boolean({ description: 'Whether its transfers are confirmed with a delay.' }),
  }),
)
