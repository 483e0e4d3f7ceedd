// The mistakes: each makes a wrong client of the reference client in ../clients/typescript by a change in its source.
//
// `id`: the wrong client's. `finding`: the one that must fail, and it alone. `what`: the mistake in one sentence.
// `exercise`: under what it shows: `scenario` (a shipped one, or a file in this folder), `faults`, `confirmationDelay` of the sandbox,
// `attempts` (DEMO_ATTEMPTS) where fewer make it faster. `edits`: `find` occurs exactly once in `file`.
import { CURSORS } from './mistakes/cursors.mjs'
import { FORMS } from './mistakes/forms.mjs'
import { KEYS } from './mistakes/keys.mjs'
import { OUTCOMES } from './mistakes/outcomes.mjs'
import { TOKENS } from './mistakes/tokens.mjs'

/** Every wrong client. */
export const MISTAKES = [...KEYS, ...OUTCOMES, ...FORMS, ...CURSORS, ...TOKENS]
