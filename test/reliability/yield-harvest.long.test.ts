import { fixturesFolder, randomSeries } from './yield-series.ts'

fixturesFolder()

randomSeries(20)
