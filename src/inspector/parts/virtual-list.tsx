import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A list of which only what is in sight is in the page. Every item has the same height. */
export interface VirtualListProps<T> {
  items: readonly T[]
  /** Pixels. */
  height: number
  keyOf(item: T): string | number
  render(item: T): ComponentChildren
  /** Index of the item that must be in sight; -1 for none. */
  shown: number
  label: string
  /** Called when the reader arrives at the top, or leaves it. */
  atTop?(isAtTop: boolean): void
}

/** Items beyond the sight that are in the page on each side: enough for a fast wheel. */
const SPARE = 8

export function VirtualList<T>({ items, height, keyOf, render, shown, label, atTop }: VirtualListProps<T>) {
  const box = useRef<HTMLDivElement>(null)
  // Measured, it would have to be laid out before it is drawn: no list is higher than its window.
  const [view, setView] = useState({ top: 0, size: innerHeight })
  const first = useRef<string | number | undefined>(undefined)

  const look = () => {
    const { scrollTop = 0, clientHeight = 0 } = box.current ?? {}
    atTop?.(scrollTop < height)
    setView((old) => {
      const top = Math.floor(scrollTop / height)
      return old.top === top && old.size >= clientHeight ? old : { top, size: Math.max(old.size, clientHeight) }
    })
  }

  useLayoutEffect(() => {
    const observer = new ResizeObserver(look)
    if (box.current) observer.observe(box.current)
    return () => observer.disconnect()
  }, [])

  // New items come in above: what the reader looks at stays where it is, unless that is the top.
  useLayoutEffect(() => {
    const at = items.findIndex((item) => keyOf(item) === first.current)
    if (box.current && at > 0 && box.current.scrollTop >= height) box.current.scrollTop += at * height
    first.current = items[0] && keyOf(items[0])
  }, [items])

  useLayoutEffect(() => {
    const { current } = box
    if (!current || shown < 0) return
    const top = shown * height
    current.scrollTop = Math.min(top, Math.max(current.scrollTop, top + height - current.clientHeight))
  }, [shown])

  const from = Math.max(0, view.top - SPARE)
  const to = view.top + Math.ceil(view.size / height) + SPARE
  return (
    <div class="virtual" ref={box} onScroll={look}>
      <ul aria-label={label} style={{ height: `${items.length * height}px` }}>
        {items.slice(from, to).map((item, i) => (
          <li
            key={keyOf(item)}
            aria-setsize={items.length}
            aria-posinset={from + i + 1}
            style={{ top: `${(from + i) * height}px` }}
          >
            {render(item)}
          </li>
        ))}
      </ul>
    </div>
  )
}
