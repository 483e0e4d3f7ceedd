import type { Dice } from './dice.ts'
import { breaksOut, type FuzzRequest, type HttpDeps, type Shooter, written } from './fuzz-request.ts'
import { hostileBody, hostileValue, jsonText, RawJson } from './hostile-values.ts'
import { mutate } from './mutate.ts'
import { CHEATS, READS, SENDS } from './rpc-methods.ts'
import { parameterOf } from './rpc-parameters.ts'
import type { Weather } from './weather.ts'
import type { World } from './world.ts'

const NORTH = '31337'
const SOUTH = '31338'
const METHODS = { reads: Object.entries(READS), sends: Object.entries(SENDS), cheats: Object.entries(CHEATS) }

/** Ids that an answer has to repeat, and some no answer can. */
const IDS: readonly unknown[] = [1, 0, 'a', '', null, 2 ** 53, -1]
const WRONG_IDS: readonly unknown[] = [1.5, true, {}, [], new RawJson('1e400'), new RawJson('9'.repeat(30))]

/** A call to a chain's RPC, or a batch. The weather says which chains may be meddled with. */
export const shootRpc: Shooter = (dice, world, weather) => {
  const chain = dice.chance(0.5) ? NORTH : SOUTH
  const path = `/rpc/${dice.chance(0.97) ? chain : dice.pick(['0', '', '31339', '__proto__', '%00', 'x'.repeat(2_000)])}`
  const deps: HttpDeps = { method: 'POST', path, headers: [['content-type', 'application/json']] }
  const { what, body, ids } = bodyOf(dice, world, { chain, weather })
  deps.body = body
  const changed = dice.chance(0.05)
  if (changed) mutate(deps, dice)
  const request: FuzzRequest = {
    what,
    bytes: written(deps),
    method: deps.method,
    path: deps.path,
    alone: breaksOut(deps),
    chain,
  }
  return ids && !changed ? { ...request, rpcIds: ids } : request
}

interface RpcBody {
  what: string
  body: string | Buffer
  /** In JSON; undefined when a part of the body is no request. */
  ids?: string[]
}

function bodyOf(dice: Dice, world: World, where: { chain: string; weather: Weather }): RpcBody {
  const kind = dice.weighted({ single: 80, batch: 15, huge: 1, garbage: 6 })
  if (kind === 'garbage') return { what: 'garbage', body: hostileBody(dice) }
  if (kind === 'single') {
    const { method, call, id } = callOf(dice, world, where)
    return { what: method, body: jsonText(call), ...(id !== undefined && { ids: [id] }) }
  }
  const length = kind === 'huge' ? 900 + dice.below(300) : 1 + dice.below(20)
  const calls: { call: unknown }[] = Array.from({ length }, () =>
    kind === 'huge' ? { call: { jsonrpc: '2.0', id: 1, method: 'eth_chainId' } } : callOf(dice, world, where),
  )
  if (dice.chance(0.1)) calls.splice(dice.below(calls.length), 0, { call: hostileValue(dice) })
  return { what: `${kind} batch`, body: jsonText(calls.map(({ call }) => call)) }
}

interface MadeCall {
  method?: string
  call: unknown
  /** In JSON, when the call is sound enough to be answered with it. */
  id?: string
}

function callOf(dice: Dice, world: World, { chain, weather }: { chain: string; weather: Weather }) {
  const meddled = weather === 'stormy' || (weather === 'calm' && chain === SOUTH)
  const kind = meddled ? dice.weighted({ reads: 60, sends: 5, cheats: 35 }) : dice.weighted({ reads: 93, sends: 7 })
  const [method, kinds] = dice.pick(METHODS[kind as keyof typeof METHODS])
  const given = kinds.map((parameter) => parameterOf(parameter, dice, world))
  const params = dice.chance(0.9) ? given.slice(0, dice.chance(0.2) ? dice.below(4) : 4) : hostileValue(dice)
  const id = dice.chance(0.95) ? dice.pick(IDS) : dice.pick(WRONG_IDS)
  const call: Record<string, unknown> = { jsonrpc: '2.0', id, method, params }
  if (dice.chance(0.03)) delete call[dice.pick(Object.keys(call))]
  else if (dice.chance(0.04)) call[dice.pick(['jsonrpc', 'method', 'x'])] = hostileValue(dice)
  else if (IDS.includes(id) && Array.isArray(params)) return { method, call, id: jsonText(id) } satisfies MadeCall
  return { method, call } satisfies MadeCall
}
