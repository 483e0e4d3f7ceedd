import type { ComponentChildren } from 'preact'

/** What a chapter has. */
export interface ChapterProps {
  title: string
  /** Stands beside the title. */
  note?: ComponentChildren
  /** False if there is nothing in it: then it is not shown. Default: false for a note of 0. */
  shown?: boolean
  children: ComponentChildren
}

/** A part of a page under a heading. */
export function Chapter({ title, note, shown = note !== 0, children }: ChapterProps) {
  if (!shown) return null
  return (
    <section class="stack">
      <h2>
        {title} <small class="mute">{note}</small>
      </h2>
      {children}
    </section>
  )
}
