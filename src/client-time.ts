// Time for `yield-sandbox/client`, which may run where Node's modules are not (src/real-time.ts): the globals as they are when it is
// loaded. A test that fakes them later does not stop it (scripts/bundle.mjs, `inject`).

// biome-ignore lint/suspicious/noShadowRestrictedNames: it stands in for the global
export const { clearTimeout, Date, setTimeout } = globalThis
