import { asDescribed } from './as-described.ts'

// The other profile: as-described.long.test.ts.
asDescribed('specification')
