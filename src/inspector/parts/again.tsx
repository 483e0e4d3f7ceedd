import { Icon } from './icon.tsx'
import { shortKeyOf } from './lane.tsx'

/** How a request follows the one before. */
export interface AgainProps {
  /** Milliseconds of real time; null if it is not known. */
  waited: number | null
  /** True if it has the key of the one before; null where one of the two has none, or where they ask for different things. */
  same: boolean | null
  keys: readonly (string | null | undefined)[]
  words?: string
}

/** How much later a request follows the one before, and under which key. */
export function Again({ waited, same, keys: [before, after], words = 'tried again' }: AgainProps) {
  return (
    <p class={`again ${same === false ? 'bad' : same ? 'ok' : ''}`}>
      <Icon name="retry" />
      <span>
        {waited !== null && `${millisecondsInWords(waited)} later, `}
        {words}
        {same !== null && (
          <>
            {' with '}
            <b>{same ? 'the same key' : 'a new key'}</b>
          </>
        )}
      </span>
      {same !== null && (
        <span>
          <code>{shortKeyOf(before ?? '')}</code> {same ? '=' : '≠'} <code>{shortKeyOf(after ?? '')}</code>
        </span>
      )}
    </p>
  )
}

/** "195 ms", "2.4 s", "3 min" */
export function millisecondsInWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 90_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.round(ms / 60_000)} min`
}
