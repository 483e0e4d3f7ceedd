import { aave } from './aave.ts'
import { erc4626 } from './erc4626.ts'
import type { Protocol } from './protocol.ts'

/** Makes a map of the protocols by the service's identifiers (`service.protocols`): Aave V3 first, then the vault. */
export function protocolsByName([aaveName, erc4626Name]: readonly [string, string]): ReadonlyMap<string, Protocol> {
  return new Map([
    [aaveName, aave],
    [erc4626Name, erc4626],
  ])
}
