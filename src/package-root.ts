/** The package's folder: one level up, from the sources as from the bundle in dist/. Whatever ships as a file is found from here. */
export const PACKAGE_ROOT = new URL('..', import.meta.url)
