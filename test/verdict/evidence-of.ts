import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import type { Evidence } from '../../src/verdict/evidence.ts'

/** Evidence of a client that has ended, unless other parts say otherwise. */
export function evidenceOf(exchanges: readonly RecordedExchange[], parts: Partial<Evidence> = {}): Evidence {
  return { exchanges, forgotten: 0, transfers: [], ended: true, now: 3_600_000, settings: DEFAULT_SETTINGS, ...parts }
}
