import { asDescribed } from './as-described.ts'

// The other profile, and all that is refused in a namespace as well: as-described.long.test.ts.
asDescribed('specification', { bothPlaces: false })
