// The part of the page that shows reports, explorations and certificates, live or from files: a script of its own, loaded when it is
// needed, so that the first row of the page does not wait for it.
export { readFile } from './model/read-file.ts'
export { ExploreView } from './views/explore-view.tsx'
export { VerdictView } from './views/verdict-view.tsx'
