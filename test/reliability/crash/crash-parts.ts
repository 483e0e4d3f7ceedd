import type { ControlClient } from '../../../src/control/client.ts'
import type { SeededRandom } from '../../../src/domain/random.ts'
import type { Partner } from '../../helpers/partner.ts'
import type { CrashMemory } from './crash-memory.ts'

/** What a round of the crash test works on: a sandbox as its clients see it, and what they remember. */
export interface CrashParts {
  acme: Partner
  control: ControlClient
  rpcUrl: string
  memory: CrashMemory
  random: SeededRandom
  round: number
}
