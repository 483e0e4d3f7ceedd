/** The first line of a small client that a test writes into another folder. */
export const LIGHT_FETCH = `import { fetch } from '${new URL('light-fetch.mjs', import.meta.url)}'`
