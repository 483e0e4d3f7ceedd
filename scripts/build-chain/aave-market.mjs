// A genuine Aave V3 market: the bytecode of @aave/core-v3, wired up as its own deployment does.
import { getContractAddress, maxUint256, parseUnits, stringToHex, zeroAddress, zeroHash } from 'viem'
import { aaveContract } from './aave-artifacts.mjs'

// In an order in which every library finds those it links.
const LIBRARIES = [
  'SupplyLogic',
  'BorrowLogic',
  'LiquidationLogic',
  'EModeLogic',
  'BridgeLogic',
  'PoolLogic',
  'ConfiguratorLogic',
  'FlashLoanLogic',
]

const USD = 100_000_000n // one US dollar, as the oracle counts
const VARIABLE_RATE = 2n
const RESERVE_FACTOR = 1_000n // 10 %, in basis points
const LIQUIDATION_BONUS = 10_500n // 5 % on top, in basis points

/** Under this name the provider knows the strategy whose rates are set by hand; in use only once somebody sets one. */
const SETTABLE_RATES = stringToHex('SETTABLE_RATES', { size: 32 })

/** `DEFAULT_ADMIN_ROLE`: who has it says who has which role. */
const EVERY_ROLES_ADMIN = zeroHash

/** Percent as a ray (27 decimals). */
const ray = (percent) => parseUnits(String(percent), 25)

/**
 * @typedef {object} Reserve
 * @property {string} symbol
 * @property {number} decimals
 * @property {{ abi: any[], address: `0x${string}` }} token
 * @property {bigint} priceUsd whole dollars
 * @property {number} ltv percent
 * @property {number} liquidationThreshold percent
 * @property {{ optimal: number, slope1: number, slope2: number }} [rates] percent; absent when it cannot be borrowed
 */

/**
 * Adds the market to a plan.
 * @param {import('./plan.mjs').Plan} plan
 * @param {{ admin: import('./plan.mjs').Account, owner: import('./plan.mjs').Account }} accounts who deploys, and who
 * has the say in the end: at once over the pool, and over `provider` and `rates` once they are handed over
 * @param {Reserve[]} reserves
 * @param {{ abi: any[], bytecode: `0x${string}` }} settableRates
 * @returns {Record<'pool' | 'oracle' | 'provider' | 'rates', { abi: any[], address: `0x${string}` }>}
 */
export function planAaveMarket(plan, { admin, owner }, reserves, settableRates) {
  const provider = plan.deploy(admin, 'provider', aaveContract('PoolAddressesProvider'), ['sandbox', admin.address])
  plan.call(admin, provider, 'setACLAdmin', [admin.address])
  const acl = plan.deploy(admin, 'acl', aaveContract('ACLManager'), [provider.address])
  plan.call(admin, provider, 'setACLManager', [acl.address])
  plan.call(admin, acl, 'addPoolAdmin', [admin.address])

  const { pool, configurator } = planPool(plan, admin, provider)

  const dataProvider = plan.deploy(admin, 'data provider', aaveContract('AaveProtocolDataProvider'), [provider.address])
  plan.call(admin, provider, 'setPoolDataProvider', [dataProvider.address])
  const oracle = planOracle(plan, admin, provider, reserves)
  const strategies = planReserves(plan, admin, { provider, pool, configurator, treasury: owner }, reserves)
  const tokens = reserves.map(({ token }) => token.address)
  const settable = plan.deploy(admin, 'settable rates', settableRates, [tokens, strategies])
  plan.call(admin, provider, 'setAddress', [SETTABLE_RATES, settable.address])
  planAccess(plan, { admin, owner }, acl)
  return { pool, oracle, provider, rates: settable }
}

/** Hands the pool over. */
function planAccess(plan, { admin, owner }, acl) {
  plan.call(admin, acl, 'addPoolAdmin', [owner.address])
  plan.call(admin, acl, 'removePoolAdmin', [admin.address])
  plan.call(admin, acl, 'grantRole', [EVERY_ROLES_ADMIN, owner.address])
  plan.call(admin, acl, 'renounceRole', [EVERY_ROLES_ADMIN, admin.address])
}

function planPool(plan, admin, provider) {
  const libraries = {}
  for (const name of LIBRARIES) libraries[name] = plan.deploy(admin, name, aaveContract(name, libraries)).address
  const poolCode = plan.deploy(admin, 'pool', aaveContract('Pool', libraries), [provider.address])
  const configuratorCode = plan.deploy(admin, 'configurator', aaveContract('PoolConfigurator', libraries))
  plan.call(admin, provider, 'setPoolImpl', [poolCode.address])
  plan.call(admin, provider, 'setPoolConfiguratorImpl', [configuratorCode.address])
  // The provider creates a proxy for each of the two, its first and second contract.
  const proxy = (nonce) => getContractAddress({ from: provider.address, nonce })
  return {
    pool: { abi: poolCode.abi, address: proxy(1n) },
    configurator: { abi: configuratorCode.abi, address: proxy(2n) },
  }
}

function planOracle(plan, admin, provider, reserves) {
  const feeds = reserves.map(({ symbol, priceUsd }) =>
    plan.deploy(admin, `${symbol} price`, aaveContract('MockAggregator'), [priceUsd * USD]),
  )
  const oracle = plan.deploy(admin, 'oracle', aaveContract('AaveOracle'), [
    provider.address,
    reserves.map(({ token }) => token.address),
    feeds.map(({ address }) => address),
    zeroAddress,
    zeroAddress, // prices are in US dollars, not in a token
    USD,
  ])
  plan.call(admin, provider, 'setPriceOracle', [oracle.address])
  return oracle
}

/** Returns each reserve's interest rate strategy. */
function planReserves(plan, admin, { provider, pool, configurator, treasury }, reserves) {
  const deploy = (name, args) => plan.deploy(admin, name, aaveContract(name), args).address
  const aToken = deploy('AToken', [pool.address])
  const stableDebt = deploy('StableDebtToken', [pool.address])
  const variableDebt = deploy('VariableDebtToken', [pool.address])
  const inits = reserves.map(({ symbol, decimals, token, rates = { optimal: 80, slope1: 0, slope2: 0 } }) => ({
    aTokenImpl: aToken,
    stableDebtTokenImpl: stableDebt,
    variableDebtTokenImpl: variableDebt,
    underlyingAssetDecimals: decimals,
    interestRateStrategyAddress: deploy('DefaultReserveInterestRateStrategy', [
      provider.address,
      ray(rates.optimal),
      0n,
      ray(rates.slope1),
      ray(rates.slope2),
      ...[0n, 0n, 0n, 0n, 0n], // no borrowing at a stable rate
    ]),
    underlyingAsset: token.address,
    treasury: treasury.address,
    incentivesController: zeroAddress,
    aTokenName: `Aave ${symbol}`,
    aTokenSymbol: `a${symbol}`,
    variableDebtTokenName: `Aave Variable Debt ${symbol}`,
    variableDebtTokenSymbol: `variableDebt${symbol}`,
    stableDebtTokenName: `Aave Stable Debt ${symbol}`,
    stableDebtTokenSymbol: `stableDebt${symbol}`,
    params: '0x',
  }))
  plan.call(admin, configurator, 'initReserves', [inits])
  for (const { token, ltv, liquidationThreshold, rates } of reserves) {
    const basisPoints = [BigInt(ltv * 100), BigInt(liquidationThreshold * 100), LIQUIDATION_BONUS]
    plan.call(admin, configurator, 'configureReserveAsCollateral', [token.address, ...basisPoints])
    plan.call(admin, configurator, 'setReserveFactor', [token.address, RESERVE_FACTOR])
    if (rates) plan.call(admin, configurator, 'setReserveBorrowing', [token.address, true])
  }
  return inits.map(({ interestRateStrategyAddress }) => interestRateStrategyAddress)
}

/**
 * Mints tokens to an account, which supplies them to the pool.
 * @param {import('./plan.mjs').Plan} plan
 * @param {Record<'owner' | 'account', import('./plan.mjs').Account>} accounts who mints, and who supplies
 * @param {{ abi: any[], address: `0x${string}` }} pool
 * @param {Reserve} reserve
 * @param {number} amount whole tokens
 */
export function planSupply(plan, { owner, account }, pool, { token, decimals }, amount) {
  const units = parseUnits(String(amount), decimals)
  plan.call(owner, token, 'mint', [account.address, units])
  plan.call(account, token, 'approve', [pool.address, maxUint256])
  plan.call(account, pool, 'supply', [token.address, units, account.address, 0])
}

/**
 * Gives the token's owner a whole one and the pool's leave to take it.
 * @param {import('./plan.mjs').Plan} plan
 * @param {import('./plan.mjs').Account} owner
 * @param {{ abi: any[], address: `0x${string}` }} pool
 * @param {Reserve} reserve
 */
export function planStock(plan, owner, pool, { token, decimals }) {
  plan.call(owner, token, 'mint', [owner.address, parseUnits('1', decimals)])
  plan.call(owner, token, 'approve', [pool.address, maxUint256])
}

/**
 * Borrows tokens from the pool.
 * @param {import('./plan.mjs').Plan} plan
 * @param {import('./plan.mjs').Account} account
 * @param {{ abi: any[], address: `0x${string}` }} pool
 * @param {Reserve} reserve
 * @param {number} amount whole tokens
 */
export function planBorrow(plan, account, pool, { token, decimals }, amount) {
  const units = parseUnits(String(amount), decimals)
  plan.call(account, pool, 'borrow', [token.address, units, VARIABLE_RATE, 0, account.address])
}
