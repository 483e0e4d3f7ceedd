import type { ControlClient } from '../../../src/control/client.ts'
import type { SeededRandom } from '../../../src/support/random.ts'
import type { Partner } from '../../helpers/partner.ts'
import type { ClientMemory } from './client-memory.ts'

/** What a round of a test under load works on: a sandbox as its clients see it, and what they remember. */
export interface HarnessDeps {
  acme: Partner
  control: ControlClient
  rpcUrl: string
  memory: ClientMemory
  random: SeededRandom
  round: number
}
