// The compiled contracts that @aave/core-v3 ships, linked with their libraries.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const FOLDERS = {
  'mocks/oracle/CLAggregators': ['MockAggregator'],
  misc: ['AaveOracle', 'AaveProtocolDataProvider'],
  'protocol/configuration': ['PoolAddressesProvider', 'ACLManager'],
  'protocol/libraries/logic': [
    'BorrowLogic',
    'BridgeLogic',
    'ConfiguratorLogic',
    'EModeLogic',
    'FlashLoanLogic',
    'LiquidationLogic',
    'PoolLogic',
    'SupplyLogic',
  ],
  'protocol/pool': ['Pool', 'PoolConfigurator', 'DefaultReserveInterestRateStrategy'],
  'protocol/tokenization': ['AToken', 'StableDebtToken', 'VariableDebtToken'],
}

const packageFolder = dirname(createRequire(import.meta.url).resolve('@aave/core-v3/package.json'))

function readArtifact(name) {
  const folder = Object.keys(FOLDERS).find((key) => FOLDERS[key].includes(name))
  if (!folder) throw new Error(`no folder is known for the Aave contract ${name}`)
  return JSON.parse(
    readFileSync(join(packageFolder, 'artifacts/contracts', folder, `${name}.sol`, `${name}.json`), 'utf8'),
  )
}

/**
 * @param {string} name of an Aave contract
 * @param {Record<string, `0x${string}`>} libraries addresses of the libraries deployed so far
 * @returns {{ abi: any[], bytecode: `0x${string}` }}
 */
export function aaveContract(name, libraries = {}) {
  const { abi, bytecode, linkReferences } = readArtifact(name)
  let code = bytecode
  for (const [library, places] of Object.values(linkReferences).flatMap(Object.entries)) {
    const address = libraries[library]
    if (!address) throw new Error(`${name} needs the library ${library}, which is not deployed yet`)
    for (const { start, length } of places) {
      const at = 2 + start * 2
      code = code.slice(0, at) + address.slice(2).toLowerCase() + code.slice(at + length * 2)
    }
  }
  return { abi, bytecode: code }
}
