import type { ServiceSettings } from '../domain/service-settings.ts'
import { ABSENT_ROWS } from './absent.ts'
import { IDEMPOTENCY_ASSUMPTIONS, IDEMPOTENCY_BEHAVIOURS } from './assumed-idempotency.ts'
import { CHAIN_BEHAVIOURS, MONEY_ASSUMPTIONS, MONEY_BEHAVIOURS } from './assumed-money.ts'
import { LIST_ASSUMPTIONS, LIST_BEHAVIOURS, REQUEST_ASSUMPTIONS, REQUEST_BEHAVIOURS } from './assumed-requests.ts'
import { TOKEN_ASSUMPTIONS, TOKEN_BEHAVIOURS } from './assumed-tokens.ts'
import type { FidelityRow, SettingName } from './row.ts'
import { ERROR_ROWS, OVERVIEW_ROWS, PAGING_ROWS, TOKEN_ROWS } from './specified-conventions.ts'
import { ENDPOINT_ROWS, RESOURCE_ROWS } from './specified-endpoints.ts'

/** A setting of the fixture file, and its current value. */
export interface ActiveSetting {
  name: string
  active: unknown
}

/** A row of the manifest, with the active setting. */
export type Fidelity = Omit<FidelityRow, 'setting'> & { setting?: ActiveSetting }

/** One open point of the specification, and the sandbox's behaviour there. */
export interface Assumption {
  id: string
  open_point: string
  behaviour: string
  /** The fixture file's setting that changes the behaviour, and its current value. */
  setting?: ActiveSetting
}

/** Current settings of the sandbox, as far as rows show them. */
export interface ActiveSettings {
  service: ServiceSettings
  /** Milliseconds. */
  confirmation_delay: { min: number; max: number }
}

const ASSUMPTIONS: readonly FidelityRow[] = [
  ...REQUEST_ASSUMPTIONS,
  ...LIST_ASSUMPTIONS,
  ...MONEY_ASSUMPTIONS,
  ...IDEMPOTENCY_ASSUMPTIONS,
  ...TOKEN_ASSUMPTIONS,
]

/** Every rule of the specification, every open point, every behaviour that it does not mention, and every absent feature. */
export const MANIFEST: readonly FidelityRow[] = [
  ...OVERVIEW_ROWS,
  ...RESOURCE_ROWS,
  ...ENDPOINT_ROWS,
  ...PAGING_ROWS,
  ...TOKEN_ROWS,
  ...ERROR_ROWS,
  ...ASSUMPTIONS,
  ...REQUEST_BEHAVIOURS,
  ...LIST_BEHAVIOURS,
  ...MONEY_BEHAVIOURS,
  ...IDEMPOTENCY_BEHAVIOURS,
  ...TOKEN_BEHAVIOURS,
  ...CHAIN_BEHAVIOURS,
  ...ABSENT_ROWS,
]

/** The manifest under these settings. */
export function fidelity(settings: ActiveSettings): Fidelity[] {
  return MANIFEST.map(({ setting, ...row }) => ({ ...row, ...(setting && { setting: active(setting, settings) }) }))
}

/** The open points of the specification, without other behaviours. */
export function assumptions(settings: ActiveSettings): Assumption[] {
  return ASSUMPTIONS.map(({ id, about, rule, setting }) => ({
    id,
    open_point: about,
    behaviour: rule,
    ...(setting && { setting: active(setting, settings) }),
  }))
}

function active(name: SettingName, { service, confirmation_delay }: ActiveSettings): ActiveSetting {
  if (name === 'options.confirmation_delay') return { name, active: confirmation_delay }
  return { name, active: service[name.slice('service.'.length) as keyof ServiceSettings] }
}
