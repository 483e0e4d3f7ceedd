import { InvalidArgumentError } from 'commander'
import { type FindingId, isFindingId, objectionTo } from '../verdict/finding-ids.ts'

/** Reads the id of one more finding, for an option that may be repeated. Throws InvalidArgumentError. */
export function findingIds(word: string, earlier: FindingId[] = []): FindingId[] {
  if (isFindingId(word)) return [...earlier, word]
  const { message, fix } = objectionTo(word) ?? { message: '', fix: '' }
  throw new InvalidArgumentError(`${message.charAt(0).toUpperCase()}${message.slice(1)}: ${fix}`)
}
