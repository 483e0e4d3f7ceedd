/** Milliseconds: longer than anything takes on a machine that is busy with other things as well. Only what fails takes it. */
export const PATIENCE = 120_000
