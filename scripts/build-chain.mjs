#!/usr/bin/env node
// Builds the embedded chain's state into contracts/out/: a genuine Aave V3 market and two ERC-4626 vaults.
// Does nothing when what it is made from has not changed. `--force` builds anyway.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashInputs } from './build-chain/inputs.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'contracts/out')
const CHAIN_ID = 31337
const GENESIS_TIME = 1_735_689_600 // 2025-01-01T00:00:00Z: in the past of every clock the sandbox may run at
const DEPLOYMENT_TIME = GENESIS_TIME + 1
const LAST_BLOCK_TIME = GENESIS_TIME + 2

// No fees, one block for everything, nothing spilled to disk.
const ANVIL_FLAGS =
  `--chain-id ${CHAIN_ID} --timestamp ${GENESIS_TIME} --no-mining --order fifo --base-fee 0 --gas-price 0
  --disable-min-priority-fee --gas-limit 10000000000 --max-persisted-states 0`.split(/\s+/)

/** Builds and writes everything; the hash of the inputs last, so that a build cut short is repeated. */
async function build(hash) {
  // Loaded only now: compiler and viem take longer to load than the check of the inputs may take.
  const { startAnvil } = await import('./build-chain/anvil.mjs')
  const { compileContracts } = await import('./build-chain/compile.mjs')
  const { MULTICALL3, place } = await import('./build-chain/placed.mjs')
  const { MARKET_OWNER, planMarket } = await import('./build-chain/market.mjs')
  const { execute } = await import('./build-chain/plan.mjs')
  const { dumpState, gzipReproducibly } = await import('./build-chain/state.mjs')

  const contracts = compileContracts(root)
  const { plan, addresses } = planMarket(contracts)
  const anvil = await startAnvil(ANVIL_FLAGS)
  let dump
  try {
    await execute(plan, anvil, { chainId: CHAIN_ID, timestamp: DEPLOYMENT_TIME })
    await place(anvil, MULTICALL3, contracts.Multicall3)
    await place(anvil, MARKET_OWNER, contracts.MarketOwner)
    dump = await dumpState(anvil, LAST_BLOCK_TIME)
  } finally {
    await anvil.stop()
  }

  const packed = gzipReproducibly(dump.state)
  const market = { chain_id: String(CHAIN_ID), timestamp: LAST_BLOCK_TIME, ...addresses, block: dump.block }
  mkdirSync(out, { recursive: true })
  write('market-state.json.gz', packed)
  write('market.json', `${JSON.stringify(market, null, 2)}\n`)
  for (const [name, contract] of Object.entries(contracts)) write(`${name}.json`, `${JSON.stringify(contract)}\n`)
  write('inputs.sha256', `${hash}\n`)
  return { transactions: plan.transactions.length, kilobytes: Math.round(packed.length / 1024) }
}

/** Replaces the file in one step: whoever reads it meanwhile gets the old or the new one, whole. */
function write(name, content) {
  const file = join(out, name)
  writeFileSync(`${file}.part`, content)
  renameSync(`${file}.part`, file)
}

/** The hash of the inputs that the present output was built from. */
function builtFrom() {
  try {
    return readFileSync(join(out, 'inputs.sha256'), 'utf8').trim()
  } catch {
    return undefined
  }
}

const started = performance.now()
const hash = hashInputs(root)
if (builtFrom() === hash && !process.argv.includes('--force')) {
  console.log('embedded chain: up to date')
} else {
  const { transactions, kilobytes } = await build(hash)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`embedded chain: ${transactions} transactions, ${kilobytes} KB of state, built in ${seconds} s`)
}
