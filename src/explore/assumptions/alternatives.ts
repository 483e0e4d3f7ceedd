import { PROFILES, type ServiceSettings } from '../../domain/service-settings.ts'
import { OptionError } from '../../option-error.ts'
import { shorten } from '../../support/foreign-text.ts'
import { suggest } from '../../support/nearest.ts'
import { parseDuration } from '../../support/quantities.ts'
import { type RunsUnder, SWITCHABLE_SETTINGS, type SwitchableSetting } from './switchable-settings.ts'

/** Another service that the command could meet: one setting has another value, or all have those of a profile. */
export interface Alternative {
  /** `assumption transfer_status=201` */
  id: string
  /** `transfer_status`, or `profile` for several at once. */
  setting: string
  /** As a fixture file writes it. */
  value: string
  /** One sentence: the service under it. */
  means: string
  /** The settings to replace, as a fixture file writes them. */
  service: Readonly<Record<string, string | number>>
  /** The settings that differ. */
  parts: readonly SettingId[]
}

type SettingId = keyof ServiceSettings

const PREFIX = 'assumption '

/** @returns true if the id of a trial names another setting of the service, not a fault */
export function namesAlternative(id: string): boolean {
  return id.startsWith(PREFIX)
}

/** All other services: every other value of each setting by itself, then all at once in which a profile differs. */
export function alternativesTo(settings: ServiceSettings): Alternative[] {
  const single = switchable().flatMap(([name, { values }]) =>
    Object.entries(values).flatMap(([value, means]): Alternative[] =>
      hasValue(settings, name, value) ? [] : [alternativeOf(name, value, means, { [name]: value })],
    ),
  )
  const whole = Object.keys(PROFILES).flatMap((name) => profileOf(name as keyof typeof PROFILES, settings))
  return [...single, ...whole]
}

/** Refuses the id of an alternative whose setting has no other value, whatever the fixture. Throws OptionError. */
export function refuseUnknownSetting(id: string): void {
  const { name } = partsOf(id)
  const names: string[] = [...switchable().map(([one]) => one), 'profile']
  if (names.includes(name)) return
  const known = Object.hasOwn(SWITCHABLE_SETTINGS, name) ? SWITCHABLE_SETTINGS[name as SettingId] : undefined
  if (known && 'leftOut' in known) throw wrongId(id, `no other ${name} is tried: ${known.leftOut}`)
  throw wrongId(id, `"${shorten(name)}" is no setting that has another value; ${suggest(name, names)}`)
}

/** The alternative of that id. Throws OptionError, which names the nearest there is. */
export function findAlternative(id: string, settings: ServiceSettings): Alternative {
  refuseUnknownSetting(id)
  const all = alternativesTo(settings)
  const found = all.find((one) => one.id === id)
  if (found) return found
  const { name, value } = partsOf(id)
  const values = all.flatMap((one) => (one.setting === name ? [shown(one.value)] : []))
  const isThere =
    name === 'profile' ? Object.hasOwn(PROFILES, value) : value === shown(String(settings[name as SettingId]))
  if (isThere)
    throw wrongId(id, `the fixture has that already${values.length === 0 ? '' : `; use ${values.join(' or ')}`}`)
  throw wrongId(id, `"${shorten(value)}" is not tried for ${name}; ${suggest(value, values)}`)
}

/** `transfer_status` and `201` of `assumption transfer_status=201`. */
function partsOf(id: string): { name: string; value: string } {
  const [name = '', ...rest] = id.slice(PREFIX.length).split('=')
  return { name, value: rest.join('=') }
}

function wrongId(id: string, why: string): OptionError {
  return new OptionError(`--trial "${shorten(id, 200)}": ${why}`)
}

/** Names of the parts of an alternative that a run never came to, and of those that it did. */
export function partsMet({ parts }: Alternative, runs: RunsUnder): { met: SettingId[]; unmet: SettingId[] } {
  const met = parts.filter((name) => settingOf(name)?.met(runs))
  return { met, unmet: parts.filter((name) => !met.includes(name)) }
}

/** One sentence: why a run never came to the setting, and how it could. */
export function unmetInWords(parts: readonly SettingId[]): string {
  const [first, ...others] = parts
  if (first === undefined || others.length > 0) return `never met: ${parts.join(', ')}`
  return settingOf(first)?.unmet ?? ''
}

function switchable(): [SettingId, SwitchableSetting][] {
  const names = Object.keys(SWITCHABLE_SETTINGS) as SettingId[]
  return names.flatMap((name) => {
    const setting = settingOf(name)
    return setting ? [[name, setting] as [SettingId, SwitchableSetting]] : []
  })
}

function settingOf(name: SettingId): SwitchableSetting | undefined {
  const setting = SWITCHABLE_SETTINGS[name]
  return 'leftOut' in setting ? undefined : setting
}

/** Everything at once in which a profile differs from all others, where the fixture's settings do not have it yet. */
function profileOf(name: keyof typeof PROFILES, settings: ServiceSettings): Alternative[] {
  const own: ServiceSettings = PROFILES[name]
  const differs = (one: SettingId) => Object.values(PROFILES).some((other) => String(other[one]) !== String(own[one]))
  const parts = switchable().flatMap(([one]) =>
    differs(one) && String(settings[one]) !== String(own[one]) ? [one] : [],
  )
  if (parts.length < 2) return []
  const values = Object.fromEntries(parts.map((one) => [one, asWritten(one, own[one])]))
  const list = parts.map((one) => `${one}=${shown(String(values[one]))}`).join(', ')
  return [alternativeOf('profile', name, `All at once as in the profile ${name}: ${list}.`, values)]
}

function alternativeOf(
  setting: string,
  value: string,
  means: string,
  values: Readonly<Record<string, string>>,
): Alternative {
  const parts = Object.keys(values) as SettingId[]
  const service = Object.fromEntries(parts.map((name) => [name, typed(name, values[name] ?? '')]))
  return { id: `${PREFIX}${setting}=${shown(value)}`, setting, value, means, service, parts }
}

function shown(value: string): string {
  return value === '' ? '""' : value
}

/** Durations have a unit in a fixture file. */
function asWritten(name: SettingId, value: unknown): string {
  return name === 'idempotency_ttl' ? `${value}ms` : String(value)
}

function typed(name: SettingId, value: string): string | number {
  return name !== 'idempotency_ttl' && typeof PROFILES.specification[name] === 'number' ? Number(value) : value
}

function hasValue(settings: ServiceSettings, name: SettingId, value: string): boolean {
  if (name === 'idempotency_ttl') return isDuration(value) && parseDuration(value) === settings.idempotency_ttl
  return String(settings[name]) === value
}

function isDuration(text: string): boolean {
  return /^\d+(ms|s|m|h)$/.test(text)
}
