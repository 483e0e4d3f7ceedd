/** Name of the namespace that every sandbox has. */
export const DEFAULT_NAMESPACE = 'default'

/** Pattern of a namespace's name: a DNS label, so that it fits into a path, a host name and a folder. */
export const NAMESPACE_NAME = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'
