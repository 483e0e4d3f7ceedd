/** True in the script that makes pages for files, false in that of the live page: put here by the build. */
declare const ON_PAPER: boolean

/** True on paper: a page from a file, without script. Nothing there can be clicked but folds and links within it. */
export const onPaper = ON_PAPER
