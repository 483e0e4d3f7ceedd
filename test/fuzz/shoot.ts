import { Dice } from './dice.ts'
import { shootControl } from './face-control.ts'
import { shootRaw } from './face-raw.ts'
import { shootRpc } from './face-rpc.ts'
import { shootService } from './face-service.ts'
import { shootToken } from './face-token.ts'
import type { Face, FuzzRequest, Shooter } from './fuzz-request.ts'
import type { Weather } from './weather.ts'
import type { World } from './world.ts'

/** Shares of the faces. */
const SHARES: Record<Face, number> = { service: 44, token: 10, control: 18, rpc: 18, raw: 10 }

const SHOOTERS: Record<Face, Shooter> = {
  service: shootService,
  token: shootToken,
  control: shootControl,
  rpc: shootRpc,
  raw: shootRaw,
}

/** The request of that number: the same for the same seed, but for what the world puts into it. */
export function shoot(
  seed: number,
  index: number,
  world: World,
  weather: Weather,
): { face: Face; request: FuzzRequest } {
  const dice = new Dice(seed, index)
  const face = dice.weighted(SHARES)
  return { face, request: SHOOTERS[face](dice, world, weather) }
}
