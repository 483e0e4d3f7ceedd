import { type Chain, ChainUnavailableError } from '../domain/ports/chain.ts'

/** A JSON-RPC call: method and parameters. */
export type ChainCall = readonly [method: string, ...params: unknown[]]

/** Default number of calls that share a budget: those with short answers. */
const TOGETHER = 50

/**
 * Makes reading calls as a client of the chain's RPC does, within its budget: blocks that the node has forgotten are answered from the
 * archive. Names no block by a tag, or a block would be mined first. A call that is refused has no answer (undefined).
 * @param together number of calls that share a budget
 */
export async function chainAnswers<Answer>(
  chain: Chain,
  calls: readonly ChainCall[],
  together = TOGETHER,
): Promise<(Answer | undefined)[]> {
  const answers: (Answer | undefined)[] = []
  for (let at = 0; at < calls.length; at += together) {
    answers.push(...(await answersTo<Answer>(chain, calls.slice(at, at + together))))
  }
  return answers
}

interface RpcAnswer<Answer> {
  id: number
  result?: Answer | null
}

async function answersTo<Answer>(chain: Chain, calls: readonly ChainCall[]): Promise<(Answer | undefined)[]> {
  const batch = calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))
  const text = await chain.relay(batch)
  const list = JSON.parse(text ?? '[]') as RpcAnswer<Answer>[] | object
  if (!Array.isArray(list)) throw new ChainUnavailableError(chain.chain_id, 'it refuses to be read')
  const byId = new Map((list as RpcAnswer<Answer>[]).map(({ id, result }) => [id, result ?? undefined]))
  return calls.map((_, id) => byId.get(id))
}
