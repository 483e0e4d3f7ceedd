/** Forms the specification gives to strings. */
export const ADDRESS = /^0x[0-9a-fA-F]{40}$/
export const NUMERIC = /^[0-9]+$/
export const DECIMAL = /^[0-9]+(\.[0-9]+)?$/
/** ISO 8601 UTC with milliseconds. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const TX_HASH = /^0x[0-9a-f]{64}$/
export const BASE64URL = /^[A-Za-z0-9_-]+$/
/** 26 characters of Crockford's base 32. */
export const ULID = '[0-9A-HJKMNP-TV-Z]{26}'
