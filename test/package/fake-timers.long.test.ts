import { FORMS, holdWith } from './fake-timer-forms.ts'

// The first form: fake-timers.test.ts.
holdWith(FORMS.slice(1))
