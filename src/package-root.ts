/** The package's folder: one level up from the sources and from the bundle in dist/. All files that ship are found from here. */
export const PACKAGE_ROOT = new URL('..', import.meta.url)
