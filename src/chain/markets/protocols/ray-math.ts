/** Aave's unit of indexes and rates: 27 decimals. */
export const RAY = 10n ** 27n

/** Aave's multiplication of rays: rounds half up. */
export function rayMul(a: bigint, b: bigint): bigint {
  return (a * b + RAY / 2n) / RAY
}

/** Aave's division of rays: rounds half up. */
export function rayDiv(a: bigint, b: bigint): bigint {
  return (a * RAY + b / 2n) / b
}

/** Rounds down. */
export function rayMulFloor(a: bigint, b: bigint): bigint {
  return (a * b) / RAY
}

/** Rounds down. */
export function rayDivFloor(a: bigint, b: bigint): bigint {
  return (a * RAY) / b
}

/** Rounds up. */
export function rayDivCeil(a: bigint, b: bigint): bigint {
  return (a * RAY + b - 1n) / b
}
