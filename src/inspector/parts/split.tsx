import type { ComponentChildren } from 'preact'
import { go, place } from '../model/address.ts'

/** A list and what is chosen in it. */
export interface SplitProps {
  /** Names of the two halves for screen readers. */
  names: readonly [list: string, chosen: string]
  list: ComponentChildren
  /** Stands where nothing is chosen. */
  hint?: string
  class?: string
  children: ComponentChildren
}

/** A list, and beside it what is chosen; on a narrow page one of the two. */
export function Split({ names, list, hint, class: name = '', children }: SplitProps) {
  const isChosen = place.value.selected !== ''
  return (
    <div class={`split ${name}${isChosen ? ' chosen' : ''}`}>
      <section class="left" aria-label={names[0]}>
        {list}
      </section>
      <section class="detail" aria-label={names[1]} id="detail" tabIndex={-1}>
        {hint && !isChosen ? (
          <p class="pad mute">{hint}</p>
        ) : (
          <article class="stack pad">
            <button type="button" class="back button small" onClick={() => go({ selected: '' })}>
              ← All
            </button>
            {children}
          </article>
        )}
      </section>
    </div>
  )
}
