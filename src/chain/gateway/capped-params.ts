import { numberToHex } from 'viem/utils'
import { CALL_GAS, FEE_BLOCKS, invalidParams, overBudget, TRACE_GAS, TRANSACTION_GAS } from '../json-rpc/rpc-budget.ts'
import type { RpcError } from '../json-rpc/rpc-client.ts'

/** A method's parameters. */
export type Params = readonly unknown[]
type Fields = Readonly<Record<string, unknown>>
type Cap = (method: string, params: Params) => Params

/** Limit on the percentiles of a fee history, as in geth. */
const MOST_PERCENTILES = 100
/** Limit on the blocks of a simulation, as in geth. */
const MOST_SIMULATED = 256
/** Limit on the calls of a simulation, which share the gas: each must have enough to begin. */
const MOST_CALLS = 1_000
/** Limit on the storage slots of one call, as in geth. */
const MOST_SLOTS = 1_024

const CAPS: ReadonlyMap<string, Cap> = new Map<string, Cap>([
  ['eth_call', (method, params) => withGas(method, params, CALL_GAS)],
  ['eth_createAccessList', (method, params) => withGas(method, params, CALL_GAS)],
  // The node executes it with one amount of gas after another, two dozen times.
  ['eth_estimateGas', (method, params) => withGas(method, params, TRANSACTION_GAS)],
  ['eth_simulateV1', simulation],
  ['eth_feeHistory', feeHistory],
  ['eth_getStorageValues', storageValues],
  ['eth_getProof', proof],
  ['eth_signTypedData_v4', typedData],
  ['debug_traceCall', tracedCall],
  // A dump with the states of all blocks would take seconds, and cannot be loaded into this chain.
  ['anvil_dumpState', () => []],
  ['hardhat_dumpState', () => []],
])

/**
 * Fits parameters into the budget: a call without gas, or with too much, gets the most that it may have, as in geth (RPCGasCap).
 * Throws RpcError for parameters that cannot be cut down.
 */
export function cappedParams(method: string, params: Params): Params {
  if (/^debug_trace/.test(method)) refuseScripts(method, params)
  if (/^trace_/.test(method) && params.flat(3).includes('vmTrace')) throw singleSteps(method, '"trace" or "stateDiff"')
  return CAPS.get(method)?.(method, params) ?? params
}

/** @returns true if a method's parameters may have to be changed to fit into the budget */
export function isCapped(method: string): boolean {
  return CAPS.has(method)
}

/** Limits a quantity to `most`, which is also the default. Throws RpcError if the value is not a quantity. */
function atMost(method: string, name: string, quantity: unknown, most: number): string {
  if (quantity === undefined || quantity === null) return numberToHex(most)
  const given = readQuantity(method, name, quantity)
  return numberToHex(given < BigInt(most) ? given : BigInt(most))
}

/** Reads a number as nodes do: from hexadecimal, decimal digits or a JSON number. Throws RpcError for any other value. */
export function readQuantity(method: string, name: string, quantity: unknown): bigint {
  const sound = typeof quantity === 'number' ? Number.isSafeInteger(quantity) && quantity >= 0 : isQuantity(quantity)
  if (!sound) throw invalidParams(method, `${name} is no quantity`)
  return BigInt(quantity as string | number)
}

/** @returns true for digits of at most 256 bits: reading millions of decimal digits would take seconds */
function isQuantity(value: unknown): value is string {
  return typeof value === 'string' && /^(0x[0-9a-f]{1,64}|\d{1,78})$/i.test(value)
}

/** @returns true if a value is an object with named fields, not a list. Anvil accepts some objects as lists of their fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Adds the missing fees to a transaction: zero, like the base fee. */
export function withFees(transaction: Fields): Fields {
  const { type, gasPrice, accessList, maxFeePerGas } = transaction
  const priced = (gasPrice ?? undefined) !== undefined
  if (priced) return transaction
  if (type === '0x0' || (type === '0x1' && accessList)) return { ...transaction, gasPrice: '0x0' }
  const tip = transaction.maxPriorityFeePerGas ?? '0x0'
  return { ...transaction, maxFeePerGas: maxFeePerGas ?? tip, maxPriorityFeePerGas: tip }
}

function withGas(method: string, params: Params, most: number): Params {
  const [call, ...rest] = params
  return isFields(call) ? [{ ...call, gas: atMost(method, 'gas', call.gas, most) }, ...rest] : params
}

function simulation(method: string, [payload, ...rest]: Params): Params {
  const blocks = listIn(method, payload, 'blockStateCalls')
  const calls = blocks.map((block) => listIn(method, block, 'calls'))
  const count = calls.flat().length
  if (blocks.length > MOST_SIMULATED || count > MOST_CALLS) {
    throw overBudget(method, `at most ${MOST_CALLS} calls in ${MOST_SIMULATED} blocks can be simulated at once`)
  }
  const most = Math.floor(CALL_GAS / Math.max(count, 1))
  const capped = blocks.map((block, index) => ({
    ...(block as Fields),
    calls: calls[index]?.map((call) => {
      if (!isFields(call)) throw invalidParams(method, 'a call is an object')
      return { ...call, gas: atMost(method, 'gas', call.gas, most) }
    }),
  }))
  return [{ ...(payload as Fields), blockStateCalls: capped }, ...rest]
}

function listIn(method: string, holder: unknown, name: string): Params {
  const list = isFields(holder) ? (holder[name] ?? []) : undefined
  if (!Array.isArray(list)) throw invalidParams(method, `an object with a list of ${name} is expected`)
  return list
}

function feeHistory(method: string, params: Params): Params {
  const [count, block, percentiles] = params
  if (Array.isArray(percentiles) && percentiles.length > MOST_PERCENTILES) {
    throw overBudget(method, `at most ${MOST_PERCENTILES} percentiles can be asked for`)
  }
  return [atMost(method, 'the number of blocks', count, FEE_BLOCKS), block, percentiles].slice(0, params.length)
}

function storageValues(method: string, params: Params): Params {
  refuseSlots(method, Object.values(Object(params[0]) as object).flat())
  return params
}

function proof(method: string, params: Params): Params {
  const [, slots] = params
  if (Array.isArray(slots)) refuseSlots(method, slots)
  return params
}

function refuseSlots(method: string, slots: Params): void {
  if (slots.length > MOST_SLOTS) throw overBudget(method, `at most ${MOST_SLOTS} slots can be asked for`)
}

function typedData(method: string, params: Params): Params {
  checkTypedData(method, params[1])
  return params
}

/** Makes the error for a trace of single steps, which copies the stack at each: gigabytes for a few thousand gas. */
function singleSteps(method: string, instead: string): RpcError {
  return overBudget(method, `single steps are not shown: give ${instead}`)
}

function tracedCall(method: string, params: Params): Params {
  const options = params[2]
  if (!isFields(options) || typeof options.tracer !== 'string') {
    throw singleSteps(method, '{"tracer": "callTracer"} or "prestateTracer"')
  }
  return withGas(method, params, TRACE_GAS)
}

/** Throws RpcError for a tracer in JavaScript: no limit can be set to a foreign program inside the node. */
function refuseScripts(method: string, params: Params): void {
  for (const param of params) {
    const tracer = isFields(param) ? (param.tracer ?? undefined) : undefined
    if (tracer === undefined || (typeof tracer === 'string' && /^\w+Tracer$/.test(tracer))) continue
    throw overBudget(method, 'tracers in JavaScript are not offered: give callTracer or prestateTracer')
  }
}

/** Limit on the members of a type. Members of its structs, and nested arrays, count as often as they occur in it. */
const MOST_MEMBERS = 1_000

/**
 * Throws RpcError for typed data (EIP-712), or JSON of it, with a type over the limit: the node expands each struct wherever it
 * is named. Forty structs that each hold the next one twice fill any memory; arrays nested 100,000 deep overflow its stack.
 */
function checkTypedData(method: string, given: unknown): void {
  const types = typesIn(given)
  const sizes = new Map<string, number>()
  for (const name of Object.keys(types)) {
    if (sizeOf(name, { types, sizes, depth: 0 }) <= MOST_MEMBERS) continue
    throw overBudget(method, `a type has more than ${MOST_MEMBERS} members, those of its structs and arrays included`)
  }
}

function typesIn(given: unknown): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = typeof given === 'string' ? JSON.parse(given) : given
    return Object((Object(data) as { types?: unknown }).types)
  } catch {
    return {} // not JSON: the node refuses it
  }
}

interface Measuring {
  types: Readonly<Record<string, unknown>>
  /** Sizes of the structs measured so far. A struct that is being measured has 0, which ends cycles; the node refuses them. */
  sizes: Map<string, number>
  depth: number
}

/** Counts the members of a struct; returns some count over the limit when there are too many. */
function sizeOf(name: string, { types, sizes, depth }: Measuring): number {
  const known = sizes.get(name)
  if (known !== undefined) return known
  if (depth > MOST_MEMBERS) return depth
  sizes.set(name, 0)
  const members = types[name]
  let size = 1
  for (const member of Array.isArray(members) ? members : []) {
    const { type } = Object(member) as { type?: unknown }
    if (typeof type !== 'string') continue
    const [base = '', ...around] = type.split(/[[(]/)
    size += 1 + around.length
    if (Object.hasOwn(types, base.trim())) size += sizeOf(base.trim(), { types, sizes, depth: depth + 1 })
    if (size > MOST_MEMBERS) break
  }
  sizes.set(name, size)
  return size
}
