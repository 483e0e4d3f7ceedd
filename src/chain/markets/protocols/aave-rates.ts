import { RAY } from './ray-math.ts'

const SECONDS_PER_YEAR = 365 * 24 * 60 * 60
/** Decimals in which a number still counts whole yearly rates of up to 900 %: what compounds to 10,000 % is 462 %. */
const EXACT = 10n ** 15n

/** What a yearly rate in rays comes to in a year, compounded every second as Aave's own front end shows it: 0.04 is 4 %. */
export function compounded(rate: bigint): number {
  return Math.expm1(SECONDS_PER_YEAR * Math.log1p(Number(rate) / Number(RAY) / SECONDS_PER_YEAR))
}

/** The yearly rate in rays that comes to so much in a year: the inverse of {@link compounded}, for up to 10,000 %. */
export function rateFor(apy: number): bigint {
  const rate = SECONDS_PER_YEAR * Math.expm1(Math.log1p(apy) / SECONDS_PER_YEAR)
  return BigInt(Math.round(rate * Number(EXACT))) * (RAY / EXACT)
}
