import { computed, signal } from '@preact/signals-core'

/** The views, in the order of their keys `1` to `6`. */
export const VIEWS = ['operations', 'money', 'chain', 'verdict', 'explore', 'control'] as const

/** Name of a view. */
export type ViewName = (typeof VIEWS)[number]

/** The place that an address names: `#operations/41?namespace=pull-request-7&user=alice`. */
export interface PagePlace {
  view: ViewName
  /** What is selected in the view: an operation's number, an end user, a transaction's hash; empty for nothing. */
  selected: string
  /** Filters and other settings, without those that are empty. */
  settings: Readonly<Record<string, string>>
}

/** Parses the part of an address after `#`. Unknown views lead to the operations. */
export function placeOf(hash: string): PagePlace {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [name = '', ...rest] = path.replace(/^requests/, 'operations').split('/')
  const settings = Object.fromEntries([...new URLSearchParams(query)].filter(([, value]) => value !== ''))
  const view = VIEWS.find((one) => one === name)
  return { view: view ?? 'operations', selected: view ? decoded(rest.join('/')) : '', settings }
}

/** The address of a place, from `#` on. */
export function hashOf({ view, selected, settings }: PagePlace): string {
  const set = Object.entries(settings).filter(([, value]) => value !== '')
  const query = new URLSearchParams(set).toString()
  const path = selected === '' ? view : `${view}/${encodeURIComponent(selected)}`
  return `#${path}${query === '' ? '' : `?${query}`}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The place that is shown. */
export const place = signal<PagePlace>(placeOf(''))

/** Name of the namespace that is shown. */
export const namespace = computed(() => place.value.settings.namespace ?? 'default')

/** Address of another place in the same namespace; filters are kept within a view only. */
export function hrefOf(view: ViewName, selected = '', settings: Record<string, string> = {}): string {
  const kept = view === place.value.view ? place.value.settings : settingsOf(namespace.value)
  return hashOf({ view, selected, settings: { ...kept, ...settings } })
}

/** Settings that name a namespace, and nothing else. */
function settingsOf(name: string): Record<string, string> {
  return name === 'default' ? {} : { namespace: name }
}

/** Address of a view in another namespace. */
export function hrefIn(name: string, view: ViewName): string {
  return hashOf({ view, selected: '', settings: settingsOf(name) })
}

/** Goes to a view without selection and filters, in another namespace if one is named. */
export function goTo(view = place.value.view, name = namespace.value): void {
  go({ view, selected: '', settings: settingsOf(name) })
}

/** Goes to a place. `replace`: the one before is not kept for the browser's Back. */
export function go(next: Partial<PagePlace>, replace = false): void {
  const hash = hashOf({ ...place.value, ...next })
  if (hash === location.hash) return
  if (replace) history.replaceState(null, '', hash)
  else history.pushState(null, '', hash)
  place.value = placeOf(hash)
}

/** Follows the browser's address from now on. */
export function followAddress(): void {
  const read = () => {
    place.value = placeOf(location.hash)
  }
  addEventListener('hashchange', read)
  addEventListener('popstate', read)
  read()
}
