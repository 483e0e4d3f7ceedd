import type { ComponentChildren } from 'preact'

/** Name and text of a fact; a fact without a text is not shown. `half`: it stands beside the next one. */
export type Fact = readonly [name: string, text: ComponentChildren, tone?: 'ok' | 'bad']

/** Facts, a line each; those with a tone share one. */
export function Facts({ facts, class: kind = 'said' }: { facts: readonly Fact[]; class?: string }) {
  return (
    <dl class={kind}>
      {facts.map(
        ([name, text, tone]) =>
          text !== undefined &&
          text !== null && (
            <div key={name} class={tone && `half ${tone}`}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
