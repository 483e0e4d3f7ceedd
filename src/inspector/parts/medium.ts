import { createContext } from 'preact'

/** True on paper: a page from a file, without script. Nothing there can be clicked but folds and links within it. */
export const OnPaper = createContext(false)
