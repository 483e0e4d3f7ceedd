import type { ComponentChildren } from 'preact'

/** A table that may be wider than the page, and scrolls by itself, by keyboard as well. */
export function Sideways({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must have the focus for arrow keys to reach it
    <section class="wide" tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
