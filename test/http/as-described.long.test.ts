import { asDescribed } from './as-described.ts'

asDescribed('specification', { bothPlaces: true })
asDescribed('live-like', { bothPlaces: true })
