import type { Dice } from './dice.ts'
import { hostileValue, RawJson, STRINGS } from './hostile-values.ts'
import type { ParameterKind } from './rpc-methods.ts'
import type { World } from './world.ts'

/** Numbers in hexadecimal that somebody forgot to bound, and some that nobody writes. */
const QUANTITIES: readonly unknown[] = [
  '0x0',
  '0x1',
  '0x2',
  '0x10',
  '0x100',
  '0x3e8',
  '0x5208',
  '0xf4240',
  '0x1c9c380',
  '0xffffffff',
  '0x7fffffffffffffff',
  '0xffffffffffffffff',
  `0x${'f'.repeat(32)}`,
  `0x${'f'.repeat(64)}`,
  `0x${'f'.repeat(65)}`,
  '0x',
  '0x00',
  '0X1',
  '-0x1',
  '0x1.8',
  '1',
  1,
  0,
  -1,
  1.5,
  1_000_000,
  2 ** 53,
  new RawJson('18446744073709551616'),
  new RawJson('1e400'),
]

const BLOCKS: readonly unknown[] = [
  'latest',
  'earliest',
  'pending',
  'safe',
  'finalized',
  'newest',
  '',
  null,
  { blockNumber: '0x1' },
  { blockHash: `0x${'0'.repeat(64)}`, requireCanonical: true },
  { blockNumber: '0x1', blockHash: `0x${'0'.repeat(64)}` },
  {},
]

/** An endless loop, a memory hog, a revert with 64 KiB, self-destruction, an invalid instruction, a call of itself. */
const CODE = [
  '0x5b600056',
  '0x62ffffff6000f3',
  '0x620100006000fd',
  '0x33ff',
  '0xfe',
  '0x5b5f5f5f5f5f305af1600056',
  '0x60006000f3',
]

const TRACERS: readonly unknown[] = [
  {},
  { tracer: 'callTracer' },
  { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
  { tracer: '4byteTracer', timeout: '1h' },
  { tracer: '{result: function() { while (true) {} }, fault: function() {}}' },
  { tracer: '{result: function() { return 1 }, fault: function() {}}' },
  { enableMemory: true, disableStack: false },
  [],
  [25, 50, 75],
  [1e9, -1, 'x'],
]

/** The first of Anvil's own accounts, which it signs for. */
const ACCOUNT = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** Structs that hold others: twice each, in a row, in a circle; and arrays in arrays. */
const TYPED_DATA: readonly unknown[] = [
  typedData(Array.from({ length: 40 }, (_, index) => [`S${index + 1}`, `S${index + 1}`])),
  JSON.stringify(typedData(Array.from({ length: 40 }, (_, index) => [`S${index + 1}`, `S${index + 1}`]))),
  typedData(Array.from({ length: 500 }, (_, index) => [`S${index + 1}`])),
  typedData([['S0']]),
  typedData([['S1[]'], ['S0[2]']]),
  typedData([[`uint256${'[]'.repeat(40_000)}`]]),
  typedData([['uint256[18446744073709551615]', 'bytes33', '(uint8,uint8)', '__proto__']]),
]

function typedData(structs: readonly (readonly string[])[]): unknown {
  const membersOf = (types: readonly string[]) => types.map((type, index) => ({ name: `m${index}`, type }))
  const types = Object.fromEntries(structs.map((members, index) => [`S${index}`, membersOf(members)]))
  return { domain: {}, primaryType: 'S0', message: { m0: {} }, types: { EIP712Domain: [], ...types } }
}

/** A value of a kind, often one that fits. */
export function parameterOf(kind: ParameterKind, dice: Dice, world: World): unknown {
  if (dice.chance(0.15)) return hostileValue(dice)
  const address = () => (dice.chance(0.6) ? dice.pick(world.addresses) : dice.hex(20))
  const quantity = () => dice.pick(QUANTITIES)
  switch (kind) {
    case 'account':
      return dice.chance(0.5) ? ACCOUNT : address()
    case 'address':
      return dice.chance(0.1) ? dice.pick(STRINGS) : address()
    case 'block':
      return dice.chance(0.6) ? dice.pick(BLOCKS) : quantity()
    case 'bool':
      return dice.chance(0.5)
    case 'bytes':
      return dice.chance(0.3) ? dice.pick(CODE) : dice.hex(dice.below(dice.chance(0.1) ? 3_000 : 60))
    case 'call':
      return callOf(dice, address, quantity)
    case 'filter':
      return filterOf(dice, world, address, quantity)
    case 'hash':
      return dice.chance(0.5) ? dice.pick(world.hashes) : dice.hex(32)
    case 'overrides':
      return { [address()]: { balance: quantity(), code: dice.pick(CODE), nonce: quantity() } }
    case 'rawTransaction':
      return rawTransactionOf(dice)
    case 'simulation':
      return {
        blockStateCalls: Array.from({ length: dice.below(4) }, () => ({ calls: [callOf(dice, address, quantity)] })),
      }
    case 'slot':
      return dice.chance(0.5) ? quantity() : dice.hex(32)
    case 'tracer':
      return dice.pick(TRACERS)
    case 'typedData':
      return dice.chance(0.1) ? dice.pick(STRINGS) : dice.pick(TYPED_DATA)
    case 'url':
      return dice.pick(['http://127.0.0.1:1', 'file:///etc/passwd', 'ws://127.0.0.1:1', '', 'http://'])
    case 'text':
      return dice.pick(STRINGS)
    default:
      return quantity()
  }
}

function callOf(dice: Dice, address: () => string, quantity: () => unknown): unknown {
  return {
    ...(dice.chance(0.5) && { from: address() }),
    ...(dice.chance(0.6) && { to: address() }),
    ...(dice.chance(0.5) && { data: dice.chance(0.3) ? dice.pick(CODE) : dice.hex(dice.below(70)) }),
    ...(dice.chance(0.2) && { value: quantity() }),
    ...(dice.chance(0.2) && { gas: quantity() }),
    ...(dice.chance(0.1) && { gasPrice: quantity(), maxFeePerGas: quantity() }),
    ...(dice.chance(0.1) && { accessList: hostileValue(dice), nonce: quantity() }),
  }
}

function filterOf(dice: Dice, world: World, address: () => string, quantity: () => unknown): unknown {
  return {
    ...(dice.chance(0.6) && { fromBlock: dice.chance(0.5) ? dice.pick(BLOCKS) : quantity() }),
    ...(dice.chance(0.6) && { toBlock: dice.chance(0.5) ? dice.pick(BLOCKS) : quantity() }),
    ...(dice.chance(0.2) && { blockHash: dice.pick(world.hashes) }),
    ...(dice.chance(0.4) && { address: dice.chance(0.5) ? address() : [address(), address()] }),
    ...(dice.chance(0.3) && { topics: dice.chance(0.7) ? [null, [dice.hex(32)]] : hostileValue(dice) }),
  }
}

/** What begins as transactions of each type do, and goes on as nothing does. */
function rawTransactionOf(dice: Dice): string {
  const type = dice.pick(['02', '01', '03', '04', '7e', 'f8', 'c0', '', '02f8', '02c0', 'f86b'])
  return `0x${type}${dice.hex(dice.below(150)).slice(2)}`
}
