import { judgesAnyTraffic } from './any-traffic.ts'

judgesAnyTraffic(1_000)
