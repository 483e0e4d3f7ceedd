import type { ComponentChildren } from 'preact'

/** Name and text of a fact; a fact without a text is not shown. */
export type Fact = readonly [name: ComponentChildren, text: ComponentChildren, tone?: string | undefined]

/** Facts, a line each. `class` is the look of the list: in that of cards, facts with a tone share a line. */
export function Facts({ facts, class: look = 'said' }: { facts: readonly Fact[]; class?: string }) {
  return (
    <dl class={look}>
      {facts.map(
        ([name, text, tone], i) =>
          (text || text === 0) && (
            <div key={i} class={tone}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
