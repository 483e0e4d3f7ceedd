import { go, goTo, place, VIEWS } from './address.ts'

/** Work of a key in the view that is shown. */
export type KeyHandlers = Partial<Record<string, () => void>>

let ofView: KeyHandlers = {}

/** Sets what the keys do in the view that is shown; each view that has some calls it when it is drawn. */
export function setKeys(handlers: KeyHandlers): void {
  ofView = handlers
}

/** Keys that choose the next and the previous of these names; `now` is the one that is chosen. */
export function movesIn(names: () => readonly string[], now: string | undefined): KeyHandlers {
  const move = (by: number) => () => {
    const all = names()
    const next = all[Math.min(Math.max(all.indexOf(now ?? '') + by, 0), all.length - 1)]
    if (next !== undefined) go({ selected: next }, true)
  }
  return { j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) }
}

/** Listens to the keyboard; `?` calls for help. A key without work of its own clicks what is marked with it. None works while somebody types, nor with Ctrl, Alt or Meta. */
export function listenToKeys(help: () => void): void {
  addEventListener('keydown', (event) => {
    const { target, key } = event
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return
    const isAt = (selector: string) => target instanceof HTMLElement && target.matches(selector)
    const isTyping = isAt('input:not([type=checkbox]),textarea,select')
    if (key === 'Escape') {
      if (isTyping) (target as HTMLElement).blur()
      return place.value.selected === '' ? goTo() : go({ selected: '' })
    }
    if (isTyping) return
    const view = VIEWS[Number(key) - 1]
    const marked = /^[a-z]$/.test(key) ? document.querySelector<HTMLElement>(`[data-key=${key}]`) : null
    const work = view ? () => goTo(view) : key === '?' ? help : (ofView[key] ?? (marked && (() => marked.click())))
    if (!work || (key === 'Enter' && isAt('a,button,summary'))) return
    event.preventDefault()
    work()
  })
}
