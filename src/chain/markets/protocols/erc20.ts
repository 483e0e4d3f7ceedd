import { parseAbi } from 'viem/utils'
import { view } from '../../reading/view.ts'

const ERC20 = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function decimals() view returns (uint8)',
])

/** An account's token balance in minor units: `balanceOf(token, owner)`. */
export const balanceOf = view(ERC20, 'balanceOf')

/** Number of decimals of a token: `decimalsOf(token)`. */
export const decimalsOf = view(ERC20, 'decimals')
