import { asDescribed } from './as-described.ts'

asDescribed('live-like')
